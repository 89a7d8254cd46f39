import json
import stat

import numpy as np
import pandas as pd
import pytest

import evosynth
from evosynth.cli import main
from evosynth.risk.written import SUPPRESSED


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(5)
    for name in ("original", "holdout", "synthetic"):
        frame = pd.DataFrame(
            {
                "sex": rng.choice(["m", "f"], 300),
                "age": rng.integers(16, 90, 300),
                "area": rng.integers(1, 6, 300),
                "ill": rng.choice(["yes", "no"], 300, p=[0.3, 0.7]),
                "pay": rng.normal(100, 30, 300).round(1),
            }
        )
        frame.loc[rng.random(300) < 0.05, "ill"] = None
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def risk(files, *more, keys="sex,age,area", target="ill"):
    words = ["risk", files / "synthetic.csv", "--original", files / "original.csv"]
    return main([str(word) for word in [*words, "--keys", keys, "--target", target, *more]])


def test_the_command_writes_what_python_measures(files, capsys):
    out = files / "out"
    options = ("--bins", "age=5", "--holdout", files / "holdout.csv", "--subsets", 2, "-o", out)
    assert risk(files, *options) == 0
    said = capsys.readouterr().out
    assert "TCAP over disclosive keys, the founding protocol:" in said
    assert f"Written to {out}: risk-subsets.csv, risk.csv, risk.json" in said
    found = evosynth.risk(
        files / "synthetic.csv",
        files / "original.csv",
        holdout=files / "holdout.csv",
        keys=["sex", "age", "area"],
        target="ill",
        bins={"age": 5},
        subsets=2,
    )
    assert found.verdict in said
    told = json.loads((out / "risk.json").read_text("utf-8"))
    assert told == json.loads(json.dumps(found.summary()))
    table = pd.read_csv(out / "risk.csv", keep_default_na=False).set_index(["target", "measure"])
    values = table[table["comparison"] == "original -> synthetic"]["value"]
    assert float(values["ill", "DiSCO"]) == found.attributions["ill"].values["DiSCO"]
    assert len(pd.read_csv(out / "risk-subsets.csv")) == 3
    assert stat.S_IMODE(out.stat().st_mode) == 0o755


def test_results_are_the_same_bytes_each_time(files):
    texts = []
    for name in ("one", "two"):
        assert risk(files, "--bins", "age=5", "--bootstrap", 200, "-o", files / name) == 0
        texts.append([file.read_bytes() for file in sorted((files / name).iterdir())])
    assert texts[0] == texts[1]


def test_every_variable_may_be_a_target(files, capsys):
    assert risk(files, "--targets", "all", "--bins", "age=5", "pay=4", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["target"] for row in told["attribution"]] == ["ill", "pay"]


@pytest.mark.parametrize("ending", ["parquet", "dta", "sav", "xlsx"])
def test_files_of_any_format(files, ending, capsys):
    import pyreadstat

    frame = pd.read_csv(files / "original.csv")
    path = files / f"original.{ending}"
    write = {
        "parquet": lambda: frame.to_parquet(path),
        "dta": lambda: pyreadstat.write_dta(frame, str(path)),
        "sav": lambda: pyreadstat.write_sav(frame, str(path)),
        "xlsx": lambda: frame.to_excel(path, index=False),
    }
    write[ending]()
    for original in (files / "original.csv", path):
        options = [
            "--keys",
            "sex,area",
            "--target",
            "ill",
            "--exclude",
            "missing-targets",
            "--json",
        ]
        words = ["risk", files / "synthetic.csv", "--original", original, *options]
        assert main([str(word) for word in words]) == 0
    one, other = capsys.readouterr().out.split("}\n{")
    kept = [json.loads(text) for text in (one + "}", "{" + other)]
    assert kept[0] == kept[1]


FAULTS = [
    (["--bins", "age=5", "--tau", "0.5"], "tau: must be above 0.5 and at most 1"),
    ([], "'age' has 73 different numbers; add --bins age=10, or --categorical age to take"),
    (["--bins", "age"], "bins: 'age' is not understood; write X=10 for ten groups"),
    (["--bins", "age=5", "--exclude", "ill"], "exclude: 'ill' is not understood; write TARGET="),
    (["--bins", "age=5", "--exclude", "ill=maybe"], "exclude: 'ill' has no level 'maybe' (known: "),
    (["--bins", "age=5", "--exclude", "pay=1"], "exclude: 'pay' is neither a key nor a target"),
    (["--bins", "age=5", "--subsets", "4"], "subsets: there are 3 keys; choose a size from 1 to 3"),
    (["--bins", "age=5", "--p", "5"], "p: no target is a number; name numeric variables with"),
    (["--bins", "age=5", "--p", "5", "--confidential", "sex"], "confidential: 'sex' holds no"),
    (["--bins", "age=5", "--confidential", "pay"], "confidential: of use only with p, the per"),
    (["--categorical", "agee"], "categorical: the data have no column 'agee' (did you mean 'age'?"),
    (["--targets", "sex"], "'sex' is a key and a target; choose one"),
    (["--targets", "shoes"], "the original data have no column 'shoes'"),
    (["--bins", "age=5", "--holdout", "nowhere.csv"], "nowhere.csv: cannot be read: No such file"),
    (["--holdout", "people.txt"], "people.txt: the name must end in .csv, "),
]


@pytest.mark.parametrize(("options", "message"), FAULTS)
def test_what_is_wrong_is_told_in_a_line(files, capsys, options, message):
    assert risk(files, *options, "-o", files / "out") == 2
    said = capsys.readouterr().err
    assert said.startswith(message), said
    assert len(said.splitlines()) == 1 and not (files / "out").exists()


@pytest.mark.parametrize("ending", ["parquet", "dta", "sav", "xlsx"])
def test_files_that_are_not_what_they_are_called(files, ending, capsys):
    (files / f"bad.{ending}").write_text("no data")
    assert risk(files, "--bins", "age=5", "--holdout", files / f"bad.{ending}") == 2
    assert capsys.readouterr().err.startswith(f"{files}/bad.{ending}: cannot be read: ")


def test_a_folder_is_replaced_only_when_asked(files, capsys):
    out = files / "out"
    assert risk(files, "--bins", "age=5", "-o", out) == 0
    assert risk(files, "--bins", "age=5", "-o", out) == 2
    assert "is not empty; choose another folder, or add --force" in capsys.readouterr().err
    assert risk(files, "--bins", "age=5", "-o", out, "--force") == 0


def test_small_counts_are_withheld_everywhere():
    # Two original records are unique and replicated, with disclosive keys; ten share key c.
    rows = [("a", 1), ("b", 2)] + [("c", 1)] * 10 + [("d", 1)] * 9 + [("d", 2)] * 9
    frame = pd.DataFrame(rows, columns=["k", "t"])
    open_ = evosynth.risk(frame, frame, holdout=frame.head(2), keys=["k"], target="t", subsets=1)
    hidden = evosynth.risk(
        frame, frame, holdout=frame.head(2), keys=["k"], target="t", subsets=1, threshold=10
    )
    assert {row["measure"]: row["records"] for row in open_.summary()["identity"]}["repU"] == 2
    told = hidden.summary()
    for row in told["identity"]:
        assert row["records"] == "below 10" and row["per_cent"] == SUPPRESSED
    assert told["attribution"][0]["DiSCO"] == pytest.approx(100 * 12 / 30)
    assert told["k_anonymity"][0]["original_records_in_smaller_groups"] == "below 10"
    outside = next(r for r in told["protocol"] if r["comparison"] == "holdout -> synthetic")
    assert outside["raw"] == outside["correct"] == outside["low"] == SUPPRESSED
    assert told["people_inside_and_outside"][0]["outside"] == SUPPRESSED
    assert "rest on fewer than 10 records for t and are withheld" in told["verdict"]
    assert told["riskiest_key_subsets"][0]["repU"] == SUPPRESSED
    everything = json.dumps(told)
    assert "6.66" not in everything, "2 of 30 would tell the count"


def test_small_counts_are_withheld_in_tables_too(tmp_path):
    rows = [("a", 1), ("b", 2)] + [("c", 1)] * 10 + [("d", 1)] * 9 + [("d", 2)] * 9
    frame = pd.DataFrame(rows, columns=["k", "t"])
    found = evosynth.risk(frame, frame, keys=["k"], target="t", subsets=1, threshold=13)
    found.save(tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "risk.csv").set_index(["measure"])
    for name in ("UiO", "repU", "DiSCO", "TCAP over all", "TCAP over disclosive, calibrated"):
        assert table.loc[name, "value"] == SUPPRESSED
    assert table.loc["baseCAPd", "value"] == SUPPRESSED, "5 of 9 tells 10 of 30"
    assert float(table.loc["DCAP", "value"]) == pytest.approx(100 * (12 + 9) / 30)
    subsets = pd.read_csv(tmp_path / "out" / "risk-subsets.csv")
    assert subsets.loc[0, ["UiO", "repU", "DiSCO", "TCAP over all"]].eq(SUPPRESSED).all()


def test_undefined_is_written_as_such(tmp_path):
    frame = pd.DataFrame({"k": ["a", "b"], "t": [1, 2]})
    found = evosynth.risk(frame.assign(k="z"), frame, keys=["k"], target="t")
    found.save(tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "risk.csv").set_index("measure")
    assert table.loc["TCAP over matched", "value"] == "undefined"
    told = json.loads((tmp_path / "out" / "risk.json").read_text())
    assert told["TCAP"][0]["TCAP over disclosive"] is None
    assert told["TCAP"][0]["TCAP over all"] == 0
