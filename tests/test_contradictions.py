"""Figures that cannot all be: found before any search, with the amount, and borne if asked."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evosynth
from evosynth.errors import SpecError
from evosynth.proof import verify

SPEC = """\
records: {records}
variables:
  A: {{categories: {{1: one, 2: two}}}}
  B: {{categories: {{x: ex, y: why, z: zed}}}}
  X: {{integer: [0, 20]}}
  Y: {{integer: [0, 20]}}
  Z: {{integer: [0, 20]}}
outputs:
"""

CASES = {
    # Differing numbers of records
    "a table of other records": (
        100,
        [
            "{kind: frequencies, of: A, counts: {1: 40, 2: 60}}",
            "{kind: frequencies, of: B, counts: {x: 30, y: 30, z: 38}}",
        ],
        ["outputs[1].counts: the cells sum to 98, but records is 100 (2 missing)"],
    ),
    "another n": (
        100,
        ["{kind: summary, of: X, n: 98, mean: 10.0}"],
        ["outputs[0]: all cells together come to 98 records, but records is 100 (off by 2)"],
    ),
    "another n of a group": (
        100,
        [
            "{kind: frequencies, of: A, counts: {1: 40, 2: 60}}",
            "{kind: summary, of: X, by: A, n: {1: 42, 2: 58}, mean: {1: 10.0}}",
        ],
        [
            "outputs[1]: A=1 comes to 42 records here, but to 40 in outputs[0] (off by 2)",
            "outputs[1]: A=2 comes to 58 records here, but to 60 in outputs[0] (off by 2)",
        ],
    ),
    # Margins
    "margins of a table": (
        100,
        [
            "{kind: crosstab, rows: A, columns: B, counts: {1: [10, 20, 10], 2: [20, 20, 20]}}",
            "{kind: frequencies, of: B, counts: {x: 31, y: 40, z: 29}}",
        ],
        [
            "outputs[1]: B=x comes to 31 records here, but to 30 in outputs[0] (off by 1)",
            "outputs[1]: B=z comes to 29 records here, but to 30 in outputs[0] (off by 1)",
        ],
    ),
    "margins of two tables": (
        100,
        [
            "{kind: crosstab, rows: A, columns: B, counts: {1: [10, 20, 10], 2: [20, 20, 20]}}",
            "{kind: crosstab, rows: B, columns: A, percentages: {x: [13, 20], y: [20, 20]}}",
        ],
        ["outputs[1]: A=1, B=x comes to 13 records here, but to 10 in outputs[0] (off by 3)"],
    ),
    "totals of one table": (
        100,
        [
            "{kind: crosstab, rows: A, columns: B, "
            "counts: {1: [10, 20, 10, 45], 2: [20, 20, 20, 55]}}",
        ],
        [
            "outputs[0]: A=1 comes to 45 records here, but to 40 in its other cells (off by 5)",
            "outputs[0]: A=2 comes to 55 records here, but to 60 in its other cells (off by 5)",
        ],
    ),
    "a median and a count": (
        100,
        [
            "{kind: summary, of: X, median: 10}",
            "{kind: frequencies, of: X, counts: {3: 60}}",
        ],
        [
            "outputs[1]: X=0|…|9 comes to 60 to 100 records here, but to 0 to 50 in outputs[0] "
            "(off by 10)"
        ],
    ),
    "two figures of one cell": (
        100,
        ["{kind: frequencies, of: A, counts: {1: 40, 2: 60}, percentages: {1: 45}}"],
        [
            "outputs[0]: no count of A=1 fits all that is given of it here: one figure needs 45 "
            "records at least, another 40 at most (off by 5)"
        ],
    ),
    # Percentages
    "a percentage that no count has": (
        9,
        ["{kind: frequencies, of: A, percentages: {1: 45.5}}"],
        ["no number of records out of 9 has a share that prints as 45.5"],
    ),
    "percentages that sum to too little": (
        1000,
        ["{kind: frequencies, of: B, percentages: {x: 33.3, y: 33.3, z: 33.3}}"],
        [
            "outputs[0].percentages: the percentages sum to 99.9, which makes 999 records at "
            "most, but there are 1000"
        ],
    ),
    "percentages that do not sum to 100": (
        1000,
        ["{kind: frequencies, of: B, percentages: {x: 33.3, y: 33.3, z: 30.3}}"],
        [
            "outputs[0].percentages: the percentages sum to 96.9, which is not 100 within their "
            "rounding (±0.15)"
        ],
    ),
    "a row percentage that no count has": (
        100,
        [
            "{kind: crosstab, rows: A, columns: B, counts: {1: {total: 7}, 2: {total: 93}}, "
            "row_percentages: {1: [33.3, 33.3, 33.3]}}",
        ],
        ["no number of records out of 7 has a share that prints as 33.3"],
    ),
    # Means and standard deviations
    "GRIM": (
        28,
        ["{kind: summary, of: X, mean: 5.19}"],
        ["no 28 values of 'X' have a mean that prints as 5.19 (GRIM; the nearest is 5.1786)"],
    ),
    "GRIM of a group": (
        60,
        ["{kind: summary, of: X, by: A, n: {1: 28, 2: 32}, mean: {1: 5.19}}"],
        ["outputs[0].mean.1: no 28 values of 'X' have a mean that prints as 5.19 (GRIM;"],
    ),
    "GRIMMER": (
        28,
        ["{kind: summary, of: X, mean: 5.18, sd: 0.10}"],
        ["no 28 values of 'X' with mean 5.18 have a sd that prints as 0.10 (GRIMMER"],
    ),
    "GRIMMER of a variance": (
        5,
        ["{kind: summary, of: X, mean: 5.0, variance: 1.4}"],
        ["no 5 values of 'X' with mean 5.0 have a variance that prints as 1.4 (GRIMMER"],
    ),
    "a mean beyond the maximum": (
        100,
        ["{kind: summary, of: X, mean: 15.3, min: 2, max: 12}"],
        ["mean of X is 15.3, outside 1.5 to 12.5, the published minimum and maximum (off by 2.75)"],
    ),
    "a mean beyond the values": (
        100,
        ["{kind: summary, of: X, mean: 25.3}"],
        ["mean of X is 25.3, outside 0 to 20, the values of the variable (off by 5.25)"],
    ),
    "a standard deviation that is too large": (
        100,
        ["{kind: summary, of: X, mean: 5.00, sd: 9.50}"],
        ["sd of X is 9.50, but values from 0 to 20 with mean 5.00 have at most 8.704"],
    ),
    "a median outside the quartiles": (
        100,
        ["{kind: summary, of: X, median: 15, quantiles: {25: 3, 75: 12}}"],
        ["75 % quantile of X is 12, below median of X, which is 15 (off by 2)"],
    ),
    # Suppression
    "a suppressed cell that margins force out of its range": (
        100,
        [
            "{kind: frequencies, of: A, counts: {1: 42, 2: 58}}",
            "{kind: crosstab, rows: A, columns: B, "
            "counts: {1: [suppressed, 20, 10], 2: [suppressed, 45, suppressed]}}",
        ],
        [
            "outputs[1]: A=1 comes to 37 to 39 records here, but to 42 in outputs[0] (off by 3)",
            "outputs[1]: A=2 comes to 61 to 63 records here, but to 58 in outputs[0] (off by 3)",
        ],
    ),
    "suppressed cells that the total forces out of their range": (
        100,
        ["{kind: frequencies, of: B, suppressed: [1, 4], counts: {x: suppressed, y: 40, z: 50}}"],
        ["outputs[0].counts: the cells sum to 91 to 94, but records is 100 (6 missing)"],
    ),
    # Correlations
    "correlations that no data have": (
        100,
        [
            "{kind: correlation, of: [X, Y, Z], pearson: {Y: {X: 0.90}, Z: {X: 0.90, Y: -0.50}}}",
        ],
        ["the smallest eigenvalue of their matrix is -0.5471"],
    ),
}


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    records, outputs, messages = CASES[request.param]
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.format(records=records) + "".join(f"  - {output}\n" for output in outputs))
    return path, records, messages


def test_a_contradiction_is_found_with_its_amount(case):
    path, _, messages = case
    with pytest.raises(SpecError) as error:
        evosynth.load(path)
    text = str(error.value)
    for message in messages:
        assert message in text
    assert all(fault.clash for _, fault in error.value.faults)


def test_it_is_borne_if_asked_and_what_gave_way_is_reported(case, tmp_path):
    path, records, messages = case
    spec = evosynth.load(path, anyway=True)
    assert len(spec.clashes) == len(set(spec.clashes)) > 0
    for message in messages:
        assert any(message in clash for clash in spec.clashes)
    result = evosynth.synthesize(spec, seed=1, generations=2, time=3)
    folder = result.save(tmp_path / "out")
    assert len(pd.read_csv(folder / "data.csv")) == records
    assert not result.exact
    written = pd.read_csv(folder / "verification.csv")
    assert 0 < (~written["exact"]).sum()
    run = json.loads((folder / "run.json").read_text())
    assert run["exact"] == int(written["exact"].sum()) < run["figures"]
    assert len(run["contradictions"]) == len(spec.clashes)
    assert run["contradictions"][0].startswith("line ")
    book = (folder / "codebook.md").read_text()
    assert "## Contradictions" in book
    assert book.count("\n- line ") == len(spec.clashes)


def test_all_contradictions_are_listed_at_once(tmp_path):
    outputs = [output for _, outputs, _ in list(CASES.values())[1:3] for output in outputs]
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.format(records=100) + "".join(f"  - {output}\n" for output in outputs))
    with pytest.raises(SpecError) as error:
        evosynth.load(path)
    assert len(error.value.faults) >= 3


def test_faults_of_one_output_do_not_hide_clashes_of_others(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        SPEC.format(records=100)
        + "  - {kind: frequencies, of: A, counts: {1: 40, 2: 60}}\n"
        + "  - {kind: frequencies, of: C, counts: {1: 40, 2: 60}}\n"
        + "  - {kind: summary, of: X, mean: ten}\n"
        + "  - {kind: no such}\n"
        + "  - {kind: frequencies, of: A, counts: {1: 41, 2: 59}}\n"
    )
    with pytest.raises(SpecError) as error:
        evosynth.load(path)
    told = [fault.message for _, fault in error.value.faults]
    assert any("unknown variable 'C'" in message for message in told)
    assert any("'ten' is not a number" in message for message in told)
    assert any("unknown kind 'no such'" in message for message in told)
    assert "A=1 comes to 41 records here, but to 40 in outputs[0] (off by 1)" in told
    assert "A=2 comes to 59 records here, but to 60 in outputs[0] (off by 1)" in told


def test_an_output_of_a_broken_variable_is_left_out_of_the_search_for_clashes(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "records: 100\nvariables:\n  A: {categories: {1: one, 2: two}}\n  X: {integer: [9, 2]}\n"
        "outputs:\n"
        + "  - {kind: frequencies, of: A, counts: {1: 40, 2: 60}}\n"
        + "  - {kind: summary, of: X, mean: 3.0}\n"
        + "  - {kind: frequencies, of: A, counts: {1: 41, 2: 59}}\n"
    )
    with pytest.raises(SpecError) as error:
        evosynth.load(path)
    places = [fault.place for _, fault in error.value.faults]
    assert len(places) == 3
    assert places[0].startswith("variables.X") and places[1:] == ["outputs[2]", "outputs[2]"]


def test_what_is_no_contradiction_is_not_borne(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        SPEC.format(records=100)
        + "  - {kind: frequencies, of: A, counts: {1: 40, 2: 61}}\n"
        + "  - {kind: frequencies, of: C, counts: {1: 40}}\n"
    )
    with pytest.raises(SpecError, match="unknown variable 'C'"):
        evosynth.load(path, anyway=True)


def test_figures_that_agree_have_no_clash(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        SPEC.format(records=28)
        + "  - {kind: frequencies, of: A, counts: {1: 9, 2: 19}, percentages: {1: 32.1}}\n"
        + "  - {kind: summary, of: X, mean: 5.18, sd: 2.02, median: 5, min: 1, max: 9}\n"
        + "  - {kind: correlation, of: [X, Y, Z], pearson: [[0.5], [0.3, 0.2]]}\n"
    )
    assert evosynth.load(path).clashes == ()


def test_the_command_refuses_contradictions_or_runs_anyway(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        SPEC.format(records=100)
        + "  - {kind: frequencies, of: A, counts: {1: 40, 2: 60}}\n"
        + "  - {kind: frequencies, of: A, counts: {1: 43, 2: 57}}\n"
    )

    def evosynth_(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "evosynth", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    told = "outputs[1]: A=1 comes to 43 records here, but to 40 in outputs[0] (off by 3)"
    for command in (["check", "spec.yaml"], ["run", "spec.yaml", "-o", "out"]):
        done = evosynth_(*command)
        assert done.returncode == 2
        assert told in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()
    done = evosynth_("run", "spec.yaml", "-o", "out", "--anyway", "--generations", "1")
    assert done.returncode == 1
    found = pd.read_csv(tmp_path / "out" / "verification.csv")
    assert (~found["exact"]).sum() >= 2
    told_again = json.loads((tmp_path / "out" / "run.json").read_text())["contradictions"]
    assert told_again[0] == f"line 10 {told}"


def printed(value, digits):
    exact = 0.0 if abs(value) < 1e-12 else value
    return f'"{exact:.{digits}f}"'


def published(data, digits):
    """Figures of real data, as a spec writes them."""
    n = len(data)
    table = pd.crosstab(data["A"], data["B"]).reindex(index=[1, 2], columns=list("xyz")).fillna(0)
    counts = ", ".join(f"{a}: {row.astype(int).tolist()}" for a, row in table.iterrows())
    rows = ", ".join(
        f"{a}: [{', '.join(printed(100 * c / row.sum(), digits) for c in row)}]"
        for a, row in table.iterrows()
        if row.sum()
    )
    shares = ", ".join(f"{b}: {printed(100 * c / n, digits)}" for b, c in table.sum().items())
    yield f"{{kind: frequencies, of: B, percentages: {{{shares}}}}}"
    yield f"{{kind: crosstab, rows: A, columns: B, counts: {{{counts}}}}}"
    yield f"{{kind: crosstab, rows: A, columns: B, row_percentages: {{{rows}}}}}"
    groups = {a: part["X"] for a, part in data.groupby("A") if len(part) > 1}
    for chosen in (groups, {"total": data["X"]}):
        parts = [
            f"{name}: {{{', '.join(f'{a}: {printed(how(x), digits)}' for a, x in chosen.items())}}}"
            for name, how in {
                "mean": pd.Series.mean,
                "sd": pd.Series.std,
                "median": pd.Series.median,
                "min": pd.Series.min,
                "max": pd.Series.max,
                "iqr": lambda x: x.quantile(0.75) - x.quantile(0.25),
            }.items()
        ]
        sizes = ", ".join(f"{a}: {len(x)}" for a, x in chosen.items())
        ends = {q: [(a, x.quantile(q / 100)) for a, x in chosen.items()] for q in (25, 75)}
        quarters = ", ".join(
            f"{q}: {{{', '.join(f'{a}: {printed(x, digits)}' for a, x in found)}}}"
            for q, found in ends.items()
        )
        if chosen:
            yield (
                f"{{kind: summary, of: X, by: A, n: {{{sizes}}}, {', '.join(parts)}, "
                f"quantiles: {{{quarters}}}}}"
            )
    r = data[["X", "Y", "Z"]].corr()
    if r.notna().all(axis=None):
        cells = [printed(r.loc[a, b], digits + 1) for a, b in ("YX", "ZX", "ZY")]
        yield (
            "{kind: correlation, of: [X, Y, Z], "
            f"pearson: [[{cells[0]}], [{cells[1]}, {cells[2]}]]}}"
        )


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 60), st.integers(0, 2**32), st.integers(0, 2), st.sampled_from([3, 20]))
def test_figures_of_real_data_never_contradict_each_other(
    tmp_path_factory, records, seed, digits, most
):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "A": rng.integers(1, 3, records),
            "B": rng.choice(list("xyz"), records),
            **{name: rng.integers(0, most + 1, records) for name in "XYZ"},
        }
    )
    path = tmp_path_factory.mktemp("spec") / "spec.yaml"
    path.write_text(
        SPEC.format(records=records)
        + "".join(f"  - {output}\n" for output in published(data, digits))
    )
    spec = evosynth.load(path)
    assert spec.clashes == ()
    assert verify(spec, data)["exact"].all()
