"""Entropies that were written by hand are known by their numbers, not by how they are spelt."""

from __future__ import annotations

import pytest
import torch

from gradsan.observe.ops.written_entropies import WrittenEntropies
from gradsan.record.events import ValueId

LOGITS, PROBS, LOGS, FOURTH, FIFTH = (ValueId(n) for n in range(1, 6))


def looked_at(logits: torch.Tensor) -> tuple[WrittenEntropies, torch.Tensor, torch.Tensor]:
    written, probs, logs = WrittenEntropies(), logits.softmax(-1), logits.log_softmax(-1)
    written.made(PROBS, "softmax", (LOGITS,), [logits], probs)
    written.made(LOGS, "log_softmax", (LOGITS,), [logits], logs)
    return written, probs, logs


def logits(*shape: int) -> torch.Tensor:
    torch.manual_seed(3)
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize("shape", [(12, 5), (1, 5), (2, 3, 4), (5,)])
def test_products_and_sums_over_the_choices(shape):
    written, probs, logs = looked_at(logits(*shape))
    assert written.made(FOURTH, "mul", (PROBS, LOGS), [probs, logs], probs * logs) == "negative entropy"
    written, probs, logs = looked_at(logits(*shape))
    summed = torch.einsum("...a,...a->...", probs, logs)
    assert written.made(FOURTH, "einsum", (PROBS, LOGS), [probs, logs], -summed) == "entropy"


def test_what_is_made_of_an_entropy_is_not_told_once_more():
    written, probs, logs = looked_at(logits(12, 5))
    product = probs * logs
    assert written.made(FOURTH, "mul", (PROBS, LOGS), [probs, logs], product)
    assert written.made(FIFTH, "sum", (FOURTH,), [product], product.sum(-1)) is None


def test_a_shift_and_a_scale_leave_it_an_entropy_where_there_are_rows_enough():
    written, probs, logs = looked_at(logits(12, 5))
    apart = (probs * (logs + 1.6)).sum(-1)
    assert written.made(FOURTH, "bmm", (PROBS, LOGS), [probs, logs], 3 * apart) == "negative entropy"
    written, probs, logs = looked_at(logits(2, 5))
    apart = (probs * (logs + 1.6)).sum(-1)
    assert written.made(FOURTH, "bmm", (PROBS, LOGS), [probs, logs], apart) is None


def test_constants_of_several_numbers_make_it_something_else():
    written, probs, logs = looked_at(logits(12, 5))
    before = probs.detach()  # of the same policy, as it happens
    assert written.made(FOURTH, "mul", (FIFTH, LOGS), [before, logs], before * logs) is None
    kept = (before * logs).sum(-1)
    assert written.made(FIFTH, "sum", (FOURTH,), [before * logs], kept) is None


def test_other_functions_of_a_policy_are_none():
    written, probs, logs = looked_at(logits(12, 5))
    others = [probs.pow(2).sum(-1), logs.mean(-1), probs.amax(-1), logs.amin(-1), logs[:, 0]]
    for out in others:
        assert written.made(FOURTH, "sum", (PROBS,), [probs], out) is None


@pytest.mark.parametrize("rows", [1, 12])
def test_a_policy_that_has_not_learned_anything_tells_nothing(rows):
    written, _, logs = looked_at(torch.zeros(rows, 5, requires_grad=True))
    assert written.made(FOURTH, "getitem", (LOGS,), [logs], logs[:, 0]) is None
