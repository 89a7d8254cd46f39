"""Newton steps in real numbers meet figures; records leave values that only one must hold."""

from __future__ import annotations

import numpy as np
import pytest
from cases import problem_of, small

from evosynth.reals import Place, converge, released, shortest

N = 40
SPEC = f"""\
records: {N}
variables:
  X: {{number: {{min: 0.0, max: 20.0, decimals: 1}}}}
  Y: {{number: {{min: 0.0, max: 60.0, decimals: 1}}}}
outputs:
  - kind: ols
    formula: Y ~ X
    coefficients: {{Intercept: 3.125, X: 2.250}}
    standard_errors: {{Intercept: 1.500, X: 0.130}}
    r_squared: 0.887
  - kind: summary
    of: [X, Y]
    mean: {{X: 10.123}}
    max: {{X: 20, Y: 55.5}}
"""
COLUMNS = np.array([0, 1])


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    return problem_of(small(tmp_path_factory.mktemp("reals"), SPEC))


def _codes():
    rng = np.random.default_rng(1)
    x = rng.integers(20, 180, N)
    y = np.clip(20 + 2 * x + rng.normal(0, 60, N), 0, 550).astype(int)
    codes = np.column_stack([x, y])
    codes[0, 0], codes[:5, 1] = 200, 555
    return codes


def test_all_but_one_leave_the_largest_value(problem):
    found = released(problem, COLUMNS, _codes().astype(np.uint16), np.random.default_rng(2))
    assert (found[:, 0] == 200).sum() == 1
    assert (found[:, 1] == 555).sum() == 1


def test_figures_are_met_by_real_values(problem):
    codes = released(problem, COLUMNS, _codes().astype(np.uint16), np.random.default_rng(2))
    before = Place.of(problem, COLUMNS, codes)
    after = converge(before, np.ones(2, dtype=bool))
    assert before.worst > 10
    assert after.worst < 1
    assert (after.values != np.rint(after.values)).any()


def test_figures_that_no_step_mends_are_left_at_once(tmp_path, monkeypatch):
    # The two means are one figure, printed once rounded up and once down: half a unit is left.
    twice = "mean: {X: 10.123}\n  - {kind: summary, of: X, mean: 10.12}\n"
    twice += "  - {kind: summary, of: X, mean: 10.118}\n  - kind: summary\n    of: [X, Y]"
    spec = small(tmp_path, SPEC.replace("mean: {X: 10.123}", twice), anyway=True)
    problem = problem_of(spec)
    codes = released(problem, COLUMNS, _codes().astype(np.uint16), np.random.default_rng(2))
    seen = []
    at = Place.at.__func__
    monkeypatch.setattr(
        Place, "at", classmethod(lambda cls, *given: seen.append(1) or at(cls, *given))
    )
    after = converge(Place.of(problem, COLUMNS, codes), np.ones(2, dtype=bool))
    assert 1 < after.worst < 10
    assert len(seen) < 12


def test_what_is_not_free_stays(problem):
    codes = released(problem, COLUMNS, _codes().astype(np.uint16), np.random.default_rng(2))
    after = converge(Place.of(problem, COLUMNS, codes), np.array([False, True]))
    assert (after.values[0] == codes[:, 0]).all()


def test_figures_at_real_values_follow_slopes(problem):
    place = Place.of(problem, COLUMNS, _codes().astype(np.uint16))
    step = np.zeros(2 * N)
    step[7] = 0.25
    moved = place.moved(step)
    assert (moved.codes == place.codes).all()
    assert moved.residual == pytest.approx(
        place.residual + 0.25 * place.slopes.effects[7] + 0.25**2 / 2 * place.slopes.bends[7]
    )


def test_shy_values_move_less_near_an_end(problem):
    codes = _codes().astype(np.uint16)
    codes[9, 0] = 1
    shy = Place.of(problem, COLUMNS, codes, shy=True)
    assert shy.slopes.scale[9] < Place.of(problem, COLUMNS, codes).slopes.scale[9]


def test_the_shortest_change_keeps_within_ranges():
    effects = np.array([[1.0], [1.0], [1.0]])
    low, high = np.full(3, -5.0), np.array([0.5, 5.0, 5.0])
    found = shortest(effects, np.array([-9.0]), low, high, np.ones(3), 0.0, np.array([1e-6]))
    assert found[0] <= 0.5
    assert found.sum() == pytest.approx(9.0, abs=1e-3)
    assert found[1] == pytest.approx(found[2])
