import numpy as np
import pandas as pd
import pytest

from evosynth.errors import RiskError
from evosynth.risk.coding import apart, encode
from evosynth.weights.coding import LABELS


def code(original, synthetic, **more):
    frames = {
        "original": pd.DataFrame({"x": original}),
        "synthetic": pd.DataFrame({"x": synthetic}),
    }
    return encode(frames, ["x"], **more)["x"]


def test_the_same_value_is_one_level_however_it_is_stored():
    found = code([1, 2, 10], pd.Series(["10", "1", "3"]))
    assert found.levels == ("1", "2", "3", "10")
    assert found.codes["original"].tolist() == [0, 1, 3]
    assert found.codes["synthetic"].tolist() == [3, 0, 2]
    days = ["2020-01-31", "2020-02-01"]
    assert code(days, pd.to_datetime(pd.Series(days))).levels == tuple(days)
    assert code([1.0, np.nan], pd.array([1, None], dtype="Int64")).levels == ("1", "missing")


def test_missing_values_on_one_side_are_a_level_of_both():
    found = code(["a", None], ["a", "b"])
    assert found.levels == ("a", "b", "missing") and found.missing == 2
    assert found.codes["original"].tolist() == [0, 2]
    assert code(["a"], ["b"]).missing == -1
    assert code(["a", ""], ["a", None]).codes["original"].tolist() == [0, 1], "blank is missing"


def test_categories_are_their_values():
    found = code(pd.Categorical(["b", "a"], categories=["b", "a"]), ["a", "b"])
    assert found.codes["original"].tolist() == [1, 0]


def test_groups_of_equal_size_are_cut_where_the_original_says():
    found = code(list(range(100)), [0, 25, 99, 1000, None], bins={"x": 4})
    assert np.bincount(found.codes["original"]).tolist() == [25, 25, 25, 25]
    assert found.codes["synthetic"].tolist() == [0, 1, 3, 3, 4]
    assert found.levels[0].startswith("below ") and found.levels[-1] == "missing"


def test_cut_points():
    found = code([19, 20, 39, 40], [0, 100, 20, 20], bins={"x": [20, 40]})
    assert found.levels == ("below 20", "20 to below 40", "40 or more")
    assert found.codes["original"].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("original", "more", "message"),
    [
        (
            range(21),
            {},
            "'x' has 21 different numbers; add --bins x=10, or --categorical x to take each number "
            "as it is",
        ),
        (["a"], {"bins": {"x": 10}}, "bins: 'x' holds texts in the original data; leave it out"),
        ([1], {"bins": {"x": 1}}, "bins: x=1 must be 2 groups or more"),
        ([1], {"bins": {"x": [3, 2]}}, "bins: cut points of 'x' must be numbers in rising order"),
        ([1], {"bins": {"y": 3}}, "bins: 'y' is neither a key nor a target"),
        ([], {}, "original: there are no records"),
    ],
)
def test_what_cannot_be_coded_is_told_with_a_remedy(original, more, message):
    with pytest.raises(RiskError) as error:
        code(list(original), [1], **more)
    assert str(error.value) == message


def test_numbers_may_be_declared_or_few():
    assert code(range(21), [1], categorical=["x"]).size == 21
    assert code(range(21), [1], categorical=["all"]).size == 21
    assert code(range(20), [1]).size == 20
    assert code([str(i) for i in range(50)], ["1"]).size == 50


def test_all_columns_that_are_missing_are_named_at_once():
    frames = {"original": pd.DataFrame({"age": [1]}), "holdout": pd.DataFrame({"sex": [1]})}
    with pytest.raises(RiskError) as error:
        encode(frames, ["age", "sex"])
    assert str(error.value).splitlines() == [
        "original: no column 'sex' (known: age)",
        "holdout: no column 'age' (known: sex)",
    ]


@pytest.mark.parametrize(
    ("original", "synthetic"),
    [
        ([0, 1], [False, True]),
        ([False, True], [0, 1]),
        ([False, True], ["false", "TRUE"]),
        (["false", "true"], [False, True]),
        ([0, 1], ["0.0", "1.0"]),
        ([0, 1], pd.array([0, 1], dtype="Float64")),
    ],
)
def test_numbers_and_truth_are_written_as_in_the_original(original, synthetic):
    found = code(original, synthetic)
    assert found.size == 2
    assert found.codes["original"].tolist() == found.codes["synthetic"].tolist() == [0, 1]
    assert found.levels == tuple(str(value) for value in original)


def test_text_that_only_looks_like_a_number_stays():
    assert code(["01", "1.50", "1e0"], [1, 1.5]).size == 5


@pytest.mark.parametrize("coded", ["original", "synthetic"])
def test_labels_and_codes_are_the_same(coded):
    labels = pd.Series(["Men", "Women", "Men", "x"])
    codes = pd.DataFrame({"x": [1.0, 2.0, 1.0, 3.0]})
    codes.attrs[LABELS] = {"x": {"Men": "1", "Women": "2"}}
    other = "synthetic" if coded == "original" else "original"
    found = encode({coded: codes, other: pd.DataFrame({"x": labels})}, ["x"])["x"]
    first, second = found.codes[coded], found.codes[other]
    assert (first[:3] == second[:3]).all() and first[3] != second[3]
    assert found.find("Men") == found.levels[first[0]]


def test_data_that_have_no_level_in_common_are_told():
    found = code(["a", "b", None], [1, 2, None])
    assert apart({"x": found}, []) == [
        "'x': the synthetic data have no level of the original (a, b, …), but others (1, 2, …); "
        "code both alike"
    ]
    assert apart({"x": found}, ["x"]) == []
    assert apart({"x": code(["a", "b"], ["b", "c"])}, []) == []
    assert apart({"x": code(["a", "b"], ["c"])}, []) == [], "a single level may well be another"
