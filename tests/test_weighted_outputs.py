"""Weights in specs: added afterwards, or known to the search because outputs are weighted."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evosynth
from evosynth.cli import main
from evosynth.problem import Problem
from evosynth.weights.column import weigh

HERE = Path(__file__).parent / "weights"
SPECS = Path(__file__).parent.parent / "specs"
SAMPLE = pd.read_csv(HERE / "sample.csv")
VARIABLES = """
records: 400
variables:
  SEX: {categories: {1: Male, 2: Female}}
  REGION: {categories: {1: North, 2: Midlands, 3: South}}
  EDUC: {categories: {1: None, 2: School, 3: Degree}}
  AGE: {integer: [18, 80]}
  INCOME: {number: {min: 0, max: 2000, decimals: 1}}
  SMOKE: {categories: {0: "No", 1: "Yes"}}
"""
OUTPUTS = """
outputs:
  - kind: summary
    of: INCOME
    by: SEX
    mean: {1: 1.0, 2: 1.0, total: 1.0}
    standard_error: {1: 1.0, 2: 1.0, total: 1.0}
  - {kind: summary, of: INCOME, sum: 1.0, sd: 1.0}
  - {kind: frequencies, of: EDUC, proportions: {1: 0.3, 2: 0.3, 3: 0.4}}
  - kind: crosstab
    rows: SEX
    columns: EDUC
    row_proportions: {1: [0.3, 0.3, 0.4], 2: [0.3, 0.3, 0.4]}
  - kind: ols
    formula: INCOME ~ AGE + SEX + EDUC
    coefficients: {Intercept: 1.0, AGE: 1.0, "SEX[2]": 1.0, "EDUC[2]": 1.0, "EDUC[3]": 1.0}
    standard_errors: {Intercept: 1.0, AGE: 1.0, "SEX[2]": 1.0, "EDUC[2]": 1.0, "EDUC[3]": 1.0}
  - kind: logit
    formula: SMOKE ~ AGE + SEX + EDUC
    coefficients: {Intercept: 1.0, AGE: 1.0, "SEX[2]": 1.0, "EDUC[2]": 1.0, "EDUC[3]": 1.0}
    standard_errors: {Intercept: 1.0, AGE: 1.0, "SEX[2]": 1.0, "EDUC[2]": 1.0, "EDUC[3]": 1.0}
weights: {weighted: true, name: D, range: [30.0, 300.0]}
"""


def load(tmp_path, text, **how):
    file = tmp_path / "spec.yaml"
    file.write_text(VARIABLES + text, encoding="utf-8")
    return evosynth.load(file, **how)


def expected_by_survey():
    found = pd.read_csv(HERE / "survey_estimates.csv").set_index("estimate")
    value, error = found["value"], found["error"]
    models = [
        column[f"{kind} {name}"]
        for kind in ("ols", "logit")
        for column in (value, error)
        for name in ("(Intercept)", "AGE", "SEX2", "EDUC2", "EDUC3")
    ]
    means = ["mean INCOME SEX=1", "mean INCOME SEX=2", "mean INCOME"]
    shares = [f"share EDUC={i}" for i in (1, 2, 3)]
    rows = [f"row SEX={i} EDUC={j}" for i in (1, 2) for j in (1, 2, 3)]
    return [
        *value[means],
        *error[means],
        value["sd INCOME"],
        value["sum INCOME"],
        *value[shares],
        *value[rows],
        *models,
    ]


def test_weighted_estimators_agree_with_survey(tmp_path):
    spec = load(tmp_path, OUTPUTS, anyway=True)
    found = evosynth.verify(spec, SAMPLE)
    order = found["figure"].tolist()
    assert order[6:8] == ["sd of INCOME", "sum of INCOME"] or order[6:8] == [
        "sum of INCOME",
        "sd of INCOME",
    ]
    expected = expected_by_survey()
    if order[6].startswith("sum"):
        expected[6:8] = expected[7], expected[6]
    np.testing.assert_allclose(found["value"], expected, rtol=1e-6)


def test_search_and_proof_see_the_same_figures(tmp_path):
    """Figures printed from data are all met by these data in the terms of the search."""
    spec = load(tmp_path, OUTPUTS, anyway=True)
    values = iter(evosynth.verify(spec, SAMPLE)["value"])
    import re

    text = re.sub(
        r"(?<=[:\[ ])(1\.0|0\.[34])(?=[,}\]])",
        lambda _: f"{next(values):.6f}",
        "\n".join(_in_order(OUTPUTS)),
    )
    spec = load(tmp_path, text)
    assert evosynth.verify(spec, SAMPLE)["exact"].all()
    codes = np.stack(
        [
            np.searchsorted(np.round(v.values.astype(float), 6), SAMPLE[v.name].round(6))
            for v in spec.schema.variables
        ],
        axis=1,
    ).astype(spec.schema.dtype)
    problem = Problem.of(spec.plans, spec.schema)
    off = problem.measure(codes, np.ones(len(codes), dtype=np.int64))
    assert len(off) == len(evosynth.verify(spec, SAMPLE))
    assert np.abs(off).max() < 1.0
    other = codes.copy()
    other[:, -1] = other[::-1, -1]  # the same records with other weights
    assert np.abs(problem.measure(other, np.ones(len(codes), dtype=np.int64))).max() > 100


def _in_order(text):
    """Write means before standard errors, and sd before sum, as figures are listed."""
    return [line.replace("sum: 1.0, sd: 1.0", "sd: 1.0, sum: 1.0") for line in text.splitlines()]


@pytest.mark.parametrize("seed", [1, 2])
def test_weighted_outputs_are_exact(tmp_path, seed):
    """Checked with pandas alone, from the written file."""
    spec = evosynth.load(SPECS / "weighted-health-survey.yaml")
    assert spec.weighting.mode == "b"
    result = evosynth.synthesize(spec, seed=seed)
    result.save(tmp_path / "out")
    assert result.exact
    data = pd.read_csv(tmp_path / "out" / "data.csv")
    w = data["WEIGHT"]
    assert w.groupby(data["SEX"]).sum().tolist() == [24404, 25514]
    assert w.groupby(data["REGION"]).sum().tolist() == [13052, 12089, 24777]
    assert round(100 * w[data["SMOKE"] == 1].sum() / w.sum(), 1) == 28.1
    men = data["SEX"] == 1
    assert round(np.average(data["BMI"][men], weights=w[men]), 2) == 27.89
    assert data["EDUC"].value_counts().sort_index().tolist() == [479, 909, 612]
    import statsmodels.api as sm

    x = pd.DataFrame(
        {
            "one": 1.0,
            "AGE": data["AGE"],
            "SEX": data["SEX"] == 2,
            "E2": data["EDUC"] == 2,
            "E3": data["EDUC"] == 3,
        }
    ).astype(float)
    fit = sm.WLS(data["BMI"], x, weights=w).fit()
    assert [f"{b:.3f}" for b in fit.params] == ["26.084", "0.044", "-0.396", "0.083", "-0.511"]
    about = json.loads((tmp_path / "out" / "weights.json").read_text())
    assert about["mode"] == "b"
    assert about["max_relative_error"] == 0


def test_a_weight_added_afterwards_is_in_every_file(tmp_path):
    text = """
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 190, 2: 210}}
formats: [stata, spss, excel]
weights:
  name: W
  label: The weight
  totals: {SEX: {1: 500, 2: 480}, EDUC: {1: 300, 2: 300, 3: 380}}
"""
    spec = load(tmp_path, text)
    assert spec.weighting.mode == "a"
    result = evosynth.synthesize(spec, seed=3)
    out = result.save(tmp_path / "out")
    data = pd.read_csv(out / "data.csv")
    assert data["W"].groupby(data["SEX"]).sum().tolist() == pytest.approx([500, 480], rel=1e-10)
    import pyreadstat

    for name, read in (("data.dta", pyreadstat.read_dta), ("data.sav", pyreadstat.read_sav)):
        frame, meta = read(str(out / name))
        np.testing.assert_allclose(frame["W"], data["W"], rtol=1e-14)
        assert meta.column_names_to_labels["W"] == "The weight"
    np.testing.assert_allclose(
        pd.read_excel(out / "data.xlsx", sheet_name="data")["W"], data["W"], rtol=1e-14
    )
    np.testing.assert_allclose(pd.read_parquet(out / "data.parquet")["W"], data["W"], rtol=1e-14)
    margins = pd.read_csv(out / "weights.csv")
    assert margins["relative_error"].abs().max() < 1e-8
    assert "## Weights" in (out / "codebook.md").read_text()
    assert "svydesign(ids = ~1, weights = ~W" in (out / "analysis.R").read_text()
    assert main(["verify", str(tmp_path / "spec.yaml"), str(out / "data.csv")]) == 0


def test_the_search_does_not_see_a_weight_added_afterwards(tmp_path):
    text = "\noutputs:\n  - {kind: frequencies, of: SEX, counts: {1: 190, 2: 210}}\n"
    plain = evosynth.synthesize(load(tmp_path, text), seed=5).data
    more = text + "weights: {totals: {SEX: {1: 500, 2: 480}}}\n"
    weighted = evosynth.synthesize(load(tmp_path, more), seed=5).data
    pd.testing.assert_frame_equal(plain, weighted.drop(columns="WEIGHT"))


def test_check_says_the_mode(tmp_path, capsys):
    load(tmp_path, OUTPUTS.replace("sum: 1.0, ", ""))
    assert main(["check", str(tmp_path / "spec.yaml")]) == 0
    assert "mode (b): published outputs are weighted by D" in capsys.readouterr().out


ONE = "\noutputs:\n  - {kind: frequencies, of: SEX, percentages: {1: 48.0}%s}\n"
FAULTS = [
    (ONE % "" + "weights: {totals: {SXE: {1: 5}}}", "unknown variable 'SXE' (did you mean 'SEX'?)"),
    (ONE % "" + "weights: {totals: {SEX: {1: 5}}}", "no total for SEX=2; totals list every value"),
    (ONE % "" + "weights: {totals: nowhere.csv}", "nowhere.csv: cannot be read"),
    (ONE % "" + "weights: {totals: ../x.csv}", "must be the plain name of a file beside the spec"),
    (ONE % "" + "weights: {name: AGE, totals: {SEX: {1: 5, 2: 6}}}", "'AGE' is a variable already"),
    (ONE % "" + "weights: {method: logit, totals: {SEX: {1: 5, 2: 6}}}", "logit needs them"),
    (
        ONE % "" + "weights: {totals: {SEX: {1: 5, 2: 6}, EDUC: {1: 5, 2: 6, 3: 7}}}",
        "the totals of SEX sum to 11, those of EDUC to 18",
    ),
    (ONE % ", weighted: true", "there are no weights; add `weights: {range: [0.50, 2.00]}`"),
    (ONE % ", weighted: true" + "weights: {label: x}", "say how large weights are"),
    (
        ONE % ", weighted: true" + "weights: {range: [1, 9], totals: {SEX: {1: 900.5, 2: 800}}}",
        "the total of SEX=1, 900.5, is no multiple of 1",
    ),
    (
        "\noutputs:\n  - {kind: frequencies, of: SEX, counts: {1: 400, 2: 0}}\n"
        "weights: {totals: {EDUC: {1: 50, 2: 40, 3: 20}, SEX: {1: 50, 2: 60}}}",
        "the total of SEX=2 is 60, but published counts leave no record that; merge it",
    ),
    (
        ONE % "" + "weights: {totals: {SEX: {1: 50, 2: 60}, AGE: 1500}}",
        "the total of AGE is 1500, but values from 18 to 80 of 110 people sum to 1980 to 8800",
    ),
    (
        ONE % "" + "weights: {totals: {SEX: {1: 50, 2: 60}, AGE by SEX: {1: 2000, 2: 4801}}}",
        "the total of AGE, SEX=2 is 4801, but values from 18 to 80 of 60 people sum to 1080 to",
    ),
    (
        ONE % ", weighted: true" + "weights: {bounds: [2, 1], totals: {SEX: {1: 900, 2: 800}}}",
        "weights.bounds: has no say where outputs are weighted",
    ),
    (
        ONE % ", weighted: true" + "weights: {totals: {SEX: {1: 4.0e+9, 2: 5.0e+9}}}",
        "weights.totals: weights of 22,500,000 on average have too many values",
    ),
    (
        "\noutputs:\n  - {kind: summary, of: AGE, median: 40, weighted: true}\n"
        "weights: {range: [1, 9]}",
        "there is no weighted median here",
    ),
    (
        "\noutputs:\n  - {kind: anova, of: AGE, by: SEX, f: 4.0, weighted: true}\n"
        "weights: {range: [1, 9]}",
        "anova has no weighted form here",
    ),
    (
        "\noutputs:\n  - {kind: ols, formula: AGE ~ SEX, rmse: 4.0, weighted: true}\n"
        "weights: {range: [1, 9]}",
        "this measure has no agreed weighted form",
    ),
]


@pytest.mark.parametrize("weighted", ["true", "false"])
def test_values_of_files_are_found_by_label_or_code(tmp_path, weighted):
    lines = ["SEX,male,14400", "SEX, Female ,15600", "EDUC,1.0,10000", "EDUC,2,10000"]
    text = "\n".join(["variable,value,total", *lines, "EDUC,Degree,10000"])
    (tmp_path / "totals.csv").write_text(text)
    spec = load(tmp_path, ONE % "" + f"weights: {{weighted: {weighted}, totals: totals.csv}}")
    assert spec.weighting.margins[0].cells == {("1",): 14400, ("2",): 15600}
    assert [*spec.weighting.margins[1].cells] == [("1",), ("2",), ("3",)]
    (tmp_path / "totals.csv").write_text(text + "\nSEX,1.0,5\n")
    with pytest.raises(evosynth.SpecError, match="SEX=1 stands there twice"):
        load(tmp_path, ONE % "" + "weights: {totals: totals.csv}")


def test_weighted_totals_of_quantities_leave_missing_values_out(tmp_path):
    text = VARIABLES.replace("2: Female}", "2: Female}, missing: {-9: Refused}")
    text += ONE % "" + "weights: {weighted: true, range: [20, 90], totals: {%s}}"
    file = tmp_path / "spec.yaml"
    sexes, sums = "SEX: {1: 6240, 2: 5760, -9: 1000}", "AGE by SEX: {1: 300000, 2: 200000%s}"
    file.write_text(text % f"{sexes}, {sums % ''}")
    data = SAMPLE.assign(WEIGHT=30.0)
    data.loc[:20, "SEX"] = -9
    found = weigh(data, evosynth.load(file).weighting).margins
    assert found["records"].tolist() == [*(data["SEX"].value_counts()[[1, 2, -9, 1, 2]])]
    ages = (30 * data["AGE"]).groupby(data["SEX"]).sum()
    assert found["after"].tolist()[3:] == [ages[1], ages[2]]
    file.write_text(text % f"{sexes}, {sums % ', -9: 50000'}")
    with pytest.raises(evosynth.SpecError) as error:
        evosynth.load(file)
    assert "records that miss 'SEX' are in no weighted table or sum" in str(error.value)
    assert str(error.value).endswith("; leave the total of -9 out")


SHARES = "{kind: frequencies, of: SEX, percentages: {1: %s, 2: %s}}"
SEXES = "SEX: {1: 14400, 2: 15600}"
CLASHES = [
    (
        SHARES % ("45.0", "55.0"),
        SEXES,
        "outputs[0]: SEX=1 45.0; outputs[0]: SEX=2 55.0; weights.totals.SEX: SEX=1 14400; "
        "weights.totals.SEX: SEX=2 15600; correct one of them",
    ),
    (
        "{kind: crosstab, rows: SEX, columns: EDUC, counts: {1: [4000, 4400, 6000], "
        "2: [5000, 5000, 5600]}}",
        SEXES + ", EDUC: {1: 9000, 2: 9400, 3: 11600}, REGION: {1: 10000, 2: 10000, 3: 10000}",
        None,
    ),
    (
        "{kind: crosstab, rows: SEX, columns: EDUC, counts: {1: [4000, 4400, 6000], "
        "2: [5000, 5000, 5600]}}",
        "EDUC: {1: 9000, 2: 9500, 3: 11500}",
        "outputs[0]: SEX=1, EDUC=2 4400; ",
    ),
    ("{kind: summary, of: AGE, mean: 45.12}", "total: 30000, AGE: 1500000", "mean of AGE 45.12; "),
    ("{kind: summary, of: AGE, mean: 45.12}", "total: 30000, AGE: 1353600", None),
    ("{kind: summary, of: AGE, mean: 45.12}", "total: 30000, AGE: 5000", "sum of AGE 5000"),
    (
        "{kind: summary, of: INCOME, by: SEX, mean: {1: 700.1, 2: 499.9, total: 400.0}}",
        SEXES,
        "mean of INCOME",
    ),
    (
        SHARES % ("48.0", "52.0"),
        SEXES.replace("14400", "144000").replace("15600", "156000"),
        "weights.range: 400 weights from 30 to 300; ",
    ),
]


@pytest.mark.parametrize(("output", "totals", "message"), CLASHES)
def test_weighted_figures_that_cannot_all_hold_are_told(tmp_path, output, totals, message):
    text = f"\noutputs:\n  - {output}\n"
    text += f"weights: {{weighted: true, range: [30, 300], totals: {{{totals}}}}}\n"
    if message is None:
        load(tmp_path, text)
        return
    with pytest.raises(evosynth.SpecError) as error:
        load(tmp_path, text)
    assert "no weights give all of these weighted figures: " in str(error.value)
    assert message in str(error.value)
    assert load(tmp_path, text, anyway=True).clashes


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_faults_of_weights(tmp_path, text, message):
    with pytest.raises(evosynth.SpecError) as error:
        load(tmp_path, text)
    assert message in str(error.value)


def test_weight_command(tmp_path, capsys):
    totals = tmp_path / "totals.csv"
    totals.write_text("SEX,total\n1,500\n2,480\n")
    data = tmp_path / "data.sav"
    import pyreadstat

    pyreadstat.write_sav(SAMPLE, str(data), column_labels={"SEX": "Sex of the person"})
    out = tmp_path / "out"
    assert main(["weight", str(data), "--totals", str(totals), "-o", str(out)]) == 0
    frame, meta = pyreadstat.read_sav(str(out / "data.sav"))
    assert frame["WEIGHT"].groupby(frame["SEX"]).sum().tolist() == pytest.approx([500, 480])
    assert meta.column_names_to_labels["SEX"] == "Sex of the person"
    assert meta.column_names_to_labels["WEIGHT"] == "Calibration weight"
    assert "2 totals met" in capsys.readouterr().out
    totals.write_text("SEX,total\n1,500\n2,480\n3,4\n")
    again = tmp_path / "again"
    assert main(["weight", str(data), "--totals", str(totals), "-o", str(again)]) == 2
    assert not again.exists()
    assert "no record has that" in capsys.readouterr().err


def test_data_are_not_lost_where_their_weights_cannot_be_made(tmp_path, capsys):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        """\
records: 200
variables:
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 90, 2: 110}}
weights: {method: logit, bounds: [0.9, 1.1], totals: {SEX: {1: 5000, 2: 1000}}}
""",
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert main(["run", str(spec), "-o", str(out)]) == 2
    told = capsys.readouterr().err
    assert "no weights within the bounds reach all totals" in told
    assert f"`evosynth weight {out / 'data.csv'} --totals FILE`" in told
    assert list(pd.read_csv(out / "data.csv")) == ["SEX"]
    assert not list(out.glob("weights*"))
    assert main(["verify", str(spec), str(out / "data.csv")]) == 0


def test_bounds_of_weights_may_be_infinite_above_as_yaml_writes_it(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        """\
records: 200
variables:
  SEX: {label: Sex, categories: {1: Male, 2: Female}}
outputs:
  - {kind: frequencies, of: SEX, counts: {1: 90, 2: 110}}
weights: {bounds: [0.3, .inf], totals: {SEX: {1: 5000, 2: 1000}}}
""",
        encoding="utf-8",
    )
    assert evosynth.load(spec).weighting.settings.bounds == (0.3, np.inf)
