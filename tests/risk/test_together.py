"""Risk and utility in one call: comparators that are made, measures, pictures and the command."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from evosynth import cli
from evosynth.errors import DataError, RiskError
from evosynth.risk.assessment import assess
from evosynth.risk.comparators import margins, synthesise
from evosynth.risk.spec import people
from evosynth.spec import load

KEYS = ["age", "educ", "religious"]
MODEL = "affair ~ religious + rate_marriage"


@pytest.fixture(scope="module")
def original():
    data = sm.datasets.fair.load_pandas().data
    data["affair"] = np.where(data["affairs"] > 0, "yes", "no")
    return data.drop(columns="affairs").sample(800, random_state=3).reset_index(drop=True)


def test_a_general_version_is_made_by_name(original):
    about = {"keys": KEYS, "targets": ["affair", "children"], "founding": True, "seed": 7}
    made = synthesise("nonnormal", original[[*KEYS, "affair", "children"]], seed=7, by=["affair"])
    one = assess(original, original, general="nonnormal", **about)
    two = assess(original, original, general=made, **about)
    assert one.records["general"] == len(original)
    pd.testing.assert_frame_equal(pd.DataFrame(one.protocol.rows), pd.DataFrame(two.protocol.rows))


def test_utility_is_measured_when_asked_for(original):
    synthetic = margins(original, seed=1)
    plain = assess(synthetic, original, keys=KEYS, target="affair")
    assert plain.compared is None and "utility" not in plain.summary()
    found = assess(synthetic, original, keys=KEYS, target="affair", models=[MODEL])
    told = found.summary()
    assert [row["data"] for row in told["utility"]] == ["synthetic"]
    assert told["utility"][0]["mahalanobis_exceeded"] == 1
    assert told["regressions"][0]["formula"] == MODEL
    assert told["risk_utility_map"][0]["risk"] == told["attribution"][0]["DiSCO"]
    with pytest.raises(DataError, match="the original lacks: nobody"):
        assess(synthetic, original, keys=KEYS, target="affair", models=["affair ~ nobody"])


def test_the_command_makes_compares_and_draws(original, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    for name, frame in {"o": original[:400], "h": original[400:], "s": margins(original)}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    folder = tmp_path / "out"
    words = ["risk", str(tmp_path / "s.csv"), "--original", str(tmp_path / "o.csv")]
    words += ["--keys", ",".join(KEYS), "--target", "affair", "-o", str(folder)]
    more = ["--holdout", str(tmp_path / "h.csv"), "--general", "cart", "--model", MODEL]
    assert cli.main([*words, *more, "--pictures", "--threshold", "10"]) == 0
    said = capsys.readouterr().out
    assert "Utility, beside the original:" in said and "Group disclosure" in said
    pictures = [f"{n}.{k}" for n in ("disclosure", "tcap", "utility") for k in ("png", "svg")]
    told = json.loads((folder / "risk.json").read_text())
    assert told["pictures"] == [f"risk-{name}" for name in pictures]
    assert sorted(told["pictures"]) == sorted(f.name for f in folder.glob("risk-*"))
    assert [row["data"] for row in told["utility"]] == ["synthetic", "holdout", "general"]
    assert cli.main([*words, "--force"]) == 0
    assert not list(folder.glob("risk-*")) and "pictures" not in (folder / "risk.json").read_text()


def test_pictures_are_those_that_there_are_figures_for(original):
    pytest.importorskip("matplotlib")
    found = assess(margins(original), original, keys=KEYS, target="affair", utility=True)
    figures = found.pictures()
    assert list(figures) == ["risk-disclosure", "risk-utility"]
    assert figures["risk-utility"].axes[0].get_xlabel().startswith("risk: DiSCO of affair, %")


def test_pictures_need_a_folder(original, tmp_path, capsys):
    original.to_csv(tmp_path / "o.csv", index=False)
    words = ["risk", str(tmp_path / "o.csv"), "--original", str(tmp_path / "o.csv")]
    assert cli.main([*words, "--keys", "age", "--target", "affair", "--pictures"]) != 0
    assert "--pictures are written to a folder; add -o DIR" in capsys.readouterr().err


def test_a_file_that_is_missing_is_no_method(original):
    with pytest.raises((DataError, RiskError), match="forest"):
        assess(original, original, keys=KEYS, target="affair", general="forest.csv")


def test_plain_measures_import_neither_matplotlib_nor_scikit_learn(original):
    frame = pd.DataFrame({"k": [1, 1, 2], "t": ["a", "b", "b"]})
    before = {"matplotlib", "sklearn"} & set(sys.modules)
    assess(frame, frame, keys=["k"], target="t", utility=True)
    assert {"matplotlib", "sklearn"} & set(sys.modules) == before


def test_a_spec_that_codes_otherwise_than_the_original_is_told_before_the_search(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "records: 40\n"
        "variables:\n"
        "  ID: {identifier: {prefix: P, digits: 4}}\n"
        "  SEX: {categories: {1: Men, 2: Women}}\n"
        "  AGE: {integer: [16, 90]}\n"
        "outputs:\n"
        "  - {kind: frequencies, of: SEX, counts: {1: 20, 2: 20}}\n"
        "risk: {keys: AGE, targets: SEX, bins: {AGE: 4}}\n"
    )
    spec = load(file)
    for first, second, message in (("Men", "Women", "'SEX': the synthetic data"), ("1", "2", "")):
        other = tmp_path / "original.csv"
        other.write_text("SEX,AGE\n" + f"{first},20\n{second},30\n" * 10)
        if not message:
            assert people(spec, str(other), None, None) is not None
            continue
        with pytest.raises(RiskError, match=message):
            people(spec, str(other), None, None)
