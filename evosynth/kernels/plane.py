"""Planes through points: exchanging two points of a plane at a time until it lies as wanted."""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit


@jit
def settle_plane(
    x: Floats,
    gap: Floats,
    half: Floats,
    chosen: Integers,
    inverse: Floats,
    pairs: Integers,
    drawn: Integers,
    patience: int,
    near: float,
    flattest: float,
    most_lines: int,
) -> tuple[Integers, float]:
    """Exchange points, and one at random when no pair helps; return the best seen.

    Parameters
    ----------
    x, gap
        Coordinates of each point, and its height above the plane that is wanted.
    half
        How far each coefficient may be off.
    chosen, inverse
        Points of the first plane, and the inverse of their coordinates.
    pairs, drawn
        Two points of the plane to exchange in each step, and a random point for each step.
    patience
        Steps without gain after which a point is exchanged at random.
    near
        Distance, in half-widths, that will do.
    flattest
        Smallest volume that the points may span, relative to the first ones.
    most_lines
        Points among which pairs are looked for.

    Returns
    -------
    tuple
        The points, and the largest distance of a coefficient in half-widths.
    """
    n_points, width = x.shape
    points, turn = chosen.copy(), inverse.copy()
    off = turn @ gap[points]
    loss = np.abs(off / half).max()
    best, least = points.copy(), loss
    volume, stalled = 1.0, 0
    lines = np.empty(most_lines, np.int64)
    low, high = np.empty(most_lines), np.empty(most_lines)
    for step in range(len(pairs)):
        if least < near:
            break
        one, two = pairs[step, 0], pairs[step, 1]
        if stalled >= patience:
            # No pair helps: go on from another plane.
            c = drawn[step]
            along = 0.0
            for a in range(width):
                along += x[c, a] * turn[a, one]
            if volume * abs(along) > flattest:
                volume *= abs(along)
                _replace(x, turn, points, one, c)
                off = turn @ gap[points]
                loss = np.abs(off / half).max()
                stalled = 0
            continue
        count = 0
        first = drawn[step]
        # The plane may turn as δ + u·one + v·two; a point allows a line of (u, v), of which the
        # part matters that keeps every coefficient nearer than now.
        for i in range(n_points):
            c = (first + i) % n_points
            p, q, height = 0.0, 0.0, gap[c]
            for a in range(width):
                p += x[c, a] * turn[a, one]
                q += x[c, a] * turn[a, two]
                height -= x[c, a] * off[a]
            norm = p * p + q * q
            if norm < 1e-16:
                continue
            u, v = p * height / norm, q * height / norm
            start, end = -np.inf, np.inf
            for a in range(width):
                base = off[a] + u * turn[a, one] + v * turn[a, two]
                slope = p * turn[a, two] - q * turn[a, one]
                room = 0.999 * loss * half[a]
                if abs(slope) * 1e12 < room:
                    if abs(base) > room:
                        end = -np.inf
                else:
                    middle, reach = -base / slope, abs(room / slope)
                    start, end = max(start, middle - reach), min(end, middle + reach)
                if start > end:
                    break
            if start <= end:
                lines[count], low[count], high[count] = c, start, end
                count += 1
                if count == most_lines:
                    break
        found_one, found_two, area_found, reached = -1, -1, 1.0, loss
        for i in range(count):
            c = lines[i]
            p, q, height = 0.0, 0.0, gap[c]
            for a in range(width):
                p += x[c, a] * turn[a, one]
                q += x[c, a] * turn[a, two]
                height -= x[c, a] * off[a]
            norm = p * p + q * q
            u, v = p * height / norm, q * height / norm
            for j in range(count):
                d = lines[j]
                r, s, rise = 0.0, 0.0, gap[d]
                for a in range(width):
                    r += x[d, a] * turn[a, one]
                    s += x[d, a] * turn[a, two]
                    rise -= x[d, a] * off[a]
                area = p * s - q * r
                if volume * abs(area) < flattest:
                    continue
                along = (rise - r * u - s * v) / area
                if along < low[i] or along > high[i]:
                    continue
                worst = 0.0
                for a in range(width):
                    value = off[a] + (u - q * along) * turn[a, one] + (v + p * along) * turn[a, two]
                    worst = max(worst, abs(value) / half[a])
                if worst < reached:
                    found_one, found_two, area_found, reached = c, d, area, worst
        if found_one < 0:
            stalled += 1
            continue
        stalled = 0
        volume *= abs(area_found)
        first_along = 0.0
        for a in range(width):
            first_along += x[found_one, a] * turn[a, one]
        if abs(first_along) > 1e-9:
            _replace(x, turn, points, one, found_one)
            _replace(x, turn, points, two, found_two)
        else:
            _replace(x, turn, points, two, found_one)
            _replace(x, turn, points, one, found_two)
        off = turn @ gap[points]
        loss = np.abs(off / half).max()
        if loss < least:
            best, least = points.copy(), loss
    return best, least


@jit
def _replace(x: Floats, turn: Floats, points: Integers, at: int, point: int) -> None:
    """Put a point in the place of another, and bring the inverse of the coordinates up to date."""
    along = x[point] @ turn
    turn[:, at] /= along[at]
    for k in range(len(points)):
        if k != at:
            for a in range(len(turn)):
                turn[a, k] -= along[k] * turn[a, at]
    points[at] = point
