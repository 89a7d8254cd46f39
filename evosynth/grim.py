"""Means and standard deviations that data on a grid can have at all.

Brown and Heathers (2017), The GRIM test; Anaya (2016), The GRIMMER test.
"""

from __future__ import annotations

import math

from evosynth.printed import Published

_MOST_SUMS = 2000
_FAR = 1e12
"""Stands for the open end of a mean of which only a bound is published."""


def sums(mean: Published, n: int, unit: float) -> tuple[int, int]:
    """Smallest and largest sum, in units of the grid, whose mean prints as published.

    The pair is empty (low > high) when none does.
    """
    low, high = (min(max(end, -_FAR), _FAR) for end in mean.interval)
    first, last = math.ceil(low * n / unit - 1e-6), math.floor(high * n / unit + 1e-6)
    while first <= last and not mean.prints(first * unit / n):
        first += 1
    while first <= last and not mean.prints(last * unit / n):
        last -= 1
    return first, last


def possible_sd(mean: Published, sd: Published, n: int, unit: float, power: int = 1) -> bool:
    """Whether whole numbers of units exist with that mean and that sd (``power`` 2: variance)."""
    first, last = sums(mean, n, unit)
    if n < 2 or last - first > _MOST_SUMS:
        return True
    low, high = (max(0.0, end) ** (2 / power) / unit**2 * (n - 1) for end in sd.interval)
    for total in range(first, last + 1):
        # Squares of whole numbers have their parity, so their sum has that of the total.
        quotient, rest = divmod(total, n)
        least = rest * (quotient + 1) ** 2 + (n - rest) * quotient**2
        start = max(math.ceil(low + total**2 / n - 1e-6), least)
        start += (start - total) % 2
        for squares in range(start, start + 3, 2):
            spread = max(0.0, squares - total**2 / n) / (n - 1) * unit**2
            if squares <= high + total**2 / n + 1e-6 and sd.prints(spread ** (power / 2)):
                return True
    return False


def nearest_sd(mean: Published, sd: Published, n: int, unit: float, power: int = 1) -> float:
    """Return the sd (``power`` 2: variance) nearest to a published one that whole numbers have."""
    first, last = sums(mean, n, unit)
    best = math.inf
    goal = max(0.0, sd.value) ** (2 / power) / unit**2 * (n - 1)
    for total in range(first, min(last, first + _MOST_SUMS) + 1):
        quotient, rest = divmod(total, n)
        least = rest * (quotient + 1) ** 2 + (n - rest) * quotient**2
        near = math.floor(goal + total**2 / n)
        near -= (near - total) % 2
        for squares in (near, near + 2, least):
            if squares >= least:
                found = (max(0.0, squares - total**2 / n) / (n - 1) * unit**2) ** (power / 2)
                best = min(best, found, key=lambda value: abs(value - sd.value))
    return best
