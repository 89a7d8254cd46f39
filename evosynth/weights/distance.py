"""What calibration may do to a weight: the ratio of new to old as a function of the multipliers.

A method is a function F with F(0) = F'(0) = 1; the weights are d·F(x'λ). Deville and Särndal (1992)
derive each from a distance between old and new weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from evosynth.schema import FloatArray

Method: TypeAlias = Literal["raking", "linear", "logit", "truncated linear"]
METHODS: tuple[Method, ...] = get_args(Method)

_MOST = 300.0
"""Largest exponent: beyond it a weight has run away, and only overflow would follow."""


@dataclass(frozen=True)
class Distance(ABC):
    """A method with the bounds of its ratios, the same for all records or one for each."""

    low: FloatArray = field(default_factory=lambda: np.array(-np.inf))
    high: FloatArray = field(default_factory=lambda: np.array(np.inf))

    @abstractmethod
    def ratio(self, u: FloatArray) -> FloatArray:
        """Return F(u), the ratio of new to old weight."""

    @abstractmethod
    def slope(self, u: FloatArray) -> FloatArray:
        """Return F'(u)."""

    @abstractmethod
    def dual(self, u: FloatArray) -> FloatArray:
        """Return the integral of F from 0 to u, which is convex."""


class _Truncated(Distance):
    """A plain function inside its bounds, constant outside of them."""

    natural: ClassVar[float] = -np.inf
    """Smallest ratio without bounds."""

    @abstractmethod
    def _value(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _slope(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _integral(self, u: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _inverse(self, ratio: FloatArray) -> FloatArray: ...

    @property
    def _bounded(self) -> bool:
        """Whether the bounds are closer than those that the function has anyway."""
        return bool((self.low > self.natural).any() or np.isfinite(self.high).any())

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        return self._inverse(self.low), self._inverse(self.high)

    def ratio(self, u: FloatArray) -> FloatArray:
        """Return F(u), within the bounds."""
        found = self._value(u)
        return np.asarray(np.clip(found, self.low, self.high) if self._bounded else found)

    def slope(self, u: FloatArray) -> FloatArray:
        """Return F'(u), 0 beyond the bounds."""
        if not self._bounded:
            return self._slope(u)
        least, most = self._ends()
        return np.where((u < least) | (u > most), 0.0, self._slope(u))

    def dual(self, u: FloatArray) -> FloatArray:
        """Go on with the slope of the bound beyond it."""
        least, most = self._ends()
        inside = np.clip(u, least, most)
        return np.asarray(self._integral(inside) + (u - inside) * self.ratio(u))


class Linear(_Truncated):
    """F(u) = 1 + u: what generalised regression does; weights may be negative without bounds."""

    def _value(self, u: FloatArray) -> FloatArray:
        return 1.0 + u

    def _slope(self, u: FloatArray) -> FloatArray:
        return np.ones_like(u)

    def _integral(self, u: FloatArray) -> FloatArray:
        return np.asarray(u + u * u / 2)

    def _inverse(self, ratio: FloatArray) -> FloatArray:
        return np.asarray(ratio - 1.0)


class Raking(_Truncated):
    """F(u) = exp(u): iterative proportional fitting; weights are above 0."""

    natural = 0.0

    def _value(self, u: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.clip(u, -_MOST, _MOST)))

    def _slope(self, u: FloatArray) -> FloatArray:
        return self._value(u)

    def _integral(self, u: FloatArray) -> FloatArray:
        return self._value(u) - 1.0

    def _inverse(self, ratio: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(ratio, 0.0)))


class Logit(Distance):
    """Ratios between two bounds along a logistic curve."""

    @property
    def _steepness(self) -> FloatArray:
        span = (1.0 - self.low) * (self.high - 1.0)
        return np.asarray((self.high - self.low) / span)

    def _share(self, u: FloatArray) -> FloatArray:
        """Where between the bounds the ratio lies, from 0 to 1."""
        odds = np.log((1.0 - self.low) / (self.high - 1.0)) + self._steepness * u
        return np.asarray(1.0 / (1.0 + np.exp(np.clip(-odds, -_MOST, _MOST))))

    def ratio(self, u: FloatArray) -> FloatArray:
        """Return a ratio between the bounds."""
        return np.asarray(self.low + (self.high - self.low) * self._share(u))

    def slope(self, u: FloatArray) -> FloatArray:
        """Return the slope of the logistic curve."""
        share = self._share(u)
        return np.asarray((self.high - self.low) * self._steepness * share * (1.0 - share))

    def dual(self, u: FloatArray) -> FloatArray:
        """Return the integral of the logistic curve."""
        one, two = np.log(self.high - 1.0), np.log(1.0 - self.low) + self._steepness * u
        span = (1.0 - self.low) * (self.high - 1.0)
        return np.asarray(
            self.low * u + span * (np.logaddexp(one, two) - np.log(self.high - self.low))
        )


def distance(method: Method, low: FloatArray, high: FloatArray) -> Distance:
    """Return a method within bounds, infinite ones where there are none."""
    kinds: dict[str, Callable[[FloatArray, FloatArray], Distance]]
    kinds = {"raking": Raking, "linear": Linear, "truncated linear": Linear, "logit": Logit}
    return kinds[method](np.asarray(low, np.float64), np.asarray(high, np.float64))
