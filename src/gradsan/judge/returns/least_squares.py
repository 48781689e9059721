"""The share that each of several columns has in another."""

from __future__ import annotations

import operator
from collections.abc import Sequence

Column = Sequence[float]


def solve(columns: Sequence[Column], wanted: Column) -> list[float]:
    """Least squares, by making the columns orthogonal one after the other; one that the others span gets nothing."""
    basis: list[Column] = []
    norms: list[float] = []
    parts: list[list[float]] = []  # of each column, how much of each basis vector it holds
    for column in columns:
        rest, shares = column, []
        for vector, norm in zip(basis, norms, strict=True):
            share = _dot(rest, vector) / norm if norm else 0.0
            rest = _without(rest, share, vector)
            shares.append(share)
        left = _dot(rest, rest)
        spanned = left <= 1e-12 * _dot(column, column)
        basis.append([0.0] * len(rest) if spanned else rest)
        norms.append(0.0 if spanned else left)
        parts.append(shares)
    residual, weights = wanted, []
    for vector, norm in zip(basis, norms, strict=True):
        weight = _dot(residual, vector) / norm if norm else 0.0
        residual = _without(residual, weight, vector)
        weights.append(weight)
    for number in reversed(range(len(columns))):
        if norms[number] == 0.0:
            weights[number] = 0.0
        for earlier, share in enumerate(parts[number]):
            weights[earlier] -= share * weights[number]
    return weights


def _without(column: Column, share: float, vector: Column) -> Column:
    return [r - share * v for r, v in zip(column, vector, strict=True)] if share else column


def _dot(a: Column, b: Column) -> float:
    total: float = sum(map(operator.mul, a, b))
    return total
