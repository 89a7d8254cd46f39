"""From published figures to a verdict: a data set that ships with statsmodels, split in two."""

import json
import shutil

import numpy as np
import pytest
import statsmodels.api as sm
import yaml

import evosynth
from evosynth.cli import main
from evosynth.risk import spec as risk_spec

NAMES = {"rate_marriage": "RATE", "religious": "FAITH", "children": "KIDS", "educ": "EDUC"}
LEVELS = {"RATE": 5, "FAITH": 4, "KIDS": 6, "EDUC": 6, "AFFAIR": 2}


def halves():
    """Code the survey of extramarital affairs, and split it at random."""
    survey = sm.datasets.fair.load_pandas().data
    coded = survey[list(NAMES)].rename(columns=NAMES)
    for name in coded:
        coded[name] = np.unique(coded[name], return_inverse=True)[1]
    coded["AFFAIR"] = (survey["affairs"] > 0).astype(int)
    inside = np.random.default_rng(1).permutation(len(coded)) < len(coded) // 2
    return coded[inside], coded[~inside]


def published(original):
    """Print tables and a logit of the original: all that the synthesiser is told."""
    outputs = []
    for name in ("RATE", "KIDS", "EDUC"):
        table = original.groupby([name, "AFFAIR"]).size().unstack(fill_value=0)
        counts = {int(k): [int(v) for v in row] for k, row in table.iterrows()}
        outputs.append({"kind": "crosstab", "rows": name, "columns": "AFFAIR", "counts": counts})
    faith = original["FAITH"].value_counts().sort_index()
    counts = {int(k): int(v) for k, v in faith.items()}
    outputs.append({"kind": "frequencies", "of": "FAITH", "counts": counts})
    dummies = {f"FAITH[{k}]": (original["FAITH"] == k).astype(float) for k in (1, 2, 3)}
    design = np.column_stack([np.ones(len(original)), *dummies.values()])
    fit = sm.Logit(original["AFFAIR"].to_numpy(), design).fit(disp=0)
    terms = dict(zip(["Intercept", *dummies], fit.params, strict=True))
    coefficients = {name: f"{value:.4f}" for name, value in terms.items()}
    logit = {"kind": "logit", "formula": "AFFAIR ~ FAITH", "coefficients": coefficients}
    return [*outputs, logit]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("protocol")
    original, holdout = halves()
    original.to_csv(place / "original.csv", index=False)
    holdout.to_csv(place / "holdout.csv", index=False)
    variables = {
        name: {"label": name, "categories": {k: f"{name} {k}" for k in range(n)}}
        for name, n in LEVELS.items()
    }
    spec = {
        "title": "Affairs",
        "records": len(original),
        "variables": variables,
        "outputs": published(original),
        "risk": {"keys": ["RATE", "FAITH", "KIDS", "EDUC"], "targets": ["AFFAIR"], "threshold": 5},
    }
    text = yaml.safe_dump(spec, sort_keys=False)
    (place / "spec.yaml").write_text(text)
    people = ["--original", place / "original.csv", "--holdout", place / "holdout.csv"]
    words = ["run", place / "spec.yaml", "-o", place / "out", *people, "--workers", 1]
    assert main([str(word) for word in words]) == 0, "every published figure is exact"
    return place


def rows(made):
    return json.loads((made / "out" / "risk.json").read_text("utf-8"))


def test_the_verdict_follows_from_people_inside_and_outside(made):
    told = rows(made)
    first, *others = told["people_inside_and_outside"]
    assert first["target"] == "AFFAIR" and len(others) == 4
    apart = first["low"] > 0 or first["high"] < 0
    assert first["distinguishable"] == apart
    start = (
        "is higher than" if apart and first["low"] > 0 else "is lower than" if apart else "cannot"
    )
    assert told["verdict"].startswith(f"The risk for people in the data {start}")


def test_a_copy_of_the_original_is_told_apart_from_data_made_of_figures(made):
    found = evosynth.risk(
        made / "original.csv",
        made / "original.csv",
        holdout=made / "holdout.csv",
        keys=["RATE", "FAITH", "KIDS", "EDUC"],
        target="AFFAIR",
    )
    assert found.verdict.startswith("The risk for people in the data is higher than for people")
    made_of_figures = rows(made)["people_inside_and_outside"]
    for copied, ours in zip(found.protocol.differences, made_of_figures, strict=True):
        assert copied["target"] == ours["target"]
        assert copied["low"] > ours["high"], "far more of people inside than figures tell"


def test_the_run_measures_the_file_that_it_writes(made):
    found = evosynth.risk(
        made / "out" / "data.csv",
        made / "original.csv",
        holdout=made / "holdout.csv",
        keys=["RATE", "FAITH", "KIDS", "EDUC"],
        target="AFFAIR",
        threshold=5,
    )
    assert json.loads(json.dumps(found.summary())) == rows(made)
    raw = {row["comparison"]: row for row in found.protocol.rows if row["target"] == "AFFAIR"}
    assert raw["original -> original"]["raw"] == 100
    assert 0 < raw["original -> synthetic"]["raw"] < 100


def test_the_report_shows_the_risk(made):
    page = (made / "out" / "report.html").read_text("utf-8")
    assert 'id="risk"' in page and "TCAP over disclosive keys, 0 to 100 %" in page
    assert rows(made)["verdict"].split(":")[0] in page
    assert "What the keys disclose" in page


def test_an_original_without_keys_in_the_spec_is_refused(made, tmp_path, capsys):
    spec = yaml.safe_load((made / "spec.yaml").read_text())
    del spec["risk"]
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    words = ["run", tmp_path / "spec.yaml", "-o", tmp_path / "out"]
    words += ["--original", made / "original.csv"]
    assert main([str(word) for word in words]) == 2
    said = capsys.readouterr().err
    assert "--original needs keys and targets; add `risk: {keys: […], targets: […]}`" in said
    assert not (tmp_path / "out").exists()


def test_faults_of_the_risk_section_have_their_line(made, tmp_path, capsys):
    spec = yaml.safe_load((made / "spec.yaml").read_text())
    spec["variables"]["AGE"] = {"integer": [1, 90]}
    spec["risk"] = {"keys": ["RATE", "FAIT", "AGE"], "targets": ["RATE"], "tau": 0.4}
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    assert main(["check", str(tmp_path / "spec.yaml")]) == 2
    assert "risk.tau" in capsys.readouterr().err
    del spec["risk"]["tau"]
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    assert main(["check", str(tmp_path / "spec.yaml")]) == 2
    said = capsys.readouterr().err
    assert "risk.keys[1]: unknown variable 'FAIT' (did you mean 'FAITH'?)" in said
    assert "risk.targets: 'RATE' is a key and a target; choose one" in said


def test_numbers_are_asked_for_their_groups_once_an_original_is_there(made, tmp_path, capsys):
    spec = yaml.safe_load((made / "spec.yaml").read_text())
    spec["variables"]["AGE"] = {"integer": [1, 90]}
    spec["risk"] = {"keys": ["RATE", "AGE"], "targets": ["AFFAIR"]}
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    assert main(["check", str(tmp_path / "spec.yaml")]) == 0
    words = ["run", tmp_path / "spec.yaml", "-o", tmp_path / "out"]
    words += ["--original", made / "original.csv"]
    assert main([str(word) for word in words]) == 2
    told = "risk.keys[1]: 'AGE' is a number; add bins: {AGE: 10}, or categorical: [AGE] to take"
    assert told in capsys.readouterr().err


def test_numbers_of_a_spec_are_grouped_or_cut(made, tmp_path):
    spec = yaml.safe_load((made / "spec.yaml").read_text())
    spec["variables"]["AGE"] = {"integer": [1, 90]}
    original = (made / "original.csv").read_text().splitlines()
    lines = [f"{line},{i % 80 if i else 'AGE'}" for i, line in enumerate(original)]
    (tmp_path / "original.csv").write_text("\n".join(lines) + "\n")
    for number, (bins, size) in enumerate([(4, 4), ([40], 2), ([20, 40, 60], 4)]):
        spec["risk"] = {"keys": ["RATE", "AGE"], "targets": "AFFAIR", "bins": {"AGE": bins}}
        file = tmp_path / f"spec{number}.yaml"
        file.write_text(yaml.safe_dump(spec, sort_keys=False))
        people = risk_spec.people(evosynth.load(file), str(tmp_path / "original.csv"), None, None)
        found = people.assess(people.original)
        rows = len(set(found.attributions["AFFAIR"].cells.key))
        assert rows == 5 * size


def test_the_original_may_lack_what_is_neither_key_nor_target(made, tmp_path):
    spec = yaml.safe_load((made / "spec.yaml").read_text())
    spec["variables"]["CLUB"] = {"categories": {1: "Yes", 2: "No"}}
    spec["variables"]["AGE"] = {"integer": [1, 90]}
    spec["risk"]["categorical"] = ["AGE"]
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec, sort_keys=False))
    found = [
        risk_spec.people(evosynth.load(file), str(made / "original.csv"), None, None)
        for file in (made / "spec.yaml", tmp_path / "spec.yaml")
    ]
    one, other = (people.assess(people.original).summary() for people in found)
    assert one == other


def test_new_data_do_not_keep_the_risk_of_earlier_ones(made, tmp_path):
    place = tmp_path / "out"
    shutil.copytree(made / "out", place)
    words = [
        "run",
        str(made / "spec.yaml"),
        "-o",
        str(place),
        "--force",
        "--quiet",
        "--workers",
        "1",
    ]
    assert main(words) == 0
    assert not (place / "risk.json").exists() and not (place / "risk.csv").exists()
    assert 'id="risk"' not in (place / "report.html").read_text("utf-8")
