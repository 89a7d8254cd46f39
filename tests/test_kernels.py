"""Compiled kernels against numpy, and against their own plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from evosynth.kernels import cells, design, lattice, moves, plane, sums

RNG = np.random.default_rng(7)
CODES = RNG.integers(0, 4, (300, 3)).astype(np.uint8)


def both(kernel, *arguments):
    """Result of the compiled kernel, after checking that plain Python gives the same."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    compiled = kernel(*arguments)
    plain = kernel.py_func(*copies)
    for one, other in zip(np.atleast_1d(compiled), np.atleast_1d(plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    for one, other in zip(arguments, copies, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    return compiled


def test_fill_design_multiplies_lookups():
    lookup = np.array([10.0, 20.0, 30.0, 40.0, 0.0, 1.0, 0.0, 0.0])
    start, variable, offset = np.array([0, 0, 1, 3]), np.array([0, 0, 2]), np.array([0, 0, 4])
    rows = both(design.fill_design, CODES, start, variable, offset, lookup)
    value = np.array([10.0, 20.0, 30.0, 40.0])[CODES[:, 0]]
    expected = np.stack([np.ones(300), value, value * (CODES[:, 2] == 1)], axis=1)
    np.testing.assert_array_equal(rows, expected)


def test_logit_residuals_follow_the_definition():
    rows, y, theta = RNG.normal(size=(50, 3)), RNG.integers(0, 2, 50) * 1.0, RNG.normal(size=3)
    residual, variance = design.logit_residuals(rows, y, theta)
    p = 1 / (1 + np.exp(-rows @ theta))
    np.testing.assert_allclose(residual, y - p, rtol=1e-12)
    np.testing.assert_allclose(variance, p * (1 - p), rtol=1e-12)


def test_sum_products_is_the_weighted_cross_product():
    rows, weights = RNG.normal(size=(80, 4)), RNG.integers(0, 3, 80) * 1.0
    found = both(design.sum_products, rows, weights)
    np.testing.assert_allclose(found, rows.T @ (rows * weights[:, None]), rtol=1e-12)


def test_index_cells_adds_up_lookups():
    start, column = np.array([0, 2, 3]), np.array([2, 0, 1])
    lookup_start, first = np.array([0, 4, 8]), np.array([0, 16])
    grouped = np.array([0, 1, 0, 2])
    lookup = np.concatenate([4 * np.arange(4), np.arange(4), grouped])
    found = both(cells.index_cells, CODES, start, column, lookup_start, lookup, first)
    expected = np.ravel_multi_index((CODES[:, 2], CODES[:, 0]), (4, 4))
    np.testing.assert_array_equal(found[:, 0], expected)
    np.testing.assert_array_equal(found[:, 1], 16 + grouped[CODES[:, 1]])


def test_sums_within_groups_leave_out_what_is_not_counted():
    group, features = RNG.integers(-1, 3, 50), RNG.normal(size=(50, 2))
    counts = RNG.integers(0, 4, 50) * 1.0
    found = both(sums.sum_groups, group, features, counts, 3)
    expected = [(features * counts[:, None])[group == g].sum(axis=0) for g in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    change = RNG.normal(size=(3, 2, 4))
    spread = both(sums.spread_groups, group, features, change)
    by_record = np.einsum(
        "ik,ikf->if", features, np.where(group[:, None, None] >= 0, change[group], 0)
    )
    np.testing.assert_allclose(spread, by_record, rtol=1e-12, atol=1e-12)


def test_weights_are_counted_like_records():
    index = RNG.integers(0, 6, (40, 2)).astype(np.int32) + np.array([0, 6], np.int32)
    weights = RNG.random(40)
    expected = np.bincount(index.ravel(), np.repeat(weights, 2), 12)
    np.testing.assert_allclose(both(cells.count_weights, index, weights, 12), expected, rtol=1e-12)


def test_counting_and_summing_respect_multiplicity():
    index = RNG.integers(0, 6, (40, 2)).astype(np.int32) + np.array([0, 6], np.int32)
    counts = RNG.integers(0, 5, 40)
    expected = np.bincount(np.repeat(index, counts, axis=0).ravel(), minlength=12)
    np.testing.assert_array_equal(both(cells.count_cells, index, counts, 12), expected)
    rows = RNG.normal(size=(40, 3))
    np.testing.assert_allclose(both(cells.sum_rows, rows, counts), counts @ rows, rtol=1e-12)


def test_rake_brings_cells_into_their_intervals():
    index = RNG.integers(0, 3, (60, 1)).astype(np.int32)
    weights = RNG.random(60)
    before = np.bincount(index[:, 0], weights)
    low, high = np.array([30, 0, 5]), np.array([30, 1000, 8])
    wrong = both(cells.rake, weights, index, 0, low, high)
    after = np.bincount(index[:, 0], weights)
    goal = np.clip(before, low, high)
    np.testing.assert_allclose(after, goal, rtol=1e-12)
    assert wrong == pytest.approx(np.abs(goal - before).sum())


def test_violation_counts_records_outside():
    counts, low, high = np.array([3, 9, 5]), np.array([5, 2, 5]), np.array([6, 7, 5])
    assert both(cells.violation, counts, low, high) == 2 + 2


def move_arrays(rng, n_rows, n_moves):
    source = rng.integers(0, n_rows, (n_moves, 2))
    target = (source + rng.integers(1, n_rows, (n_moves, 2))) % n_rows
    single = rng.random(n_moves) < 0.5
    source[single, 1] = target[single, 1] = -1
    return source, target


@pytest.mark.parametrize(("tolerance", "weight"), [(0.0, 1.0), (0.0, 8.0), (np.inf, 1.0)])
def test_accepted_moves_keep_stock_and_sums_in_step(tolerance, weight):
    rng = np.random.default_rng(3)
    stock = rng.integers(0, 3, 30).astype(np.int32)
    total = stock.sum()
    index = np.stack([rng.integers(0, 4, 30), 4 + rng.integers(0, 5, 30)], axis=1).astype(np.int32)
    influence = rng.normal(size=(30, 2))
    counts = cells.count_cells(index, stock, 9)
    residual = cells.sum_rows(influence, stock)
    low = high = np.full(9, 6)
    source, target = move_arrays(rng, 30, 200)

    def loss():
        return weight * cells.violation(counts, low, high) + residual @ residual

    before = loss()
    made = both(
        moves.accept_moves,
        *(stock, source, target, source, target, index, counts, low, high, influence, residual),
        np.full(200, tolerance),
        weight,
    )
    assert made.any()
    assert stock.min() >= 0
    assert stock.sum() == total
    np.testing.assert_array_equal(counts, cells.count_cells(index, stock, 9))
    np.testing.assert_allclose(residual, cells.sum_rows(influence, stock), atol=1e-9)
    assert (loss() <= before) if tolerance == 0.0 else made.mean() > 0.3


def test_moves_that_change_nothing_published_are_not_made():
    index = np.array([[0, 2], [0, 2], [1, 2], [1, 2]], dtype=np.int32)
    influence = np.array([[0.1], [0.1], [0.3], [0.4]])
    source = np.array([[0, -1], [2, -1], [0, 2], [0, 2]])
    target = np.array([[1, -1], [3, -1], [2, 0], [3, 1]])
    stock = np.full(4, 5, dtype=np.int32)
    counts = cells.count_cells(index, stock, 3)
    made = both(
        moves.accept_moves,
        *(stock, source, target, source, target, index, counts, counts, counts, influence),
        *(cells.sum_rows(influence, stock), np.full(4, np.inf), 1.0),
    )
    assert made.tolist() == [False, True, False, True]


def test_neutral_moves_are_disjoint_and_leave_every_table_alone():
    rng = np.random.default_rng(5)
    stock = rng.integers(0, 4, 60).astype(np.int32)
    index = np.stack([rng.integers(0, 2, 60), 2 + rng.integers(0, 2, 60)], axis=1).astype(np.int32)
    source, target = move_arrays(rng, 60, 400)
    taken = np.zeros(60, dtype=np.bool_)
    chosen, reach = moves.pick_neutral(source, target, source, target, index, stock, taken)
    assert chosen.sum() > 5
    used = np.concatenate([source[chosen].ravel(), target[chosen].ravel()])
    used = used[used >= 0]
    assert len(used) == len(set(used.tolist()))
    for sign, side in ((1, 1), (-1, 0)):
        changed = stock.astype(np.int64)
        for (a, b), (c, d), times in zip(
            source[chosen], target[chosen], reach[chosen, side], strict=True
        ):
            for taken_from, put_into in ((a, c), (b, d)):
                if taken_from >= 0:
                    changed[taken_from] -= sign * int(times)
                    changed[put_into] += sign * int(times)
        assert changed.min() >= 0
        np.testing.assert_array_equal(
            cells.count_cells(index, changed, 4), cells.count_cells(index, stock, 4)
        )


def test_reduction_keeps_the_lattice_and_meets_lovasz():
    original = np.hstack([np.eye(12), RNG.normal(size=(12, 4)) * 50])
    basis = original.copy()
    star, norm = lattice.reduce_basis(basis, 10**6)
    change = basis[:, :12]  # the identity part records the transformation
    np.testing.assert_allclose(change, np.rint(change), atol=1e-6)
    assert abs(np.linalg.det(change)) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(change @ original, basis, atol=1e-6)
    np.testing.assert_allclose(star @ star.T, np.diag(norm), atol=1e-6)
    mu = (basis @ star.T) / norm
    assert np.abs(np.tril(mu, -1)).max() <= 0.5 + 1e-6
    lag = np.diag(mu, -1)
    assert (norm[1:] >= (0.99 - lag**2) * norm[:-1] - 1e-6).all()
    assert np.linalg.norm(basis, axis=1).max() < np.linalg.norm(original, axis=1).max()


def test_nearest_plane_returns_a_lattice_vector_in_the_cell_of_the_target():
    basis = np.hstack([np.eye(6), RNG.normal(size=(6, 2)) * 9])
    star, norm = lattice.reduce_basis(basis, 10**6)
    target = RNG.normal(size=8) * 20
    found = both(lattice.nearest_plane, basis, star, norm, target)
    whole = found[:6]
    np.testing.assert_allclose(whole, np.rint(whole), atol=1e-6)
    inside = ((target - found) @ star.T) / norm
    assert np.abs(inside).max() <= 0.5 + 1e-6


def test_reduction_does_not_drift_where_rows_are_all_but_dependent():
    generator = np.random.default_rng(4)
    effects = generator.normal(size=(90, 30)) * np.exp(generator.normal(0, 3, 30)) * 1e3
    basis = np.hstack([np.eye(90), effects])
    star, norm = lattice.reduce_basis(basis, 10**6)
    exact = np.abs(np.diag(np.linalg.qr(basis.T)[1]))
    np.testing.assert_allclose(np.sqrt(norm), exact, rtol=1e-9)
    mu = np.tril((basis @ star.T) / norm, -1)
    assert np.abs(mu).max() <= 0.5 + 1e-6


def test_near_planes_are_the_nearest_plane_unless_jittered():
    generator = np.random.default_rng(5)
    basis = np.hstack([np.eye(6), generator.normal(size=(6, 2)) * 9])
    star, norm = lattice.reduce_basis(basis, 10**6)
    targets = generator.normal(size=(3, 8)) * 20
    still = both(lattice.near_planes, basis, star, norm, targets, np.zeros((3, 6)))
    for target, found in zip(targets, still, strict=True):
        np.testing.assert_array_equal(found, lattice.nearest_plane(basis, star, norm, target))
    moved = lattice.near_planes(basis, star, norm, targets, np.full((3, 6), 2.0))
    assert not np.allclose(moved, still)
    np.testing.assert_allclose(moved[:, :6], np.rint(moved[:, :6]), atol=1e-6)


def test_balance_picks_the_option_that_keeps_the_sum_short():
    options = np.array([[[5.0], [-1.0]], [[3.0], [1.0]], [[-4.0], [0.5]]])
    picked = both(lattice.balance, np.array([2.0]), options)
    assert picked.tolist() == [1, 1, 0]


def changes(quantity, valid=20):
    """Moves of 50 records of three variables, the middle one a quantity or not."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (50, 3)).astype(np.uint8)
    codes[:, 1] = rng.integers(0, 20, 50)
    first, second = rng.integers(0, 50, (2, 6000))
    stepped = np.array([1] if quantity else [], dtype=np.int64)
    free, sizes = np.array([0, 1, 2]), np.array([3, 20, 3])
    uniform = rng.random((6000, 3))
    given = (codes, first, second, free, stepped, sizes, np.array([3, valid, 3]), uniform)
    found = both(moves.draw_changes, *given)
    variable, old, new, swap, kept = found
    np.testing.assert_array_equal(old, codes[first, variable])
    np.testing.assert_array_equal(new[swap], codes[second, variable][swap])
    np.testing.assert_array_equal(kept, new != old)
    assert (new >= 0).all()
    assert (new < sizes[variable]).all()
    return variable, old, new, swap, uniform[:, 0]


def test_changes_of_categories_swap_or_replace():
    variable, _, new, swap, _ = changes(quantity=False)
    assert swap.mean() == pytest.approx(0.5, abs=0.05)
    for v, size in ((0, 3), (1, 20), (2, 3)):
        assert set(new[~swap & (variable == v)].tolist()) == set(range(size))


def test_changes_of_a_quantity_also_step_to_near_values():
    variable, old, new, swap, what = changes(quantity=True)
    step = (what >= 0.3) & (what < 0.85)
    np.testing.assert_array_equal(swap, what < 0.3)
    assert set(variable[step].tolist()) == {1}
    far = np.abs(new - old)[step & (old > 8) & (old < 11)]
    assert set(far.tolist()) >= {1, 2, 3, 4, 5}
    assert (far <= 3).mean() > 0.7
    replaced = what >= 0.85
    assert set(variable[replaced].tolist()) == {0, 1, 2}
    assert set(new[replaced & (variable == 1)].tolist()) == set(range(20))


def test_missing_values_are_not_stepped_to_or_from():
    variable, old, new, _, what = changes(quantity=True, valid=17)
    step = (what >= 0.3) & (what < 0.85)
    np.testing.assert_array_equal(new[step & (old >= 17)], old[step & (old >= 17)])
    assert (new[step & (old < 17)] < 17).all()
    assert (new[(what >= 0.85) & (variable == 1)] >= 17).any()


def test_neutral_moves_are_those_that_change_no_count():
    rng = np.random.default_rng(5)
    stock = rng.integers(0, 3, 40).astype(np.int32)
    index = np.stack([rng.integers(0, 2, 40), 2 + rng.integers(0, 2, 40)], axis=1).astype(np.int32)
    source, target = move_arrays(rng, 40, 300)
    found = both(moves.neutral_moves, source, source, target, index, stock)
    expected = []
    for (a, b), (c, d) in zip(source, target, strict=True):
        held = stock[a] > 0 and (b < 0 or (stock[b] > 0 and a != b))
        before = [index[a], index[b]] if b >= 0 else [index[a]]
        after = [index[c], index[d]] if b >= 0 else [index[c]]
        same = np.array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
        expected.append(bool(held and same))
    assert 5 < sum(expected) < 295
    assert found.tolist() == expected


def test_the_best_pair_of_moves_is_found():
    rng = np.random.default_rng(6)
    effects, residual = rng.normal(size=(12, 3)), np.array([2.0, -1.5, 0.3])
    source = np.column_stack([np.arange(12) // 2, np.full(12, -1)])
    first, second, least = moves.best_pair(effects, source, residual, 0.5, 1e9)
    losses = {}
    for a in range(12):
        for b in [None, *range(a + 1, 12)]:
            if b is None or source[a, 0] != source[b, 0]:
                left = residual + effects[a] + (0 if b is None else effects[b])
                losses[a, -1 if b is None else b] = np.sqrt(np.maximum(np.abs(left) - 0.5, 0)).sum()
    assert (first, second) == min(losses, key=losses.get)
    assert least == pytest.approx(min(losses.values()))
    assert moves.best_pair(effects, source, residual, 0.5, least / 2)[:2] == (-1, -1)


def test_settle_plane_comes_near_and_tells_how_near():
    x = np.column_stack([np.ones(30), RNG.integers(0, 20, 30), RNG.integers(0, 2, 30)]).astype(
        float
    )
    height, half = RNG.uniform(-0.5, 0.5, 30), np.array([0.05, 0.005, 0.05])
    first = np.array([int(x[:, 1].argmin()), int(x[:, 1].argmax()), int(x[:, 2].argmax())])
    steps = np.argsort(RNG.random((60, 3)), axis=1)[:, :2], RNG.integers(0, 30, 60)
    inverse = np.linalg.inv(x[first])
    chosen, distance = plane.settle_plane(x, height, half, first, inverse, *steps, 6, 0.1, 1e-3, 30)
    plain = plane.settle_plane.py_func(x, height, half, first, inverse, *steps, 6, 0.1, 1e-3, 30)
    np.testing.assert_array_equal(chosen, plain[0])
    off = np.linalg.solve(x[chosen], height[chosen])
    assert distance == pytest.approx(np.abs(off / half).max())
    assert distance < np.abs(inverse @ height[first] / half).max() / 3


def test_descend_shortens_a_residual_within_reach():
    rng = np.random.default_rng(3)
    effects, reach = rng.normal(size=(200, 5)), rng.integers(0, 3, (200, 2)).astype(float)
    before = rng.normal(0, 15, 5)
    after = before.copy()
    times = both(lattice.descend, effects, reach, after, 20)
    assert ((-reach[:, 0] <= times) & (times <= reach[:, 1])).all()
    np.testing.assert_array_equal(times, np.rint(times))
    np.testing.assert_allclose(after, before + times @ effects, atol=1e-9)
    assert np.abs(after).max() < 1 < np.abs(before).max()
