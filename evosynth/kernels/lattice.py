"""Lattice reduction and nearest-plane search, in floating point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosynth.kernels._jit import Floats, jit, jit_sum

# Lenstra, Lenstra and Lovász ask for a constant between 1/4 and 1; nearer 1 reduces better.
_DELTA = 0.99
_MOST_TURNS = 8


@jit_sum
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


@jit
def reduce_basis(basis: Floats, most_swaps: int) -> tuple[Floats, Floats]:
    """Reduce the rows of ``basis`` in place (LLL) and return their Gram-Schmidt vectors.

    The orthogonalisation drifts as rows are exchanged, so it is made anew until nothing is left to
    do. Stops early, with a basis that is valid but less reduced, after ``most_swaps`` swaps.
    """
    n, width = basis.shape
    mu = np.zeros((n, n))
    norm = np.zeros(n)
    star = np.zeros((n, width))
    swaps = 0
    for _ in range(_MOST_TURNS):
        before = swaps
        k = 0
        reached = -1
        while k < n:
            if k > reached:
                reached = k
                _orthogonalise(basis, mu, norm, star, k)
            if k == 0:
                k = 1
                continue
            _shorten(basis, mu, k, k - 1)
            if norm[k] < (_DELTA - mu[k, k - 1] ** 2) * norm[k - 1] and swaps < most_swaps:
                swaps += 1
                _swap(basis, mu, norm, star, k, reached)
                k = max(1, k - 1)
            else:
                for j in range(k - 2, -1, -1):
                    _shorten(basis, mu, k, j)
                k += 1
        if swaps == before or swaps >= most_swaps:
            break
    for k in range(n):
        _orthogonalise(basis, mu, norm, star, k)
    return star, norm


@jit
def _orthogonalise(basis: Floats, mu: Floats, norm: Floats, star: Floats, k: int) -> None:
    """Take from row k its parts along the rows before it; twice, as once leaves rounding."""
    width = basis.shape[1]
    for c in range(width):
        star[k, c] = basis[k, c]
    for j in range(k):
        mu[k, j] = 0.0
    for _ in range(2):
        for j in range(k):
            part = _dot(star[k], star[j]) / norm[j]
            mu[k, j] += part
            for c in range(width):
                star[k, c] -= part * star[j, c]
    norm[k] = np.sum(star[k] * star[k])


@jit
def _shorten(basis: Floats, mu: Floats, k: int, j: int) -> None:
    q = np.rint(mu[k, j])
    if q != 0.0:
        for c in range(basis.shape[1]):
            basis[k, c] -= q * basis[j, c]
        for i in range(j):
            mu[k, i] -= q * mu[j, i]
        mu[k, j] -= q


@jit
def _swap(basis: Floats, mu: Floats, norm: Floats, star: Floats, k: int, reached: int) -> None:
    """Exchange rows k-1 and k and update the orthogonalisation (Cohen 1993, algorithm 2.6.3)."""
    for c in range(basis.shape[1]):
        basis[k, c], basis[k - 1, c] = basis[k - 1, c], basis[k, c]
    for j in range(k - 1):
        mu[k, j], mu[k - 1, j] = mu[k - 1, j], mu[k, j]
    m = mu[k, k - 1]
    total = norm[k] + m * m * norm[k - 1]
    ratio = norm[k - 1] / total
    mu[k, k - 1] = m * ratio
    rest = norm[k] / total
    for c in range(basis.shape[1]):
        old = star[k - 1, c]
        star[k - 1, c] = star[k, c] + m * old
        star[k, c] = -mu[k, k - 1] * star[k, c] + rest * old
    norm[k] *= ratio
    norm[k - 1] = total
    for i in range(k + 1, reached + 1):
        t = mu[i, k]
        mu[i, k] = mu[i, k - 1] - m * t
        mu[i, k - 1] = t + mu[k, k - 1] * mu[i, k]


@jit
def nearest_plane(basis: Floats, star: Floats, norm: Floats, target: Floats) -> Floats:
    """Return a lattice vector near ``target`` (Babai 1986)."""
    n, width = basis.shape
    rest = target.copy()
    for i in range(n - 1, -1, -1):
        q = np.rint(_dot(rest, star[i]) / norm[i])
        if q != 0.0:
            for c in range(width):
                rest[c] -= q * basis[i, c]
    return target - rest


@jit
def near_planes(
    basis: Floats, star: Floats, norm: Floats, targets: Floats, jitter: Floats
) -> Floats:
    """Return a lattice vector near each target; ``jitter`` is added to what is rounded."""
    found = np.empty_like(targets)
    n, width = basis.shape
    for t in range(len(targets)):
        rest = targets[t].copy()
        for i in range(n - 1, -1, -1):
            q = np.rint(_dot(rest, star[i]) / norm[i] + jitter[t, i])
            if q != 0.0:
                for c in range(width):
                    rest[c] -= q * basis[i, c]
        found[t] = targets[t] - rest
    return found


@jit
def balance(start: Floats, options: Floats) -> NDArray[np.int64]:
    """Pick one option per step so that the running sum stays short; shape (steps, options, k)."""
    n_steps, n_options, width = options.shape
    picked = np.zeros(n_steps, dtype=np.int64)
    total = start.copy()
    for s in range(n_steps):
        least = np.inf
        for o in range(n_options):
            length = 0.0
            for j in range(width):
                length += (total[j] + options[s, o, j]) ** 2
            if length < least:
                least = length
                picked[s] = o
        for j in range(width):
            total[j] += options[s, picked[s], j]
    return picked


@jit
def descend(effects: Floats, reach: Floats, residual: Floats, passes: int) -> Floats:
    """Make each move as often as shortens ``residual`` most, in turn, again and again.

    ``reach``: how often each can be made backwards and forwards. ``residual`` is updated.
    """
    n_moves, width = effects.shape
    times = np.zeros(n_moves)
    length = np.zeros(n_moves)
    for m in range(n_moves):
        for j in range(width):
            length[m] += effects[m, j] ** 2
    for _ in range(passes):
        changed = False
        for m in range(n_moves):
            if length[m] == 0.0:
                continue
            wanted = times[m] + np.rint(-_dot(residual, effects[m]) / length[m])
            step = min(max(wanted, -reach[m, 0]), reach[m, 1]) - times[m]
            if step != 0.0:
                changed = True
                times[m] += step
                for j in range(width):
                    residual[j] += step * effects[m, j]
        if not changed:
            break
    return times
