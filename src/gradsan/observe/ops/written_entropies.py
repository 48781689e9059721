"""Entropies of a choice that were written by hand, known by their numbers.

`(-p * log_p).sum(-1)`, `torch.special.entr(p)`, `einsum("ba,ba->b", p, log_p)`, `logsumexp(z) - (p * z).sum(-1)` and
whatever else people write are one and the same number for each row. So what is made of one policy, and of nothing else,
is compared on a few rows with the entropy that this policy has there. What has a constant in it that is not a single
number (the probabilities of another policy, or of the same one a step ago) is something else and never looked at.

Of a policy only a few rows are kept, as numbers of their own."""

from __future__ import annotations

from math import log
from typing import Literal, NamedTuple

import torch

from gradsan.record.events import ValueId

Tensor = torch.Tensor
Written = Literal["entropy", "negative entropy"]

MAKING = {"softmax", "log_softmax", "logsumexp"}
ELEMENT = {"mul", "xlogy", "entr"}
NORMALISING = {"div"}
ADDING = {"add", "sub", "rsub"}  # what a part of an entropy may need to be the whole
ROWS = 8  # of a policy that are compared
FEWEST = 4  # from so many on a scale and a shift of the entropy may be told, too
KEPT = 16  # policies of one iteration
FINE = 1e-4  # of the range of what is compared: single precision
UNEVEN = 1e-3  # of the largest entropy: the first policy is often the same for all choices
WHOLE = (torch.float32, torch.float64)


class _Policy(NamedTuple):
    lead: tuple[int, ...]
    each: Tensor  # -p log p, for a few rows
    entropy: Tensor


class WrittenEntropies:
    """Of the last two iterations, like everything that is known about what values mean."""

    def __init__(self) -> None:
        self._policies: list[_Policy] = []
        self._pure: set[ValueId] = set()  # made of one policy and of plain numbers
        self._pure_before: set[ValueId] = set()
        self._told: set[ValueId] = set()  # entropies, and what was made of them

    def end_of_iteration(self) -> None:
        self._pure_before, self._pure = self._pure, set()
        self._policies.clear()
        self._told.clear()

    def is_told(self, nid: ValueId) -> None:
        """It is known to be an entropy by other means."""
        self._told.add(nid)

    def may_be(self, name: str) -> bool:
        return bool(self._policies) or name in MAKING or name in NORMALISING

    def made(
        self, nid: ValueId, name: str, numbers: tuple[ValueId, ...], inputs: list[Tensor], out: Tensor
    ) -> Written | None:
        """Asked of every value with a graph while somebody wants to know."""
        if name in MAKING and numbers:
            self._begin(nid, name, numbers[0], inputs, out)
            return None
        if not numbers or len(numbers) != len(inputs):
            return None
        is_part = not self._told.isdisjoint(numbers)
        if is_part:
            self._told.add(nid)
            if name not in ADDING:
                return None
        if name in NORMALISING and self._is_normalised(inputs, out):
            self._keep(out.detach().log(), out.shape)
            self._pure.add(nid)
            return None
        pure = [n in self._pure or n in self._pure_before for n in numbers]
        whole = any(pure) and all(p or t.numel() == 1 for p, t in zip(pure, inputs, strict=True))
        if whole:
            self._pure.add(nid)
        # A factor that was made by hand may be log p; that it is tell the numbers.
        both = name == "mul" and any(pure) and all(t.requires_grad for t in inputs)
        found = self._compared(name, out) if whole or both else None
        if found is not None:
            self._told.add(nid)
        return found

    def _begin(self, nid: ValueId, name: str, source: ValueId, inputs: list[Tensor], out: Tensor) -> None:
        """Of the logits, too: `logsumexp(z) - (p * z).sum(-1)`."""
        self._pure.update((nid, source))
        if name != "logsumexp":
            logits = out.detach() if name == "log_softmax" else inputs[0].detach()
            if out.dim() and inputs[0].shape == out.shape:
                self._keep(logits, out.shape)

    def _keep(self, logits: Tensor, shape: torch.Size) -> None:
        if len(shape) < 1 or shape[-1] < 2 or logits.dtype not in WHOLE or logits.layout != torch.strided:
            return
        lead = tuple(shape[:-1])
        if not logits.is_contiguous() or any(not n for n in lead) or logits.device.type == "meta":
            return
        log_probs = logits.view(-1, shape[-1])[:ROWS].log_softmax(-1)
        each = torch.special.entr(log_probs.exp())
        self._policies = [*self._policies[1 - KEPT :], _Policy(lead, each, each.sum(-1))]

    @staticmethod
    def _is_normalised(inputs: list[Tensor], out: Tensor) -> bool:
        """`exp(z) / exp(z).sum(-1, keepdim=True)`: all above zero, and one together."""
        if len(inputs) != 2 or out.dtype not in WHOLE or out.dim() < 1 or out.shape[-1] < 2:
            return False
        if inputs[1].shape != (*out.shape[:-1], 1) or not out.is_contiguous() or not out.numel():
            return False
        rows = out.detach().view(-1, out.shape[-1])[:ROWS]
        return bool((rows > 0.0).all()) and torch.allclose(rows.sum(-1), rows.new_ones(len(rows)))

    def _compared(self, name: str, out: Tensor) -> Written | None:
        shape = tuple(out.shape)
        if out.dtype not in WHOLE or not out.numel() or not out.is_contiguous():
            return None
        for policy in reversed(self._policies):
            width = policy.each.shape[-1]
            if name in ELEMENT and shape == (*policy.lead, width):
                wanted, told = policy.each.flatten(), out.detach().view(-1, width)[:ROWS].flatten()
                scale = _scale(wanted, told)
            elif shape == policy.lead and name not in ELEMENT:
                scale = _of_rows(policy, out.detach().reshape(-1)[:ROWS], width)
            else:
                continue
            if scale:
                return "entropy" if scale > 0.0 else "negative entropy"
        return None


def _of_rows(policy: _Policy, told: Tensor, width: int) -> float:
    wanted = policy.entropy
    highest = log(width)
    if len(wanted) < FEWEST:
        uneven = float((highest - wanted).abs().min()) > UNEVEN * highest
        sign = float((told * wanted).sum().sign())
        return sign if uneven and torch.allclose(told, sign * wanted, rtol=1e-5, atol=1e-6) else 0.0
    if float(wanted.max() - wanted.min()) < UNEVEN * highest:
        return 0.0
    return _scale(wanted - wanted.mean(), told - told.mean())


def _scale(wanted: Tensor, told: Tensor) -> float:
    """How many times `wanted` it is, where it is that everywhere; else 0."""
    size = float((wanted * wanted).sum())
    scale = float((wanted * told).sum()) / size if size else 0.0
    most = float((told - scale * wanted).abs().max())
    return scale if scale and most <= FINE * abs(scale) * float(wanted.abs().max()) else 0.0
