"""Correlated quantities with given skewness and kurtosis: polynomials of normal ones.

Fleishman (1978) for the polynomials, Vale and Maurelli (1983) for the correlations.
"""

from __future__ import annotations

import numpy as np

from evosynth.schema import FloatArray

_STEPS, _ROUNDS = 20, 50


def least_kurtosis(skewness: float) -> float:
    """Excess kurtosis below which no polynomial has this skewness (Headrick & Sawilowsky 2000)."""
    return 1.58837 * skewness**2 - 1.13168


def polynomial(skewness: float, kurtosis: float) -> FloatArray:
    """Solve for b, c, d such that -c + bz + cz² + dz³ of a normal z has mean 0, variance 1.

    Parameters
    ----------
    skewness, kurtosis
        As wanted; the kurtosis is in excess of the normal. A kurtosis that no polynomial reaches
        is raised until one does.
    """
    wanted = max(kurtosis, least_kurtosis(skewness))
    for _ in range(_ROUNDS):
        found = _solved(skewness, wanted)
        if found is not None:
            return found
        wanted += 0.02 * (1 + abs(wanted))
    return np.array([1.0, 0.0, 0.0])


def intermediate(one: FloatArray, two: FloatArray, correlation: float) -> float:
    """Find the correlation of two normal quantities whose polynomials correlate as wanted.

    The nearest that there is, if none does.
    """
    (b, c, d), (e, f, g) = one, two
    curve = np.array([6 * d * g, 2 * c * f, b * e + 3 * b * g + 3 * d * e + 9 * d * g, 0.0])
    inner = np.roots(np.polyder(curve))
    inside = inner[np.abs(inner.imag) < 1e-12].real
    corners = np.sort(np.r_[-1.0, inside[np.abs(inside) < 1], 1.0])
    candidates = list(corners)
    wanted = curve - np.array([0.0, 0.0, 0.0, correlation])
    for low, high in zip(corners[:-1], corners[1:], strict=True):
        if np.polyval(wanted, low) * np.polyval(wanted, high) < 0:
            candidates.append(_bisected(wanted, low, high))
    distances = np.abs(np.polyval(wanted, candidates))
    near = np.asarray(candidates)[distances <= distances.min() + 1e-12]
    return float(near[np.argmin(np.abs(near - correlation))])


def nearest_correlation(matrix: FloatArray) -> FloatArray:
    """Make a symmetric matrix one of correlations: no negative eigenvalue, ones on its diagonal."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    positive = (vectors * np.clip(values, 0, None)) @ vectors.T
    scale = np.sqrt(np.clip(np.diag(positive), 1e-300, None))
    found: FloatArray = positive / np.outer(scale, scale)
    return found


def symmetric_root(matrix: FloatArray) -> FloatArray:
    """Root of a covariance matrix, singular or not, whatever the signs of its eigenvectors."""
    values, vectors = np.linalg.eigh(matrix)
    found: FloatArray = (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    return found


def _solved(skewness: float, kurtosis: float) -> FloatArray | None:
    """Newton's method, from the normal to what is wanted in small steps."""
    found = np.array([1.0, 0.0, 0.0])
    for share in np.linspace(0, 1, _STEPS + 1)[1:]:
        for _ in range(_ROUNDS):
            residual = _moments(found) - [1, share * skewness, share * kurtosis]
            if np.abs(residual).max() < 1e-12 * (1 + abs(kurtosis)):
                break
            change = np.linalg.lstsq(_slopes(found), residual, rcond=None)[0]
            found = found - change * min(1.0, 0.5 / max(np.abs(change).max(), 1e-300))
        if np.abs(_moments(found) - [1, share * skewness, share * kurtosis]).max() > 1e-8:
            return None
    return found


def _moments(x: FloatArray) -> FloatArray:
    b, c, d = x
    return np.array(
        [
            b**2 + 6 * b * d + 2 * c**2 + 15 * d**2,
            2 * c * (b**2 + 24 * b * d + 105 * d**2 + 2),
            24
            * (
                b * d
                + c**2 * (1 + b**2 + 28 * b * d)
                + d**2 * (12 + 48 * b * d + 141 * c**2 + 225 * d**2)
            ),
        ]
    )


def _slopes(x: FloatArray) -> FloatArray:
    """Differentiate by a complex step, exact to the last digit."""
    steps = x[:, None] + 1e-30j * np.eye(3)
    return np.column_stack([_moments(steps[:, i]).imag / 1e-30 for i in range(3)])


def _bisected(curve: FloatArray, low: float, high: float) -> float:
    rising = np.polyval(curve, low) < 0
    for _ in range(100):
        middle = (low + high) / 2
        if (np.polyval(curve, middle) < 0) == rising:
            low = middle
        else:
            high = middle
    return (low + high) / 2
