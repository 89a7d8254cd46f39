import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_measures import plain

import evosynth
from evosynth.errors import DataError, RiskError
from evosynth.kernels import attribution as kernel
from evosynth.risk.coding import encode
from evosynth.risk.keys import paste

NAMES = ["key1", "key2", "target"]
ORIGINAL = pd.DataFrame(
    [(1, 2, 3)] * 2 + [(4, 12, 4)] * 2 + [(4, 12, 9), (5, 12, 10)], columns=NAMES
)
SYNTHETIC = pd.DataFrame([(1, 2, 3), (1, 2, 5)] + [(4, 12, 4)] * 3 + [(5, 12, 10)], columns=NAMES)


def toy(**more):
    return evosynth.risk(SYNTHETIC, ORIGINAL, keys=["key1", "key2"], target="target", **more)


def values(found, target="target"):
    identity = {name: share.value for name, share in found.identity.items()}
    return {**identity, **found.attributions[target].values}


def test_the_toy_table_of_the_literature():
    expected = {
        "UiO": "16.67", "repU": "16.67", "Dorig": "50.00", "Dsyn": "66.67", "iS": "100.00",
        "DiS": "66.67", "DiSCO": "50.00", "DiSDiO": "16.67", "DCAP": "66.67", "CAPd": "77.78",
        "CAPs": "83.33", "baseCAPd": "27.78", "TCAP over all": "50.00",
        "TCAP over matched": "50.00", "TCAP over disclosive": "75.00",
    }  # fmt: skip
    found = values(toy())
    assert {name: f"{found[name]:.2f}" for name in expected} == expected
    # Calibrated: (75 - 27.78) / (100 - 27.78).
    assert found["TCAP over disclosive, calibrated"] == pytest.approx(100 * 17 / 26)
    assert found["largest denominator"] == 2 and found["mean denominator"] == 1.5


def test_keys_that_match_nobody_leave_tcap_undefined():
    strangers = SYNTHETIC.assign(key1=99)
    found = values(evosynth.risk(strangers, ORIGINAL, keys=["key1"], target="target"))
    assert found["TCAP over all"] == 0 and found["DiSCO"] == 0
    assert math.isnan(found["TCAP over matched"]) and math.isnan(found["TCAP over disclosive"])
    assert math.isnan(found["TCAP over disclosive, calibrated"])
    assert math.isnan(found["DCAP over matched"]) and math.isnan(found["mean denominator"])


def test_a_value_believed_from_two_thirds_on():
    # Key (4, 12) has target 4 in all three synthetic records; (1, 2) is split, one to one.
    more = pd.concat([SYNTHETIC, SYNTHETIC.iloc[[0]]], ignore_index=True)  # (1, 2): 3 twice, 5 once
    strict = evosynth.risk(more, ORIGINAL, keys=["key1", "key2"], target="target")
    loose = evosynth.risk(more, ORIGINAL, keys=["key1", "key2"], target="target", tau=2 / 3)
    assert values(strict)["DiSCO"] == pytest.approx(50)
    assert values(loose)["DiSCO"] == pytest.approx(100 * 5 / 6)
    assert values(loose)["TCAP over disclosive"] == pytest.approx(100 * 5 / 6)
    with pytest.raises(RiskError, match=r"tau: must be above 0\.5"):
        toy(tau=0.5)


def test_an_intruder_may_act_on_keys_of_some_sizes_only():
    assert values(toy(classes=(2, 0)))["DiSCO"] == pytest.approx(100 * 2 / 6)  # (4, 12) alone
    assert values(toy(classes=(1, 1)))["DiSCO"] == pytest.approx(100 / 6)  # (5, 12) alone
    assert values(toy(classes=(2, 2)))["TCAP over disclosive"] != values(toy())["DiSCO"]
    assert math.isnan(values(toy(classes=(7, 0)))["TCAP over disclosive"])


@pytest.mark.parametrize(
    ("exclude", "largest", "dorig", "disco"),
    [
        (["target=4"], 0, 3, 1),
        (["target=10"], 0, 2, 2),
        (["key1=4&target=4"], 0, 3, 1),
        (["key1=1&target=4"], 0, 3, 3),
        ([], 1, 1, 1),
    ],
)
def test_exclusions_stop_cells_from_counting(exclude, largest, dorig, disco):
    found = toy(exclude=exclude, largest=largest)
    assert found.attributions["target"].shares["Dorig"].count == dorig
    assert found.attributions["target"].shares["DiSCO"].count == disco
    # Identity comes before exclusions that hang on a target.
    assert values(found)["UiO"] == pytest.approx(100 / 6)


def test_one_exclusion_needs_no_list_and_numbers_may_be_written_otherwise():
    assert toy(exclude="target=4.0").table.equals(toy(exclude=["target=4"]).table)
    assert not toy(exclude="target=4").table.equals(toy().table)
    with pytest.raises(RiskError, match=r"'target' has no level 'four' \(known: 3, 4, 5, 9, 10\)"):
        toy(exclude="target=four")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"threshold": "ten"}, "threshold: expected a whole number, not 'ten'"),
        ({"bootstrap": 2.5}, "bootstrap: expected a whole number, not 2.5"),
        ({"tau": "1"}, "tau: expected a number, not '1'"),
        ({"classes": 5}, "classes: expected two whole numbers, not 5"),
        ({"bins": 5}, "bins: expected {variable: groups}, not 5"),
        ({"bins": {"key1": "5"}}, "bins: cut points of 'key1' must be numbers in rising order"),
    ],
)
def test_settings_of_another_kind_are_refused_in_words(how, message):
    with pytest.raises(RiskError) as error:
        toy(**how)
    assert message in str(error.value)


def test_data_of_another_coding_are_refused():
    other = pd.DataFrame({"k": ["a", "b"], "t": [0, 1]})
    with pytest.raises(RiskError, match="'k': the synthetic data have no level of the original"):
        evosynth.risk(other, other.assign(k=[1, 2]), keys=["k"], target="t")
    with pytest.raises(RiskError, match="original: 'k' holds no single values"):
        evosynth.risk(other, other.assign(k=[[1], [2]]), keys=["k"], target="t")
    with pytest.raises(DataError, match="expected a data frame or the name of a file, not list"):
        evosynth.risk([1], other, keys=["k"], target="t")


def test_missing_values_are_a_level_unless_they_are_excluded():
    original = pd.DataFrame({"k": ["a", "a", None, None, "b"], "t": ["x", "x", "y", "y", None]})
    found = evosynth.risk(original, original, keys=["k"], target="t")
    assert found.attributions["t"].shares["Dorig"].count == 5
    without = evosynth.risk(original, original, keys=["k"], target="t", exclude=["missing-targets"])
    assert without.attributions["t"].shares["Dorig"].count == 4
    without = evosynth.risk(original, original, keys=["k"], target="t", exclude=["missing-keys"])
    assert without.attributions["t"].shares["Dorig"].count == 3
    assert without.identity["UiO"].count == 1


def test_small_groups_are_counted():
    below = {row["k"]: (row["original"], row["synthetic"]) for row in toy().anonymity}
    assert below == {2: (1, 1), 3: (3, 3), 5: (6, 6), 10: (6, 6)}


def test_replicated_uniques_within_p_per_cent():
    original = pd.DataFrame(
        {"k": [1, 2, 3, 3], "pay": [100.0, 200.0, 5.0, 6.0], "age": [20, 30, 1, 1]}
    )
    synthetic = pd.DataFrame(
        {"k": [1, 2, 3, 9], "pay": [104.0, 260.0, 5.0, 0.0], "age": [25, 30, 1, 1]}
    )
    found = evosynth.risk(
        synthetic, original, keys=["k"], target="age", p=5, confidential=["pay", "age"],
    )  # fmt: skip
    # Key 1 is near in pay alone, key 2 in age alone; key 3 is not unique.
    assert {name: share.count for name, share in found.near.items()} == {
        "within p % in at least one": 2,
        "within p % in all": 0,
    }
    closer = synthetic.assign(age=[20, 30, 1, 1])
    again = evosynth.risk(
        closer, original, keys=["k"], target="age", p=5, confidential=["pay", "age"]
    )
    assert again.near["within p % in all"].count == 1
    assert not toy().near, "p must be given"


def frames(draw, size, levels):
    value = st.sampled_from([*range(levels), None])
    rows = draw(st.lists(st.tuples(value, value, value), min_size=1, max_size=size))
    return pd.DataFrame(rows, columns=["a", "b", "t"], dtype=object)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_all_measures_are_those_of_plain_loops(data):
    original, synthetic = (frames(data.draw, 14, 3) for _ in range(2))
    found = values(evosynth.risk(synthetic, original, keys=["a", "b"], target="t"), "t")
    for name, value in plain(original, synthetic, ["a", "b"], "t").items():
        assert found[name] == pytest.approx(value, nan_ok=True), name


def test_the_order_of_records_and_keys_says_nothing():
    rng = np.random.default_rng(1)
    original, synthetic = (
        pd.DataFrame(rng.integers(0, 5, (300, 4)), columns=list("abct")) for _ in range(2)
    )
    found = evosynth.risk(synthetic, original, keys=["a", "b", "c"], target="t")
    mixed = evosynth.risk(
        synthetic.sample(frac=1, random_state=1),
        original.sample(frac=1, random_state=2),
        keys=["c", "a", "b"],
        target="t",
    )
    assert found.table.equals(mixed.table.reindex(columns=found.table.columns)) or np.allclose(
        found.table, mixed.table, equal_nan=True
    )


def test_many_keys_that_overflow_one_number_are_pasted_all_the_same():
    rng = np.random.default_rng(2)
    names = [f"k{i}" for i in range(14)]
    original = pd.DataFrame(rng.integers(0, 60, (200, 14)) * 1, columns=names)
    original["t"] = rng.integers(0, 2, 200)
    columns = encode({"original": original, "synthetic": original}, [*names, "t"], None, ["all"])
    assert math.prod(columns[name].size for name in names) > 2**62
    keys = paste(columns, names, ("original", "synthetic"))
    assert len(keys.d) == len(original.drop_duplicates(names)) and (keys.d == keys.s).all()


def test_kernels_do_compiled_what_they_do_in_python():
    rng = np.random.default_rng(3)
    values_ = rng.integers(0, 2**40, 4000) // 2**30
    for one, other in zip(
        kernel.number_values(values_), _silent(kernel.number_values.py_func, values_), strict=True
    ):
        assert np.array_equal(one, other)
    ids = kernel.number_values(values_)[0]
    n = int(ids.max()) + 1
    assert all(
        np.array_equal(a, b)
        for a, b in zip(kernel.sort_by_key(ids, n), kernel.sort_by_key.py_func(ids, n), strict=True)
    )
    target = rng.integers(0, 3, 4000).astype(np.int32)
    start, order = kernel.sort_by_key(ids, n)
    given_ = start, order, target, start, order, target[::-1].copy(), 3
    cells = kernel.tabulate(*given_)
    assert all(
        np.array_equal(a, b) for a, b in zip(cells, kernel.tabulate.py_func(*given_), strict=True)
    )
    begin, _, d, s = cells
    out = rng.random(len(d)) < 0.1
    one, other = np.zeros(len(d), np.int64), np.zeros(len(d), np.int64)
    sums = kernel.sum_cells(begin, d, s, out, 9, 0.8, 1, 0, one)
    assert np.allclose(sums, kernel.sum_cells.py_func(begin, d, s, out, 9, 0.8, 1, 0, other))
    assert np.array_equal(one, other)


def _silent(function, *arguments):
    with np.errstate(over="ignore"):
        return function(*arguments)


GOLDENS = Path(__file__).parent / "sdmetrics_cap.json"


@pytest.mark.parametrize(
    "case", json.loads(GOLDENS.read_text()), ids=lambda case: str(case["seed"])
)
def test_cap_scores_are_those_of_sdmetrics(case):
    rng = np.random.default_rng(case["seed"])
    original, synthetic = (
        pd.DataFrame(rng.integers(0, case["levels"], (case["records"], 4)), columns=list("abct"))
        for _ in range(2)
    )
    found = values(evosynth.risk(synthetic, original, keys=["a", "b", "c"], target="t"), "t")
    assert 1 - found["DCAP over matched"] / 100 == pytest.approx(case["CategoricalCAP"], abs=1e-12)
    assert 1 - found["DCAP"] / 100 == pytest.approx(case["CategoricalZeroCAP"], abs=1e-12)
