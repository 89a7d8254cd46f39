"""Expressions on coded records, as programmes for a machine with a stack."""

from __future__ import annotations

import numpy as np

from evosynth.kernels._jit import Floats, Integers, jit

_CLOSE = 1e-9

OPERATIONS = (
    "number", "look", "negative", "+", "-", "*", "/", "^", "min", "max", "abs", "round", "floor",
    "log", "exp", "sqrt", "<", "<=", "==", "!=", "and", "or", "not", "if",
)  # fmt: skip
"""What an operation is called, by its number; ``look`` finds a record's level in a table."""


@jit
def _and(one: float, two: float, decisive: float) -> float:
    """Join truths of which one value decides whatever the other is."""
    if one == decisive or two == decisive:
        return decisive
    if np.isnan(one) or np.isnan(two):
        return np.nan
    return 1.0 - decisive


@jit
def _binary(op: int, a: float, b: float) -> float:
    """Work out an operation on two numbers, the first ones by their place in `OPERATIONS`."""
    if op == 3:
        return a + b
    if op == 4:
        return a - b
    if op == 5:
        return a * b
    if op == 6:
        return np.nan if b == 0.0 else a / b
    if op == 7:
        return float(a**b)
    if op == 20:
        return _and(a, b, 0.0)
    if op == 21:
        return _and(a, b, 1.0)
    if np.isnan(a) or np.isnan(b):
        return np.nan
    if op == 8:
        return min(a, b)
    if op == 9:
        return max(a, b)
    close = abs(a - b) <= _CLOSE * max(1.0, abs(a), abs(b))
    if op == 16:
        return 1.0 if a < b and not close else 0.0
    if op == 17:
        return 1.0 if a < b or close else 0.0
    if op == 18:
        return 1.0 if close else 0.0
    return 0.0 if close else 1.0


@jit
def _unary(op: int, a: float) -> float:
    """Work out an operation on one number."""
    if op == 2:
        return -a
    if op == 10:
        return abs(a)
    if op == 11:
        return float(np.floor(a + 0.5))
    if op == 12:
        return float(np.floor(a))
    if op == 13:
        return np.log(a) if a > 0.0 else np.nan
    if op == 14:
        return float(np.exp(a))
    if op == 15:
        return np.sqrt(a) if a >= 0.0 else np.nan
    return 1.0 - a


@jit
def run_programme(
    codes: Integers, ops: Integers, columns: Integers, starts: Integers, numbers: Floats, depth: int
) -> Floats:
    """Evaluate a programme for each record: a number, or 1, 0 and nan for true, false, unknown.

    ``ops`` are positions in `OPERATIONS`; ``look`` reads ``numbers[starts + level of columns]``,
    ``number`` reads ``numbers[starts]``.
    """
    found = np.empty(len(codes))
    stack = np.empty(depth)
    for row in range(len(codes)):
        top = 0
        for k in range(len(ops)):
            op = ops[k]
            if op == 0:
                stack[top] = numbers[starts[k]]
                top += 1
            elif op == 1:
                stack[top] = numbers[starts[k] + codes[row, columns[k]]]
                top += 1
            elif op == 23:
                top -= 2
                test = stack[top - 1]
                if np.isnan(test):
                    stack[top - 1] = np.nan
                else:
                    stack[top - 1] = stack[top] if test == 1.0 else stack[top + 1]
            elif op == 2 or 10 <= op <= 15 or op == 22:
                stack[top - 1] = _unary(op, stack[top - 1])
            else:
                top -= 1
                stack[top - 1] = _binary(op, stack[top - 1], stack[top])
        found[row] = stack[0]
    return found
