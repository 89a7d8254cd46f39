"""Figures that clash only through several others: found with their amount, never in truths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evosynth
from evosynth.errors import SpecError
from evosynth.proof import verify

SPEC = """\
records: {records}
variables:
  A: {{categories: {{1: one, 2: two}}}}
  B: {{categories: {{x: ex, y: why, z: zed}}}}
  C: {{categories: {{1: one, 2: two}}}}
  X: {{integer: [0, 20]}}
  Y: {{integer: [0, 20], missing: true}}
outputs:
"""
A_BY_C = "{kind: crosstab, rows: A, columns: C, counts: {1: [30, 10], 2: [20, 40]}}"
GROUPS = (
    "{kind: summary, of: X, by: A, n: {1: 40, 2: 60}, mean: {1: 8.0, 2: 9.5}, sd: {1: 3.0, 2: 3.5}}"
)

CASES = {
    "three tables of which any two agree": (
        [
            "{kind: crosstab, rows: A, columns: C, counts: {1: [50, 0], 2: [0, 50]}}",
            "{kind: crosstab, rows: C, columns: B, counts: {1: [50, 0, 0], 2: [0, 25, 25]}}",
            "{kind: crosstab, rows: A, columns: B, counts: {1: [45, 5, 0], 2: [5, 20, 25]}}",
        ],
        [
            "outputs[2]: clashes with outputs[0] and outputs[1] together: beside that A=1, B=x "
            "comes to 50 records, not 45 (off by 5); A=1, B=y comes to 0 records, not 5 (off by 5)"
        ],
    ),
    "row percentages and column counts": (
        [
            "{kind: crosstab, rows: A, columns: C, "
            "row_percentages: {1: [40.0, 60.0], 2: [55.0, 45.0]}}",
            "{kind: frequencies, of: C, counts: {1: 70, 2: 30}}",
        ],
        ["outputs[1]: clashes with outputs[0]: beside that C=1 comes to 55 records, not 70"],
    ),
    "row percentages of one table and column percentages of another": (
        [
            "{kind: crosstab, rows: A, columns: C, row_percentages: {1: [90, 10], 2: [80, 20]}}",
            "{kind: frequencies, of: A, counts: {1: 10, 2: 90}}",
            "{kind: crosstab, rows: C, columns: A, row_percentages: {2: [50, 50]}}",
        ],
        [
            "outputs[2]: clashes with outputs[0] and outputs[1] together: ",
            "the share of C=2, A=1 in C=2 comes to 5.645 %, not 49.5 to 50.5 % (off by 44)",
            "not 49.5 to 50.5 %",
        ],
    ),
    "means of groups and of all": (
        [
            "{kind: frequencies, of: A, counts: {1: 40, 2: 60}}",
            "{kind: summary, of: X, by: A, mean: {1: 5.00, 2: 7.00, total: 6.30}}",
        ],
        [
            "outputs[1]: clashes with outputs[0]: beside that mean of X comes to 6.205, not 6.30 "
            "(off by 0.09)"
        ],
    ),
    "means of all that two groupings imply": (
        [
            "{kind: summary, of: X, by: A, n: {1: 40, 2: 60}, mean: {1: 5.00, 2: 7.00}}",
            "{kind: summary, of: X, by: C, n: {1: 50, 2: 50}, mean: {1: 6.00, 2: 7.50}}",
        ],
        ["outputs[1]: clashes with outputs[0]: beside that mean of X, C="],
    ),
    "a sum and means of groups": (
        [
            "{kind: summary, of: X, by: A, n: {1: 40, 2: 60}, mean: {1: 5.00, 2: 7.00}}",
            "{kind: summary, of: X, sum: 635}",
        ],
        ["outputs[1]: clashes with outputs[0]: beside that sum of X comes to 620.5, not 635"],
    ),
    "a mean and the frequencies of its values": (
        [
            "{kind: frequencies, of: X, counts: {0: 50, 10: 50}}",
            "{kind: summary, of: X, mean: 5.20}",
        ],
        ["outputs[1]: clashes with outputs[0]: beside that mean of X comes to 5, not 5.20"],
    ),
    "chi-square": (
        [A_BY_C, "{kind: chi_square, rows: A, columns: C, statistic: 15.67, p: <0.001}"],
        ["outputs[1]: statistic is 15.67, but the counts of outputs[0] give 16.67 (off by 0.99"],
    ),
    "Cramér's V": (
        [A_BY_C, "{kind: chi_square, rows: A, columns: C, cramers_v: 0.45}"],
        ["cramers v is 0.45, but the counts of outputs[0] give 0.41 (off by"],
    ),
    "an odds ratio": (
        [A_BY_C, "{kind: odds_ratio, rows: A, columns: C, odds_ratio: 5.00}"],
        ["outputs[1]: odds ratio is 5.00, but the counts of outputs[0] give 6.00 (off by 1)"],
    ),
    "an odds ratio of a table whose last cells follow from its margins": (
        [
            "{kind: crosstab, rows: A, columns: C, "
            "counts: {1: [30, suppressed, 40], 2: [suppressed, 40, 60]}, suppressed: [1, 25]}",
            "{kind: odds_ratio, rows: A, columns: C, odds_ratio: 5.00}",
        ],
        ["outputs[1]: odds ratio is 5.00, but the counts of outputs[0] give 6.00 (off by 1)"],
    ),
    "t": (
        [GROUPS, "{kind: t_test, of: X, by: A, t: -3.10, df: 98}"],
        ["outputs[1]: t is -3.10, but the groups as published in outputs[0] have -2.404 to -2.041"],
    ),
    "the p-value of Welch's t": (
        [GROUPS, "{kind: t_test, of: X, by: A, equal_variances: false, p: 0.300}"],
        ["outputs[1]: p is 0.300, but the groups as published in outputs[0] have 0.01"],
    ),
    "a difference of means": (
        [
            "{kind: summary, of: X, by: A, mean: {1: 8.0, 2: 9.5}}",
            "{kind: t_test, of: X, by: A, difference: -1.75}",
        ],
        ["difference is -1.75, but the groups as published in outputs[0] have -1.6 to -1.4"],
    ),
    "F": (
        [GROUPS, "{kind: anova, of: X, by: A, f: 9.61}"],
        ["outputs[1]: f is 9.61, but the groups as published in outputs[0] have"],
    ),
    "the share that groups explain": (
        [GROUPS, "{kind: anova, of: X, by: A, eta_squared: 0.20}"],
        ["eta squared is 0.20, but the groups as published in outputs[0] have 0.0"],
    ),
    "a standard error": (
        ["{kind: summary, of: X, mean: 8.00, sd: 3.00, standard_error: 0.35}"],
        [
            "outputs[0].standard_error: standard error of X is 0.35, but sd 3.00 of 100 records "
            "makes it 0.2995 to 0.3005"
        ],
    ),
    "a variance": (
        ["{kind: summary, of: X, mean: 8.00, sd: 3.00, variance: 9.50}"],
        [
            "outputs[0].variance: variance of X is 9.50, but sd 3.00 makes it 8.97 to 9.03",
        ],
    ),
}


def write(folder, outputs, records=100):
    path = folder / "spec.yaml"
    path.write_text(SPEC.format(records=records) + "".join(f"  - {output}\n" for output in outputs))
    return path


@pytest.mark.parametrize(("outputs", "messages"), CASES.values(), ids=CASES)
def test_one_message_tells_the_clash_and_its_amount(tmp_path, outputs, messages):
    with pytest.raises(SpecError) as error:
        evosynth.load(write(tmp_path, outputs))
    ((line, fault),) = error.value.faults
    assert fault.clash
    for message in messages:
        assert message in str(error.value)
    told = int(fault.path[1])
    assert line == 9 + told
    assert evosynth.load(write(tmp_path, outputs), anyway=True).clashes


def test_two_clashes_in_the_same_variables_are_both_told(tmp_path):
    outputs = [*CASES["three tables of which any two agree"][0]]
    outputs.append("{kind: summary, of: X, by: A, mean: {1: 5.00, 2: 7.00, total: 6.30}}")
    with pytest.raises(SpecError) as error:
        evosynth.load(write(tmp_path, outputs))
    assert [fault.path for _, fault in error.value.faults] == [("outputs", 2), ("outputs", 3)]


def test_clashes_of_two_tables_come_before_those_of_several(tmp_path):
    outputs = [*CASES["three tables of which any two agree"][0]]
    outputs.insert(1, "{kind: frequencies, of: A, counts: {1: 49, 2: 51}}")
    with pytest.raises(SpecError) as error:
        evosynth.load(write(tmp_path, outputs))
    told = [fault.message for _, fault in error.value.faults]
    assert "A=1 comes to 49 records here, but to 50 in outputs[0] (off by 1)" in told
    assert sum("together" in message for message in told) <= 1


def test_a_median_that_lies_between_two_values_is_no_clash(tmp_path):
    outputs = [
        "{kind: frequencies, of: X, counts: {9: 50, 11: 50}}",
        "{kind: summary, of: X, median: 10, mean: 10.00}",
    ]
    assert evosynth.load(write(tmp_path, outputs)).clashes == ()


def test_a_p_value_follows_from_degrees_of_freedom_as_they_are_rounded(tmp_path):
    welch = "{kind: t_test, of: X, by: A, equal_variances: false, t: -2.00, df: 2, p: 0.170}"
    assert evosynth.load(write(tmp_path, [welch])).clashes == ()
    with pytest.raises(SpecError, match="p from 0.183 to 0.184"):
        evosynth.load(write(tmp_path, [welch.replace("false", "true")]))


# ---- truths -----------------------------------------------------------------------------------


def text(value, digits):
    exact = 0.0 if abs(value) < 1e-12 else value
    return f'"{exact:.{digits}f}"'


def mapping(pairs):
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


def tables(data, digits, rng):
    """Two-way tables, each in one form."""
    for one, two in (("A", "B"), ("B", "C"), ("A", "C"), ("C", "X")):
        levels = [LEVELS[one], LEVELS[two]]
        table = pd.crosstab(data[one], data[two]).reindex(index=levels[0], columns=levels[1])
        counts = table.fillna(0).astype(int).to_numpy()
        form = rng.choice(["counts", "percentages", "row_percentages", "column_percentages"])
        axis = {"row_percentages": 1, "column_percentages": 0}.get(form)
        if form == "counts":
            rows = [f"[{', '.join(map(str, row))}]" for row in counts]
            cells = mapping(zip(levels[0], rows, strict=True))
        else:
            whole = counts.sum(axis=axis, keepdims=True) if axis is not None else counts.sum()
            whole = np.broadcast_to(whole, counts.shape)
            shares = (100 * counts / np.maximum(whole, 1), whole == 0)
            share, empty = ([dict(zip(levels[1], row, strict=True)) for row in s] for s in shares)
            cells = mapping(
                (a, mapping((b, text(row[b], digits)) for b in levels[1] if not none[b]))
                for a, row, none in zip(levels[0], share, empty, strict=True)
                if not all(none.values())
            )
        yield f"{{kind: crosstab, rows: {one}, columns: {two}, {form}: {cells}}}"


LEVELS = {"A": [1, 2], "B": list("xyz"), "C": [1, 2], "X": list(range(21))}


def moments(data, digits, rng):
    for name in ("X", "Y"):
        for by in ("A", "B", "C"):
            known = data.dropna(subset=[name])
            groups = {a: part[name] for a, part in known.groupby(by) if len(part) > 1}
            if not groups:
                continue
            chosen = [
                k
                for k in ("n", "mean", "sd", "variance", "standard_error", "sum", "median")
                if rng.random() < 0.6
            ]
            parts = {**groups, "total": known[name]}
            how = {
                "n": lambda x: f"{len(x)}",
                "mean": lambda x: text(x.mean(), digits),
                "sd": lambda x: text(x.std(), digits),
                "variance": lambda x: text(x.var(), digits),
                "standard_error": lambda x: text(x.sem(), digits + 1),
                "sum": lambda x: f"{x.sum():.0f}",
                "median": lambda x: text(x.median(), digits),
            }
            figures = [f"{k}: {mapping((a, how[k](x)) for a, x in parts.items())}" for k in chosen]
            if figures:
                yield f"{{kind: summary, of: {name}, by: {by}, {', '.join(figures)}}}"


def comparisons(data, digits):
    table = pd.crosstab(data["A"], data["B"]).to_numpy()
    if min(table.shape) > 1:
        found = stats.chi2_contingency(table, correction=False)
        v = np.sqrt(found.statistic / len(data) / (min(table.shape) - 1))
        yield (
            f"{{kind: chi_square, rows: A, columns: B, statistic: {text(found.statistic, digits)}, "
            f"df: {found.dof}, p: {text(found.pvalue, 3)}, cramers_v: {text(v, digits)}}}"
        )
    table = pd.crosstab(data["A"], data["C"])
    if table.shape == (2, 2) and (table > 0).all(axis=None):
        (a, b), (c, d) = table.to_numpy()
        ratio = text(a * d / b / c, digits)
        yield f"{{kind: odds_ratio, rows: A, columns: C, odds_ratio: {ratio}}}"
    for name in ("X", "Y"):
        known = data.dropna(subset=[name])
        one, two = (known.loc[known["A"] == a, name] for a in (1, 2))
        for equal in (True, False):
            if min(len(one), len(two)) > 1 and min(one.std(), two.std()) > 0:
                t = stats.ttest_ind(one, two, equal_var=equal)
                yield (
                    f"{{kind: t_test, of: {name}, by: A, equal_variances: {str(equal).lower()}, "
                    f"t: {text(t.statistic, digits)}, df: {text(t.df, 0 if equal else digits)}, "
                    f"p: {text(t.pvalue, 3)}, difference: {text(one.mean() - two.mean(), digits)}}}"
                )
        samples = [part[name] for _, part in known.groupby("B")]
        if len(samples) > 1 and all(len(s) > 1 and s.std() > 0 for s in samples):
            f = stats.f_oneway(*samples)
            squares = sum(((s - s.mean()) ** 2).sum() for s in samples)
            eta = 1 - squares / ((known[name] - known[name].mean()) ** 2).sum()
            yield (
                f"{{kind: anova, of: {name}, by: B, f: {text(f.statistic, digits)}, "
                f"p: {text(f.pvalue, 3)}, eta_squared: {text(eta, digits + 1)}}}"
            )


@settings(max_examples=80, deadline=None)
@given(st.integers(4, 400), st.integers(0, 2**32), st.integers(0, 3), st.sampled_from([2, 20]))
def test_figures_of_real_data_never_clash(tmp_path_factory, records, seed, digits, most):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "A": rng.choice([1, 2], records, p=[0.3, 0.7]),
            "B": rng.choice(list("xyz"), records, p=[0.5, 0.4, 0.1]),
            "C": rng.integers(1, 3, records),
            "X": rng.integers(0, most + 1, records),
            "Y": rng.integers(0, most + 1, records).astype(float),
        }
    )
    data["X"] = np.minimum(20, data["X"] + 2 * data["A"])
    data.loc[rng.random(records) < 0.2, "Y"] = np.nan
    outputs = [*tables(data, digits, rng), *moments(data, digits, rng), *comparisons(data, digits)]
    spec = evosynth.load(write(tmp_path_factory.mktemp("spec"), outputs, records))
    assert spec.clashes == ()
    data["Y"] = data["Y"].astype("Int64")
    assert verify(spec, data)["exact"].all()
