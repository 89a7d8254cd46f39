"""Odds and risk ratios: agreement with hand-worked figures, and what can be wrong."""

# ruff: noqa: E501 (a case per line)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from outputs import all_exact, faults, figures, recomputed, write
from scipy import stats

from evosynth.spec import load

VARIABLES = """\
ARM: {categories: {1: Drug, 2: Placebo, 3: None}}
CURED: {categories: {0: "No", 1: "Yes"}, missing: {9: Lost}}
"""
# Drug: 30 of 50 cured; placebo: 20 of 60
CELLS = {(1, 1): 30, (1, 0): 20, (2, 1): 20, (2, 0): 40, (3, 1): 7, (1, 9): 4}
DATA = pd.DataFrame([k for k, n in CELLS.items() for _ in range(n)], columns=["ARM", "CURED"])
RECORDS = len(DATA)
SHAPE = "kind: odds_ratio\nrows: ARM\ncolumns: CURED\nwhere: ARM in (1, 2)\n"
EVENT = SHAPE + "event: 1\n"


def spec_of(folder: Path, output: str):
    return load(write(folder, VARIABLES, output, RECORDS))


def test_hand_worked(tmp_path: Path) -> None:
    output = (
        "odds_ratio: 3.00\nodds_ratio_ci: [1.38, 6.54]\n"
        "risk_ratio: 1.80\nrisk_ratio_ci: [1.18, 2.75]\np: 0.006"
    )
    spec = spec_of(tmp_path, EVENT + output)
    se = np.sqrt(1 / 30 + 1 / 20 + 1 / 20 + 1 / 40)
    se_risk = np.sqrt(1 / 30 - 1 / 50 + 1 / 20 - 1 / 60)
    z = stats.norm.isf(0.025)
    found = recomputed(spec, DATA)
    assert dict(zip(figures(spec), found, strict=True)) == {
        "odds ratio": pytest.approx(3),
        "odds ratio ci low": pytest.approx(3 * np.exp(-z * se)),
        "odds ratio ci high": pytest.approx(3 * np.exp(z * se)),
        "risk ratio": pytest.approx(1.8),
        "risk ratio ci low": pytest.approx(1.8 * np.exp(-z * se_risk)),
        "risk ratio ci high": pytest.approx(1.8 * np.exp(z * se_risk)),
        "p": pytest.approx(2 * stats.norm.sf(np.log(3) / se)),
    }
    assert all(f.printed.prints(v) for f, v in zip(spec.figures[0], found, strict=True))


def test_exposure_event_level_and_p_of_the_risk_ratio(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, SHAPE + "exposed: 2\nodds_ratio: 3.00")
    assert recomputed(spec, DATA) == pytest.approx([3.0])  # odds of No, placebo against drug
    spec = spec_of(tmp_path, EVENT + "level: 0.9\nrisk_ratio_ci: [1.26, 2.57]\np: 0.007")
    se, z = np.sqrt(1 / 30 - 1 / 50 + 1 / 20 - 1 / 60), stats.norm.isf(0.05)
    ends = 1.8 * np.exp([-z * se, z * se])
    p = 2 * stats.norm.sf(np.log(1.8) / se)
    assert recomputed(spec, DATA) == pytest.approx([*ends, p])


def test_an_empty_cell_has_no_ratio(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, EVENT + "odds_ratio: 3.00")
    data = DATA[(DATA["ARM"] != 1) | (DATA["CURED"] != 0)]
    found = spec.outputs[0].recompute(data, np.ones(len(data)), spec.schema)
    assert np.isnan(found).all()


FAULTS = {
    "nothing": (EVENT, "6 outputs[0]: no figure is given; there are odds_ratio, odds_ratio_ci, risk_ratio, risk_ratio_ci, p"),
    "three": ("kind: odds_ratio\nrows: ARM\ncolumns: CURED\nodds_ratio: 3", "7 outputs[0].rows: 'ARM' has 3 values, not two; use where"),
    "one variable": ("kind: odds_ratio\nrows: CURED\ncolumns: CURED\nodds_ratio: 3", "8 outputs[0].columns: 'CURED' is named twice"),
    "event": (SHAPE + "event: 2\nodds_ratio: 3", "10 outputs[0].event: 'CURED' has no value '2' (known: 0, 1, 9)"),
    "negative": (EVENT + "odds_ratio: -3.0", "11 outputs[0].odds_ratio: -3.0 is not above 0"),
    "one end": (EVENT + "odds_ratio_ci: 1.2", "11 outputs[0].odds_ratio_ci: expected the two ends of the interval, [lower, upper]"),
    "ends": (EVENT + "odds_ratio_ci: [6.54, 1.38]", "11 outputs[0].odds_ratio_ci: 6.54 is larger than 1.38; write [lower, upper]"),
    "outside": (EVENT + "odds_ratio: 9.00\nodds_ratio_ci: [1.38, 6.54]", "11 outputs[0].odds_ratio: 9.00 is not between 1.38 and 6.54, the ends of its interval"),
}  # fmt: skip


@pytest.mark.parametrize(("output", "says"), FAULTS.values(), ids=FAULTS)
def test_faults(tmp_path: Path, output: str, says: str) -> None:
    assert faults(write(tmp_path, VARIABLES, output, RECORDS)) == [says]


def test_data_reprint_the_ratios(tmp_path: Path) -> None:
    variables = (
        'ARM: {categories: {1: Drug, 2: Placebo}}\nCURED: {categories: {1: "Yes", 0: "No"}}\n'
    )
    output = (
        "kind: odds_ratio\nrows: ARM\ncolumns: CURED\nodds_ratio: 3.00\n"
        "odds_ratio_ci: [1.38, 6.54]\nrisk_ratio: 1.80\np: '**'"
    )
    assert all_exact(write(tmp_path, variables, output, 110))
