"""Calibration: agreement with R's survey package, designs, bounds, and reasons for failing."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evosynth
from evosynth.errors import WeightsError
from evosynth.weights.column import told, write
from evosynth.weights.distance import METHODS, distance
from evosynth.weights.newton import independent

HERE = Path(__file__).parent / "weights"
SAMPLE = pd.read_csv(HERE / "sample.csv")
SEX = {1: 21000, 2: 22500}
REGION = {1: 12000, 2: 14500, 3: 17000}
MARGINS = {"SEX": SEX, "REGION": REGION}
WITH_INCOME = {**MARGINS, "INCOME": 43500 * 520}
CROSSED = {
    "SEX:REGION": {1: {1: 5800, 2: 7000, 3: 8200}, 2: {1: 6200, 2: 7500, 3: 8800}},
    "EDUC": {1: 13500, 2: 16000, 3: 14000},
}


@pytest.mark.parametrize(
    ("column", "totals", "method", "bounds"),
    [
        ("rake", MARGINS, "raking", None),
        ("rake_crossed", CROSSED, "raking", None),
        ("raking", WITH_INCOME, "raking", None),
        ("linear", WITH_INCOME, "linear", None),
        ("logit", WITH_INCOME, "logit", (0.4, 2.5)),
        ("truncated", WITH_INCOME, "truncated linear", (0.75, 1.35)),
    ],
)
def test_weights_agree_with_survey(column, totals, method, bounds):
    expected = pd.read_csv(HERE / "survey_weights.csv")[column].to_numpy()
    found = evosynth.calibrate(SAMPLE, totals, method=method, bounds=bounds, design="D")
    np.testing.assert_allclose(found.weights, expected, rtol=1e-6)
    assert found.max_relative_error < 1e-8


def test_bounds_that_bind_are_kept():
    found = evosynth.calibrate(
        SAMPLE, WITH_INCOME, method="truncated linear", bounds=(0.75, 1.35), design="D"
    )
    assert found.ratios.min() >= 0.75 - 1e-12
    assert found.ratios.max() <= 1.35 + 1e-12
    assert (np.isclose(found.ratios, 0.75) | np.isclose(found.ratios, 1.35)).any()


def test_margins_are_those_of_pandas():
    found = evosynth.calibrate(SAMPLE, {**MARGINS, "INCOME by SEX": {1: 1.05e7, 2: 1.2e7}})
    w = pd.Series(found.weights)
    rows = found.margins.set_index(["margin", "cell"])
    for sex, total in SEX.items():
        assert w[SAMPLE["SEX"] == sex].sum() == pytest.approx(total, rel=1e-10)
        assert rows.loc[("SEX", str(sex)), "records"] == (SAMPLE["SEX"] == sex).sum()
        before = 43500 / len(SAMPLE) * (SAMPLE["SEX"] == sex).sum()
        assert rows.loc[("SEX", str(sex)), "before"] == pytest.approx(before)
    income = (w * SAMPLE["INCOME"])[SAMPLE["SEX"] == 1].sum()
    assert income == pytest.approx(1.05e7, rel=1e-9)
    squares = len(w) * (w**2).sum() / w.sum() ** 2
    assert found.design_effect == pytest.approx(squares)
    assert found.effective_n == pytest.approx(len(w) / squares)


def test_informative_sampling_returns_to_the_truth():
    """PPS: the population has a mean of 500, the sample alone one of about 606.7."""
    from scipy import stats

    cv2 = 606.7 / 500 - 1
    size = 100_000
    population = stats.gamma.ppf((np.arange(size) + 0.5) / size, 1 / cv2, scale=500 * cv2)
    population *= 500 / population.mean()
    order = np.random.default_rng(4).permutation(size)
    running = np.cumsum(population[order])
    hits = np.searchsorted(running, (np.arange(4000) + 0.5) * running[-1] / 4000)
    x = population[order][hits]
    noisy = x * np.random.default_rng(5).normal(1, 0.1, len(x))
    frame = pd.DataFrame({"SIZE": x, "Y": noisy, "ALL": 1})
    assert x.mean() == pytest.approx(606.7, abs=3)
    design = {"proportional_to": "SIZE"}
    found = evosynth.calibrate(frame, {"total": size}, design=design)
    assert np.average(noisy, weights=found.weights) == pytest.approx(500, abs=5)
    assert found.weights.sum() == pytest.approx(size, rel=1e-12)
    found = evosynth.calibrate(frame, {"total": size, "SIZE": 500 * size}, design=design)
    assert np.average(x, weights=found.weights) == pytest.approx(500, rel=1e-10)


def test_strata_weigh_their_population():
    design = {"strata": "REGION", "sizes": {1: 100, 2: 900, 3: 50}}
    found = evosynth.calibrate(SAMPLE, {"total": 1050}, design=design)
    sums = pd.Series(found.weights).groupby(SAMPLE["REGION"]).sum()
    assert sums.tolist() == pytest.approx([100, 900, 50])


def test_scale_rounding_and_trimming():
    found = evosynth.calibrate(SAMPLE, MARGINS, scale="sample", design="D")
    assert found.weights.sum() == pytest.approx(len(SAMPLE), rel=1e-12)
    assert found.max_relative_error < 1e-8
    found = evosynth.calibrate(SAMPLE, MARGINS, round=0, design="D")
    assert (found.weights == np.rint(found.weights)).all()
    assert found.weights.sum() == 43500
    assert found.max_relative_error < 1e-3
    found = evosynth.calibrate(SAMPLE, MARGINS, trim=(0.6, 1.8), design="D")
    mean = found.weights.mean()
    assert found.weights.min() > 0.6 * mean - 1e-6
    assert found.weights.max() < 1.8 * mean + 1e-6
    assert found.max_relative_error < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_trimming_keeps_to_the_bounds_of_design_weights(method):
    bounds, trim = (0.5, 1.9), (0.5, 2.0)
    assert SAMPLE["D"].max() > 2.0 * SAMPLE["D"].mean()  # some start outside
    found = evosynth.calibrate(SAMPLE, MARGINS, method=method, bounds=bounds, trim=trim, design="D")
    ratios = found.weights / SAMPLE["D"]
    assert ratios.min() >= 0.5 - 1e-9
    assert ratios.max() <= 1.9 + 1e-9
    mean = found.weights.mean()
    assert found.weights.min() >= 0.5 * mean - 1e-6
    assert found.weights.max() <= 2.0 * mean + 1e-6
    assert found.max_relative_error < 1e-8


def test_trimming_against_the_bounds_is_refused():
    design = SAMPLE["D"].where(SAMPLE.index != 3, 10 * SAMPLE["D"].mean())
    frame = SAMPLE.assign(D=design)
    with pytest.raises(WeightsError, match="trim: 1 record has design weights that cannot come"):
        evosynth.calibrate(frame, MARGINS, bounds=(0.5, 2), trim=(0.2, 3), design="D")


@pytest.mark.parametrize("total", [0, 1e-5, 1e3, 1e8])
def test_totals_next_to_nothing_are_met_as_far_as_numbers_cancel(total):
    frame = SAMPLE.assign(BALANCE=1e9 * (SAMPLE["INCOME"] - SAMPLE["INCOME"].mean()))
    found = evosynth.calibrate(frame, {**MARGINS, "BALANCE": total})
    parts = (found.weights * frame["BALANCE"]).abs().sum()
    assert abs((found.weights * frame["BALANCE"]).sum() - total) < 1e-8 * max(total, 1e-4 * parts)
    assert found.max_relative_error < 1e-8


def test_categories_of_no_total_weigh_nothing_in_linear_calibration():
    found = evosynth.calibrate(SAMPLE, {"SEX": {1: 0, 2: 600}}, method="linear")
    assert (found.weights[SAMPLE["SEX"] == 1] == 0).all()
    assert found.summary()["zero"] == (SAMPLE["SEX"] == 1).sum()
    assert found.max_relative_error < 1e-8


@pytest.mark.parametrize(
    ("method", "bounds"), [("raking", None), ("logit", (0, 9)), ("truncated linear", (0, 9))]
)
def test_weights_that_only_tend_to_nothing_are_refused_where_none_may_be(method, bounds):
    frame = pd.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 1]})  # A=1 and B=1 has to be empty
    totals = {"A": {1: 10, 2: 20}, "B": {1: 20, 2: 10}}
    if method == "truncated linear":
        found = evosynth.calibrate(frame, totals, method=method, bounds=bounds)
        assert found.weights.tolist() == pytest.approx([0, 10, 10, 10], abs=1e-9)
        return
    with pytest.raises(WeightsError, match="weigh nothing|weights of 0"):
        evosynth.calibrate(frame, totals, method=method, bounds=bounds)


@pytest.mark.parametrize("method", ["raking", "linear", "truncated linear"])
def test_bounds_may_have_one_side(method, tmp_path):
    near = evosynth.calibrate(SAMPLE, WITH_INCOME, method=method, bounds=(0.8, 99), design="D")
    found = evosynth.calibrate(
        SAMPLE, WITH_INCOME, method=method, bounds=np.array([0.8, np.inf]), design="D"
    )
    np.testing.assert_allclose(found.weights, near.weights, rtol=1e-9)
    assert write(found, tmp_path)[0] == "weights.json"
    assert json.loads((tmp_path / "weights.json").read_text())["bounds"] == [0.8, None]
    above = {"bounds": (0, np.inf), "trim": (0.6, np.inf)}
    found = evosynth.calibrate(SAMPLE, MARGINS, method=method, **above, design="D")
    assert found.weights.min() > 0.6 * found.weights.mean() - 1e-6
    assert found.max_relative_error < 1e-8


@pytest.mark.parametrize(
    ("method", "how"),
    [
        ("raking", {}),
        ("logit", {"bounds": (0.3, 3)}),
        ("raking", {"trim": (0.32, 2.6)}),
        ("truncated linear", {"bounds": (0.6, 1.6)}),
    ],
)
def test_rounded_weights_keep_above_0_and_within_bounds(method, how):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"S": rng.integers(0, 2, 900), "R": rng.integers(0, 8, 900)})
    frame["D"] = np.exp(rng.normal(1.4, 0.5, 900)) + 1.3 * (method == "truncated linear")
    totals = {"S": {0: 2400, 1: 2300}, "R": dict.fromkeys(range(8), 587.5)}
    plain = evosynth.calibrate(frame, totals, method=method, design="D", **how)
    assert plain.weights.min() < 1 or how  # so that rounding might take one to 0
    found = evosynth.calibrate(frame, totals, method=method, design="D", round=0, **how)
    assert (found.weights == np.rint(found.weights)).all()
    assert found.weights.min() >= 1
    assert found.weights.sum() == 4700
    assert (found.margins["after"] - found.margins["total"]).abs().max() < 10
    if "bounds" in how:
        ratios = found.weights / frame["D"]
        assert how["bounds"][0] - 1e-9 < ratios.min() and ratios.max() < how["bounds"][1] + 1e-9
    if "trim" in how:
        shares = found.weights / (4700 / 900)
        assert how["trim"][0] - 1e-9 < shares.min() and shares.max() < how["trim"][1] + 1e-9


def test_zeros_of_methods_that_allow_them_may_be_rounded():
    frame = pd.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 1]})
    totals = {"A": {1: 10, 2: 20}, "B": {1: 20, 2: 10}}
    found = evosynth.calibrate(frame, totals, method="truncated linear", bounds=(0, 9), round=0)
    assert found.weights.tolist() == [0, 10, 10, 10]
    assert "1 weight is 0, as the truncated linear method allows." in told(found)


def test_rounding_that_costs_much_is_not_called_met():
    found = evosynth.calibrate(SAMPLE, WITH_INCOME, round=0)
    assert any("totals met but for rounding, the largest" in line for line in told(found))


def test_shares_are_scaled_to_a_population():
    found = evosynth.calibrate(SAMPLE, {"SEX": {1: 49, 2: 51}}, population=2000)
    assert found.weights[SAMPLE["SEX"] == 1].sum() == pytest.approx(980)


def test_csv_files_say_the_same(tmp_path):
    crossed, stacked = tmp_path / "crossed.csv", tmp_path / "stacked.csv"
    crossed.write_text(
        "SEX,REGION,total\n"
        + "".join(
            f'{s},{r},"{v:,}"\n' for s, row in CROSSED["SEX:REGION"].items() for r, v in row.items()
        )
    )
    stacked.write_text(
        "variable,value,total\nEDUC,1,13500\nEDUC,2,16000\nEDUC,3,14000\nINCOME,,22000000\n"
    )
    found = evosynth.calibrate(SAMPLE, [crossed, stacked])
    expected = evosynth.calibrate(SAMPLE, {**CROSSED, "INCOME": 22_000_000})
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)


@pytest.mark.parametrize("apart", [",", ";", "\t"])
def test_csv_files_may_be_set_apart_otherwise_and_leave_missing_values_blank(tmp_path, apart):
    file = tmp_path / "t.csv"
    rows = [("G", "total"), ("1.0", "5"), ("", "18")]
    file.write_text("".join(apart.join(row) + "\n" for row in rows))
    found = evosynth.calibrate(pd.DataFrame({"G": [1, None, None]}), file)
    assert found.weights.tolist() == pytest.approx([5, 9, 9])


def test_texts_and_missing_values_are_categories():
    frame = pd.DataFrame({"G": ["a", "b", None, "b"]})
    found = evosynth.calibrate(frame, {"G": {"a": 5, "b": 6, "missing": 7}})
    assert found.weights.tolist() == pytest.approx([5, 3, 7, 3])


NUMBERS = pd.Series([1, 2, 2])


@pytest.mark.parametrize(
    ("values", "totals"),
    [
        (NUMBERS, {1.0: 5, 2.0: 6}),
        (NUMBERS, {"1.0": 5, "2.00": 6}),
        (NUMBERS, {np.float64(1): 5, np.int8(2): 6}),
        (NUMBERS, pd.Series({1: 5, 2: 6})),
        ((NUMBERS * 200 - 300).astype("int8"), {-100: 5, 100: 6}),
        (NUMBERS.astype("uint64") + 2**63, {2**63 + 1: 5, 2**63 + 2: 6}),
        (pd.Series(["1", 2, 2.0], dtype=object), {1: 5, 2: 6}),
        (NUMBERS == 1, {True: 5, False: 6}),
        (NUMBERS == 1, {"true": 5, "FALSE": 6}),
        (NUMBERS == 1, {1: 5, 0: 6}),
        (2 - NUMBERS, {True: 5, False: 6}),
        (pd.Series([1, None, None]), {1: 5, None: 6}),
        (pd.Series([1, None, None], dtype="Int64"), {1: 5, pd.NA: 6}),
        (pd.Series(["a", "missing", None]), {"a": 5, float("nan"): 6}),
        (
            pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]),
            {pd.Timestamp("2020-01-01"): 5, pd.Timestamp("2020-01-02"): 6},
        ),
    ],
)
def test_values_are_found_however_they_are_written(values, totals):
    found = evosynth.calibrate(pd.DataFrame({"G": values}), {"G": totals})
    assert found.weights.tolist() == pytest.approx([5, 3, 3])


def test_tables_of_pandas_are_totals():
    table = pd.crosstab(SAMPLE["SEX"], SAMPLE["REGION"]) * 10
    for crossed in (table, table.stack(), table.stack().to_dict()):
        found = evosynth.calibrate(SAMPLE, {("SEX", "REGION"): crossed})
        np.testing.assert_allclose(found.weights, 10)


def test_sums_beside_their_parts_are_checked_and_left_out(tmp_path):
    plain = evosynth.calibrate(SAMPLE, CROSSED)
    rows = CROSSED["SEX:REGION"]
    rows = {sex: {**row, "total": sum(row.values())} for sex, row in rows.items()}
    ends = {region: rows[1][region] + rows[2][region] for region in (1, 2, 3)}
    rows["Total"] = {**ends, "total": 43500}
    education = {**CROSSED["EDUC"], "total": 43500}
    found = evosynth.calibrate(SAMPLE, {"SEX:REGION": rows, "EDUC": education})
    np.testing.assert_allclose(found.weights, plain.weights)
    file = tmp_path / "t.csv"
    file.write_text("SEX,total\n1,21000\n2,22500\nTotal,43500\n")
    assert evosynth.calibrate(SAMPLE, file).weights.sum() == pytest.approx(43500)
    file.write_text("SEX,total\n1,21000\n2,22500\nTotal,43501\n")
    with pytest.raises(WeightsError, match="SEX=Total is 43501, but its parts sum to 43500"):
        evosynth.calibrate(SAMPLE, file)


def test_a_value_has_one_total():
    frame = pd.DataFrame({"G": [1, 2]})
    with pytest.raises(WeightsError, match="G.1: 1 stands there twice"):
        evosynth.calibrate(frame, {"G": {1: 5, "1": 6, 2: 4}})
    with pytest.raises(WeightsError, match="G: G=1.0 is the same as G=1"):
        evosynth.calibrate(frame, {"G": {1: 5, "1.0": 6, 2: 4}})


def test_strata_need_sizes_only_where_there_are_records():
    frame = pd.DataFrame({"G": [1, 3, 3]})
    design = {"strata": "G", "sizes": {"1.0": 10, 3: 40}}
    assert evosynth.calibrate(frame, {"total": 50}, design=design).weights.tolist() == [10, 20, 20]


FAILURES = [
    ({"SEXX": SEX}, {}, "SEXX: the data have no variable 'SEXX' (did you mean 'SEX'?)"),
    (
        {"SEX": {1: 5, 2: 6, 3: 7}},
        {},
        "SEX: the total of SEX=3 is 7, but no record has that; merge it with another category",
    ),
    (
        {"SEX": {1: 5}},
        {},
        "SEX: no total for SEX=2, which 187 records have; add one, or leave these records out",
    ),
    (
        {"SEX": SEX, "REGION": {1: 1, 2: 2, 3: 3}},
        {},
        "the totals of SEX sum to 43500, those of REGION to 6; make them agree, or give the "
        "population to scale them to",
    ),
    (
        {"SEX": {1: 0, 2: 10}},
        {},
        "the total of SEX=1 is 0, but 213 records have that, and raking makes no weight 0; "
        "leave these records out",
    ),
    (MARGINS, {"method": "logit"}, "bounds: logit needs them, such as [0.3, 3]"),
    (MARGINS, {"method": "magic"}, "method: there is no 'magic'; there are " + ", ".join(METHODS)),
    (MARGINS, {"bounds": (1.2, 3)}, "bounds: [1.2, 3] must lie around 1, from 0 up"),
    (
        MARGINS,
        {"method": "logit", "bounds": (0.2, np.inf)},
        "bounds: logit needs a finite upper one; raking does without",
    ),
    (MARGINS, {"name": " "}, "name: expected the name of a column, not ' '"),
    (MARGINS, {"round": True}, "round: decimals from 0 to 9, not True"),
    (
        {"SEX": {1: 0, 2: 0}},
        {"method": "linear"},
        "the totals of SEX sum to 0; there is nobody that records stand for",
    ),
    ({"SEX": {1: "x", 2: 5}}, {}, "SEX.1: 'x' is not a number"),
    ({"SEX": 5, "SEX:REGION": 6}, {}, "SEX:REGION: expected a total for each cell of SEX, REGION"),
    (
        {
            "SEX": SEX,
            "SEX:REGION": {1: {1: 5800, 2: 7000, 3: 8300}, 2: {1: 6100, 2: 7500, 3: 8800}},
        },
        {},
        "follows from",
    ),
    (MARGINS, {"round": 0, "scale": "sample"}, "weights would be rounded to 0"),
    (MARGINS, {"design": "SMOKE"}, "design: 231 records have no number above 0 in 'SMOKE'"),
    ({}, {}, "there are no totals"),
    (MARGINS, {"bounds": 3}, "bounds: expected two numbers, such as (0.3, 3), not 3"),
    (MARGINS, {"trim": (None, 3)}, "trim: expected two numbers, such as (0.3, 3), not (None, 3)"),
    (MARGINS, {"round": "x"}, "round: decimals from 0 to 9, not 'x'"),
    (MARGINS, {"population": "x"}, "population: must be a number above 0, not 'x'"),
    (MARGINS, {"design": ["D"]}, "design: expected a variable or a mapping, not ['D']"),
    (
        MARGINS,
        {"design": {"strata": "SEX", "sizes": {1: "x"}}},
        "design: sizes: expected {stratum: population}, not {1: 'x'}",
    ),
]


@pytest.mark.parametrize(("totals", "options", "message"), FAILURES)
def test_every_failure_has_its_reason(totals, options, message):
    with pytest.raises(WeightsError) as error:
        evosynth.calibrate(SAMPLE, totals, **options)
    assert message in str(error.value)


def test_days_are_no_quantities():
    frame = pd.DataFrame({"D": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(WeightsError, match="D: that variable holds no numbers"):
        evosynth.calibrate(frame, {"D": 5})


def test_only_one_frame_with_one_variable_of_a_name_will_do():
    with pytest.raises(WeightsError, match="expected a pandas data frame, not list"):
        evosynth.calibrate([1, 2], {"total": 5})
    twice = pd.concat([SAMPLE, SAMPLE[["SEX", "D"]]], axis=1)
    with pytest.raises(WeightsError, match="SEX: the data have several variables 'SEX'"):
        evosynth.calibrate(twice, {"SEX": SEX})
    with pytest.raises(WeightsError, match="design: the data have several variables 'D'"):
        evosynth.calibrate(twice, {"REGION": REGION}, design="D")


def test_numbers_may_name_variables_and_days_be_values():
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"])
    frame = pd.DataFrame({0: days, 1: [1.0, 2.0, 1.0], 2: [2.0, 1.0, 1.0]})
    totals = {0: {"2020-01-01": 3, "2020-01-02": 5}, "1": {1: 4, 2: 4}}
    found = evosynth.calibrate(frame, totals, design="2")
    assert found.weights.tolist() == pytest.approx([3, 4, 1])


def test_conflicts_are_named():
    """A cell that must hold more than both of its margins allow within the bounds."""
    with pytest.raises(WeightsError) as error:
        evosynth.calibrate(SAMPLE, MARGINS, method="logit", bounds=(0.98, 1.02))
    text = str(error.value)
    assert "logit does not reach the totals: no weights within the bounds" in text
    assert "instead of 17,000" in text
    assert "widen the bounds" in text
    frame = pd.DataFrame({"A": [1, 1, 2, 2], "B": [1, 1, 2, 1]})
    with pytest.raises(WeightsError, match="B=2: .* instead of 6"):
        evosynth.calibrate(frame, {"A": {1: 6, 2: 4}, "B": {1: 4, 2: 6}})


def test_conflicts_of_quantities_are_told_in_their_own_units():
    frame = pd.DataFrame({"X": [1.0, 2.0, 3.0, 4.0], "Y": [10.0, 20.0, 30.0, 40.0]})
    with pytest.raises(WeightsError, match=r"\n  X: 20 instead of 21\n"):
        evosynth.calibrate(frame, {"total": 5, "X": 21})
    with pytest.raises(WeightsError, match=r"\n  X: 0 instead of -50\n"):
        evosynth.calibrate(frame, {"X": -50})
    either = "X is 12, .* follows from Y to be 15|Y is 150, .* follows from X to be 120"
    with pytest.raises(WeightsError, match=either):
        evosynth.calibrate(frame, {"X": 12, "Y": 150})


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    method=st.sampled_from(["raking", "linear"]),
    factor=st.floats(0.01, 100),
)
def test_scaling_and_order_do_not_matter(seed, method, factor):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(SAMPLE))
    first = evosynth.calibrate(SAMPLE, WITH_INCOME, method=method, design="D")
    moved = SAMPLE.iloc[order].assign(D=lambda f: factor * f["D"]).reset_index(drop=True)
    larger = {
        "SEX": {k: factor * v for k, v in SEX.items()},
        "REGION": {k: factor * v for k, v in REGION.items()},
        "INCOME": factor * 43500 * 520,
    }
    second = evosynth.calibrate(moved, larger, method=method, design="D")
    np.testing.assert_allclose(second.weights, factor * first.weights[order], rtol=1e-7)


def test_columns_that_follow_from_others_are_found():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 4, (300, 3))
    margins = np.hstack([codes[:, [k]] == np.arange(4) for k in range(3)]).astype(float)
    x = rng.normal(5, 1, 300)
    columns = np.column_stack([margins, x, 3 * x + margins[:, 2], np.zeros(300)])
    kept = independent(columns.T @ columns)
    assert kept.sum() == np.linalg.matrix_rank(columns) == 11
    assert np.linalg.matrix_rank(columns[:, kept]) == 11
    assert not kept[-1]


@pytest.mark.parametrize("method", METHODS)
def test_slopes_and_integrals_belong_to_their_function(method):
    f = distance(method, np.array(0.4), np.array(2.5))
    u = np.linspace(-2, 2, 81) + 0.0123
    h = 1e-6
    assert float(f.ratio(np.zeros(1))[0]) == pytest.approx(1)
    smooth = (f.ratio(u) > 0.4 + 1e-9) & (f.ratio(u) < 2.5 - 1e-9)
    slope = (f.ratio(u + h) - f.ratio(u - h)) / (2 * h)
    np.testing.assert_allclose(f.slope(u)[smooth], slope[smooth], atol=1e-6)
    rise = (f.dual(u + h) - f.dual(u - h)) / (2 * h)
    np.testing.assert_allclose(f.ratio(u), rise, atol=1e-6)


def test_plot_is_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg"):
        evosynth.calibrate(SAMPLE, MARGINS, design="D").plot(tmp_path / name)
    text = (tmp_path / "one.svg").read_bytes()
    assert text == (tmp_path / "two.svg").read_bytes()
    assert b"effective sample size" in text
