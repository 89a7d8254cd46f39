"""Starter scripts: run in Python and R, they print what is published; text stays text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import SPECS, small
from models import truth

import evosynth
from evosynth import formats
from evosynth import kinds as kinds_
from evosynth.formats.dataset import Dataset
from evosynth.scripts import scripts

NASTY = 'x"\'; import os; os._exit(3) # `$HOME\' \\" */ /* /// .\nsystem("exit 3")\u2028q(3)'
QUOTED = '"' + NASTY.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
QUOTED = QUOTED.replace("\u2028", "\\L") + '"'
TAME = "x\"'; $HOME' /* /// ."
SPEC = f"""
title: {QUOTED}
source: {QUOTED}
records: 400
variables:
  AGE:    {{label: {QUOTED}, integer: [20, 60], missing: {{-9: {QUOTED}}}}}
  SEX:    {{label: Sex, categories: {{1: {QUOTED}, 2: Female}}, missing: {{-8: Refused}}}}
  AREA:   {{label: 'منطقة 🌍', categories: {{n: Nörd, {QUOTED}: South, w: West}}}}
  HOURS:  {{integer: [1, 8]}}
  YES:    {{categories: {{0: No, 1: Yes}}}}
  VISITS: {{integer: [0, 25]}}
  CHOICE: {{categories: {{a: First, b: Second, c: Third}}}}
  GRADE:  {{categories: {{1: Low, 2: Middle, 3: High, 4: Top}}}}
  PAY:    {{number: {{min: 0.1, max: 60.0, decimals: 1}}, missing: true}}
outputs:
"""
TERMS = "{Intercept: 0.1000, AGE: 0.1000, 'SEX[2]': 0.1000}"
ALL = f"""
    coefficients: {TERMS}
    standard_errors: {TERMS}
    statistics: {TERMS}
    p_values: {{AGE: <0.001, 'SEX[2]': 0.0400}}
    confidence_intervals: {{AGE: [0.1000, 0.2000]}}
    observations: 100"""
FIT = """
    log_likelihood: -100.00
    null_log_likelihood: -120.00
    pseudo_r_squared: 0.1000
    aic: 100.00
    bic: 100.00
    lr_chi_square: 10.00
    lr_p_value: 0.0100"""
OUTPUTS = {
    "frequencies": """
  - kind: frequencies
    of: SEX
    title: TITLE
    counts: {1: 1, -8: 1, missing: 1, valid: 1, total: 1}
    percentages: {1: 10.0}
    valid_percentages: {2: 10.0}
  - kind: frequencies
    of: PAY
    where: AREA != 'w' and not (AGE < 30 or AGE > 55)
    counts: {missing: 1, total: 1}
    proportions: {missing: 0.1}""",
    "crosstab": """
  - kind: crosstab
    rows: [SEX, YES]
    columns: GRADE
    where: AGE in (20, 21, 22, 23, 24, 25, 30, 40, 41) or AGE >= 45
    percentages: {1: {0: [1.0, 1.0, 1.0, 1.0]}}
    row_percentages: {1: {1: [1.0, 1.0, 1.0, 1.0]}}
    column_proportions: {2: {1: [0.111, 0.111, 0.111, 0.111]}, total: {1: [0.2, 0.2, 0.2, 0.2]}}
    counts: {1: {0: [1, 1, 1, 1, 4], 1: [1, 1, 1, 1, 4]}, 2: {0: [1, 1, 1, 1], 1: [1, 1, 1, 1]}}""",
    "summary": """
  - kind: summary
    of: [AGE, PAY]
    by: [SEX, YES]
    n: {AGE: {1: {0: 10}, 2: {total: 10}}}
    mean: {AGE: {1: {0: 30.00}}, PAY: {total: {1: 20.00}}}
    sd: {AGE: {1: {0: 5.00}}}
    skewness: {PAY: {2: {0: 0.10}}}
    kurtosis: {PAY: {2: {0: 0.10}}}
    quantiles: {10: {PAY: {2: {1: 20.0}}}}
    above: {25: {PAY: {2: {1: 20.0}}}}
  - kind: summary
    of: PAY
    each: [GRADE, AREA]
    where: HOURS <= 6
    mean: {total: 20.00, GRADE: {1: 20.00}}
    variance: {GRADE: {2: 10.00}}
    standard_error: {AREA: {n: 1.00}}
    median: {AREA: {n: 20.0}}
    iqr: {AREA: {n: 5.0}}
    min: {AREA: {w: 5.0}}
    max: {AREA: {w: 5.0}}
    sum: {AREA: {w: 500.0}}
    below: {25: {AREA: {w: 20.0}}}""",
    "correlation": """
  - kind: correlation
    of: [AGE, PAY, HOURS]
    pearson: {PAY: {AGE: 0.100}, HOURS: {PAY: 0.100}}
    covariances: {PAY: {AGE: 1.00, PAY: 1.00}}
    p_values: {PAY: {AGE: 0.100}}
  - kind: correlation
    of: [AGE, PAY, HOURS]
    missing: listwise
    spearman: {HOURS: {AGE: 0.100}}
    p_values: {HOURS: {AGE: 0.100}}""",
    "tests": """
  - kind: chi_square
    rows: SEX
    columns: GRADE
    statistic: 1.000
    df: 3
    p: 0.500
    cramers_v: 0.100
  - kind: chi_square
    rows: SEX
    columns: YES
    yates: true
    statistic: 1.000
    p: 0.500
  - kind: t_test
    of: PAY
    by: SEX
    t: 1.000
    df: 300
    p: 0.500
    difference: 0.500
  - kind: t_test
    of: PAY
    by: GRADE
    where: GRADE in (1, 3)
    equal_variances: false
    t: 1.000
    df: 30.00
  - kind: anova
    of: AGE
    by: AREA
    f: 1.000
    p: 0.500
    eta_squared: 0.010
  - kind: anova
    of: PAY
    by: AREA
    f: 1.000
  - kind: odds_ratio
    rows: SEX
    columns: YES
    event: 1
    odds_ratio: 1.000
    odds_ratio_ci: [0.500, 2.000]
    risk_ratio: 1.000
    risk_ratio_ci: [0.500, 2.000]
    level: 0.9
    p: 0.500
  - kind: odds_ratio
    rows: SEX
    columns: YES
    risk_ratio: 1.000
    p: 0.500""",
    "ols": f"""
  - kind: ols
    formula: PAY ~ AGE + SEX{ALL}
    betas: {{AGE: 0.1000}}
    r_squared: 0.1000
    adjusted_r_squared: 0.1000
    f: 1.00
    f_p_value: 0.0100
    rmse: 3.000
    log_likelihood: -100.00
    aic: 100.00
    bic: 100.00
  - kind: ols
    formula: log(PAY) ~ AREA*SEX + I(AGE^2) + log(HOURS)
    reference: {{AREA: w}}
    robust: HC3
    level: 90
    coefficients:
      {{'AREA[n]': 0.1000, 'AREA[n]:SEX[2]': 0.1000, I(AGE^2): 0.100000, log(HOURS): 0.1000}}
    standard_errors: {{'AREA[n]': 0.1000, 'AREA[n]:SEX[2]': 0.1000, I(AGE^2): 0.100000}}
  - kind: ols
    formula: PAY ~ AGE:SEX
    robust: stata
    standard_errors: {{'AGE:SEX[2]': 0.10000}}""",
    "wls": f"""
  - kind: wls
    weights: HOURS
    formula: PAY ~ AGE + SEX{ALL}
    betas: {{AGE: 0.1000}}
    rmse: 1.000
    log_likelihood: -100.00
  - kind: wls
    weights: HOURS
    formula: PAY ~ AGE + SEX
    robust: HC2
    standard_errors: {TERMS}""",
    "logit": f"""
  - kind: logit
    formula: YES ~ AGE + SEX{ALL}{FIT}
    deviance: 100.00
    null_deviance: 100.00
  - kind: logit
    formula: YES ~ AGE + SEX
    robust: stata
    odds_ratios: {{AGE: 1.1000}}
    standard_errors: {{AGE: 0.1000}}
    standard_errors_of: ratios
    confidence_intervals: {{AGE: [1.0000, 1.2000]}}""",
    "probit": f"""
  - kind: probit
    formula: YES ~ AGE + SEX{ALL}{FIT}
    deviance: 100.00
  - kind: probit
    formula: YES ~ AGE + SEX
    robust: HC1
    standard_errors: {TERMS}""",
    "poisson": f"""
  - kind: poisson
    exposure: HOURS
    formula: VISITS ~ AGE + SEX{ALL}{FIT}
    deviance: 100.00
    null_deviance: 100.00
  - kind: poisson
    formula: VISITS ~ AGE + SEX
    where: AGE > 25
    robust: HC0
    standard_errors: {TERMS}""",
    "negative_binomial": f"""
  - kind: negative_binomial
    exposure: HOURS
    formula: VISITS ~ AGE + SEX{ALL}{FIT}
    alpha: 0.500
  - kind: negative_binomial
    formula: VISITS ~ AGE + SEX
    robust: HC0
    standard_errors: {TERMS}""",
    "multinomial": f"""
  - kind: multinomial
    formula: CHOICE ~ AGE + SEX
    reference: {{CHOICE: b}}
    coefficients: {{a: {TERMS}, c: {TERMS}}}
    standard_errors: {{a: {TERMS}, c: {TERMS}}}{FIT}
  - kind: multinomial
    formula: CHOICE ~ AGE + SEX
    robust: stata
    relative_risk_ratios: {{b: {{AGE: 1.1000}}}}
    standard_errors: {{b: {TERMS}}}""",
    "ordered": f"""
  - kind: ordered
    formula: GRADE ~ AGE + SEX
    coefficients: {{AGE: 0.1000, 'SEX[2]': 0.1000}}
    cut_points: {{'1|2': -1.0000, '2|3': 0.0000, '3|4': 1.0000}}
    standard_errors: {{AGE: 0.1000, '1|2': 0.1000}}{FIT}
  - kind: ordered
    formula: GRADE ~ AGE + SEX
    robust: HC1
    standard_errors: {{AGE: 0.1000, '1|2': 0.1000}}""",
    "quantile": """
  - kind: quantile
    formula: PAY ~ AGE + SEX
    quantile: 0.3
    coefficients: {Intercept: 1.000, AGE: 0.100, 'SEX[2]': 0.100}""",
}
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")


def prepare(folder: Path, outputs: str, nasty: str = NASTY, written=()):
    """Write random data and the scripts of a spec; the figures as evosynth recomputes them."""
    quoted = QUOTED if nasty == NASTY else "'" + nasty.replace("'", "''") + "'"
    text = (SPEC + outputs.replace("TITLE", QUOTED)).replace(QUOTED, quoted)
    spec = small(folder, text, anyway=True)
    data = truth(3, 400)
    rng = np.random.default_rng(1)
    data["AREA"] = data["AREA"].where(data["AREA"] != "s", nasty)
    data.loc[rng.random(400) < 0.1, "AGE"] = -9
    data.loc[rng.random(400) < 0.1, "SEX"] = -8
    data["PAY"] = data["PAY"].where(rng.random(400) > 0.1)
    data.to_csv(folder / "data.csv", index=False)
    for name, text in scripts(spec, written).items():
        (folder / name).write_text(text, encoding="utf-8")
    read = evosynth.read_data(folder / "data.csv", spec.schema)
    for name in written:
        formats.write(name, Dataset.of(read, spec), folder / formats.file_name(name))
    found = evosynth.verify(spec, read)
    assert np.isfinite(found["value"]).all()
    return spec, found


def run(command: list[str]) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def compare(printed: str, found) -> None:
    """Each line that shows a figure ends with its published text and its value."""
    rows = [line.rstrip() for line in printed.splitlines() if re.search(r" -?[\d.]+ *$", line)]
    rows = [row for row in rows if len(row) >= 87 and not row.startswith("figure ")]
    assert len(rows) == len(found)
    for row, figure in zip(rows, found.itertuples(), strict=True):
        *_, published, value = row.split()
        assert published == figure.published.split()[-1]
        size = len(value.partition(".")[2])
        assert float(value) == pytest.approx(figure.value, abs=0.5001 * 10.0**-size), figure.figure


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_python_script_prints_every_figure(kind, tmp_path):
    _, found = prepare(tmp_path, OUTPUTS[kind])
    compare(run([sys.executable, str(tmp_path / "analysis.py")]), found)


def test_long_commands_of_spss_are_broken_between_words(tmp_path):
    where = f"AGE in ({', '.join(map(str, range(20, 60)))}) or AGE == 60"
    prepare(tmp_path, OUTPUTS["frequencies"].replace("AREA != 'w' and not", f"({where}) and not"))
    rows = (tmp_path / "analysis.sps").read_text("utf-8").splitlines()
    assert max(map(len, rows)) <= 256
    at = next(i for i, row in enumerate(rows) if "AGE = 20 OR" in row)
    assert rows[at + 1].startswith("    ") and rows[at + 1].lstrip().startswith(("OR", "(", "AGE"))
    whole = " ".join(row.strip() for row in rows[at : at + 8])
    assert all(f"AGE = {age}" in whole for age in range(20, 61))


def test_scripts_tell_the_bounds_of_figures_that_print_gives_by_words_stars_or_rounding(tmp_path):
    outputs = """
  - kind: crosstab
    rows: SEX
    columns: YES
    rounded: 5
    suppressed: [1, 9]
    counts: {1: [95, suppressed], 2: [75, structural]}
  - {kind: chi_square, rows: SEX, columns: YES, p: "*", statistic: 2.00}
  - {kind: anova, of: AGE, by: AREA, p: <0.5}"""
    prepare(tmp_path, outputs)
    named = {
        "SEX=1, YES=0 [93 to 97]",
        "SEX=1, YES=1 [1 to 9]",
        "SEX=2, YES=1",
        "p [0.01 to 0.05]",
        "statistic",
        "p",
    }
    printed = run([sys.executable, str(tmp_path / "analysis.py")])
    assert named <= {re.sub(r" {2,}.*", "", row) for row in printed.splitlines()}
    for name in ("analysis.R", "analysis.do", "analysis.sps"):
        text = (tmp_path / name).read_text("utf-8")
        assert all(figure in text for figure in named)


def test_the_script_for_stata_renames_columns_all_at_once(tmp_path):
    prepare(tmp_path, OUTPUTS["frequencies"])
    text = (tmp_path / "analysis.do").read_text("utf-8")
    columns = re.search(r"rename ///\n +\((.*)\) ///\n +\((.*)\)\n", text)
    assert columns.group(1).split() == [f"v{i}" for i in range(1, 10)]
    assert columns.group(2).split()[:3] == ["AGE", "SEX", "AREA"]


@needs_r
@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_r_script_prints_every_figure(kind, tmp_path):
    _, found = prepare(tmp_path, OUTPUTS[kind])
    needed = {"quantile": "quantreg", "ordered": "MASS", "multinomial": "nnet"}.get(kind, "stats")
    there = run(["Rscript", "-e", f'cat(requireNamespace("{needed}", quietly = TRUE))'])
    if there != "TRUE":
        pytest.skip(f"R's package {needed} is not installed")
    compare(run(["Rscript", str(tmp_path / "analysis.R")]), found)


ABSENT = (
    "Unknown command `GENLIN'",
    "Unknown command `QUANTILE'",
    "NOMREG: NOMREG is not yet implemented",
    "NONPAR CORR: NONPAR CORR is not yet implemented",
    "PLUM: PLUM is not yet implemented",
    "UNIANOVA: UNIANOVA is not yet implemented",
    "MEANS: Syntax error at `STATISTICS'",
    "REGRESSION: Syntax error at `REGWGT'",
)
"""What PSPP says of procedures of SPSS that it does not have."""
SHOWN = {
    "frequencies": "proportions",
    "summary": "AGE|quantile|iqr",
    "correlation": "rho|AGE and HOURS",
    "tests": "eta|df|p$|risk",
    "ols": "AREA|log|aic|bic|n$",
    "logit": "z of|likelihood|aic|bic|lr|deviance|squared|n$",
}
"""Kinds whose figures PSPP prints, apart from those that match: it rounds them, or errs."""


@pytest.mark.skipif(shutil.which("pspp") is None, reason="PSPP is not installed")
@pytest.mark.parametrize("written", [(), ("spss",)])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_spss_script_runs_in_pspp(kind, written, tmp_path):
    _, found = prepare(tmp_path, OUTPUTS[kind], TAME, written)
    done = subprocess.run(
        ["pspp", "-O", "format=csv", "-o", "out.csv", "analysis.sps"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = (tmp_path / "out.csv").read_text("utf-8")
    told = re.findall(r"(?:error|warning): (.*)", done.stdout + done.stderr + printed)
    assert [text for text in told if not text.startswith(ABSENT)] == []
    numbers = set(re.findall(r"(?<![\w.])-?\d*\.\d+|(?<![\w.])-?\d+(?![\w.])", printed))
    for figure in found.itertuples() if kind in SHOWN else ():
        if re.search(SHOWN[kind], figure.figure):
            continue
        assert any(
            abs(float(n) - figure.value) <= 0.5001 * 10.0 ** -len(n.partition(".")[2])
            for n in numbers
            if "." in n or figure.value == int(figure.value)
        ), figure.figure


def test_every_kind_is_run():
    kinds = set(re.findall(r"kind: (\w+)", "".join(OUTPUTS.values())))
    assert kinds == set(kinds_.names())


@pytest.mark.parametrize("kind", OUTPUTS)
def test_no_text_breaks_out_of_the_scripts_for_stata_and_spss(kind, tmp_path):
    spec, _ = prepare(tmp_path, OUTPUTS[kind])
    do, sps = (scripts(spec)[name] for name in ("analysis.do", "analysis.sps"))
    for text in (do, sps):
        assert "\u2028" not in text and "\r" not in text
        assert text.count("published") > 0
    for row in do.splitlines():
        own = row.startswith(("    display", "    bindquote"))  # written by us, with macros
        if "uchar" not in row and not own:
            assert row.count('"') % 2 == 0, row
            assert "`" not in row and "$" not in row, row
        assert not row.startswith("*") or not any(m in row for m in ("/*", "*/", "///"))
        assert not row.startswith(("system", "import os", "q("))
    for row in sps.splitlines():
        if row.startswith("*"):
            assert row.endswith(".")
        else:
            assert row.count("'") % 2 == 0, row
        assert not row.startswith(("system", "import os", "q("))


@pytest.mark.skipif(not SPECS.exists(), reason="specs are not there")
def test_the_scripts_of_a_run_print_the_published_digits(tmp_path):
    spec = evosynth.load(SPECS / "south-yorkshire-cars-2.yaml")
    result = evosynth.synthesize(spec, seed=1, workers=2)
    folder = result.save(tmp_path / "out", formats=["stata", "spss"])
    commands = [[sys.executable, str(folder / "analysis.py")]]
    if shutil.which("Rscript"):
        commands.append(["Rscript", str(folder / "analysis.R")])
    for command in commands:
        rows = [row.split() for row in run(command).splitlines() if len(row) > 86]
        same = [row for row in rows if row[-1] == row[-2]]
        assert len(same) == 50
    assert 'use "data.dta", clear' in (folder / "analysis.do").read_text("utf-8")
    assert "GET FILE='data.sav'." in (folder / "analysis.sps").read_text("utf-8")


CODES = """
records: 40
variables:
  ID: {identifier: {prefix: P, digits: 4}}
  BIG: {categories: {1234567890123: One, 2: Two}}
  PAY: {number: {min: 0, max: 90, decimals: 1}, missing: {-9: Refused, -8: 'Not "asked"'}}
  KIDS: {integer: [0, 9], missing: true}
outputs:
  - {kind: frequencies, of: BIG, counts: {1234567890123: 15, 2: 25}}
"""


def test_scripts_label_missing_codes_of_quantities_and_no_identifiers(tmp_path):
    folder = evosynth.synthesize(small(tmp_path, CODES), seed=1).save(tmp_path / "out")
    text = (folder / "analysis.py").read_text("utf-8")
    found = re.search(r"^codes = \{\n(.*?)^\}", text, re.M | re.S).group(1)
    assert [line.strip() for line in found.splitlines()] == [
        "'BIG': {1234567890123: 'One', 2: 'Two'},",
        "'PAY': {-9: 'Refused', -8: 'Not \"asked\"'},",
    ]
    stata = (folder / "analysis.do").read_text("utf-8")
    assert 'label define PAY .a "Refused", modify' in stata
    assert "label define BIG" not in stata  # Stata labels no code of more than nine digits
    if shutil.which("Rscript"):
        ask = 'source("analysis.R"); for (n in names(data)) print(attr(data[[n]], "labels"))'
        command = ["Rscript", "-e", ask]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        labels = done.stdout[done.stdout.index("\nNULL") :].split()
        assert (
            labels
            == 'NULL One Two 1.234568e+12 2.000000e+00 Refused Not "asked" -9 -8 NULL'.split()
        )
