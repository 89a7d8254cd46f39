"""The names of the comparators, apart from them so that a command need not import them."""

from __future__ import annotations

from typing import Literal

Method = Literal["cart", "margins", "normal", "nonnormal"]
METHODS: tuple[Method, ...] = ("cart", "margins", "normal", "nonnormal")
