"""How the rows of a mask, and of the tokens that it belongs to, end. Small numbers only; no tensor is kept."""

from __future__ import annotations

from math import isnan

import torch

from gradsan.observe.ops.values import Tensor
from gradsan.observe.unseen import is_dense
from gradsan.record.events import MaskFacts

MOST, MOST_ROWS, FEWEST_ROWS, FEWEST_PLACES = 1 << 16, 256, 3, 4
MOST_FLAGS, FEWEST_FLAGS = 4_096, 8


def of_product(inputs: list[Tensor]) -> MaskFacts | None:
    """Of the one of two operands that has no graph, where both have the same form."""
    one, other = inputs
    if one.requires_grad == other.requires_grad or one.shape != other.shape or not _is_table(one):
        return None
    mask = (other if one.requires_grad else one).detach()
    if not is_dense(mask) or mask.dtype.is_complex:
        return None
    low, high = (float(x) for x in torch.aminmax(mask))
    kept = mask != 0
    return MaskFacts(low, high, _tails(kept), int(kept.sum()))


def of_sum(inputs: list[Tensor]) -> MaskFacts | None:
    """Of what is summed up: of a mask, how it is filled; of a live value, how small and large its numbers are."""
    summed = inputs[0].detach() if inputs else None
    if summed is not None and summed.dim() == 3 and is_dense(summed):
        if not inputs[0].requires_grad and not _is_alike(summed):
            return None  # choices, not places
        summed = summed.flatten(1)  # `[B, T, 1]`, or the same for every agent
    if summed is None or not _is_table(summed) or not is_dense(summed) or summed.dtype.is_complex:
        return None
    if inputs[0].requires_grad:
        low, high = (float(x) for x in torch.aminmax(summed.abs()))
        known = not isnan(high)  # zero times infinity is not zero, and masked all the same
        return MaskFacts(low, high, (), int(summed.count_nonzero()) if known else 0)
    kept = summed != 0
    if not bool((kept == summed).all()):
        return None
    for rows in (kept, kept.t()):
        tails = _tails(rows)
        if sum(tails) == int((~kept).sum()):
            return MaskFacts(float(kept.all()), 1.0, tails, int(kept.sum()))
    return MaskFacts(0.0, 1.0, (), int(kept.sum()))


def of_flags(inputs: list[Tensor]) -> MaskFacts | None:
    """Of `1 - x`, where x holds zeros and ones only: how many of them are zero."""
    flags = inputs[0].detach() if len(inputs) == 1 and not inputs[0].requires_grad else None
    if flags is None or flags.numel() > MOST_FLAGS or not is_dense(flags) or flags.dtype.is_complex:
        return None
    zeros = int((flags == 0).sum())
    return MaskFacts(0.0, 1.0, (), zeros) if zeros + int((flags == 1).sum()) == flags.numel() else None


def of_column(column: Tensor) -> MaskFacts | None:
    """Of what comes into a batch: where it holds zeros and ones, both of them, and a number for each row."""
    rows = column.shape[0] if column.dim() else 0
    if rows < FEWEST_FLAGS or column.numel() != rows:
        return None
    found = of_flags([column])
    return found if found is not None and 0 < found.kept < rows else None


def of_tokens(inputs: list[Tensor]) -> MaskFacts | None:
    """Of what is looked up: the token that most rows end with is what they are filled up with."""
    tokens = next((t for t in inputs if not t.dtype.is_floating_point), None)
    if tokens is None or not is_dense(tokens) or not _is_table(tokens):
        return None
    low, high = (float(x) for x in torch.aminmax(tokens))
    return MaskFacts(low, high, _tails(tokens != tokens[:, -1].mode().values))


def _is_alike(cube: Tensor) -> bool:
    """Whether nothing changes along the last axis."""
    return cube.shape[2] == 1 or (0 < cube.numel() <= MOST and bool((cube == cube[..., :1]).all()))


def _is_table(tensor: Tensor) -> bool:
    if tensor.dim() != 2 or tensor.is_meta or tensor.numel() > MOST:
        return False
    rows, places = tensor.shape
    return FEWEST_ROWS <= rows <= MOST_ROWS and places >= FEWEST_PLACES


def _tails(kept: Tensor) -> tuple[int, ...]:
    return tuple((kept.flip(1).cumsum(1) == 0).sum(1).tolist())
