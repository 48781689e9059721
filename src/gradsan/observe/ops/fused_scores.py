"""What a custom function gives back that scores tokens in one go: log-probabilities, an entropy.

Libraries fuse the last layer, the softmax and the choice into one function, so that no logits are ever there to be
seen. But its inputs and its results are: on a few rows the same is computed the long way, and where both agree, that
is what the function computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from gradsan.observe.ops.values import Tensor, is_floating
from gradsan.record.events import Tag

ROWS = 3
LARGEST = 1 << 27  # numbers in the last layer's weight
INTEGERS = (torch.int64, torch.int32)
WHOLE = (torch.float32, torch.float64)
FINE, ROUGH = 1e-4, 3e-2  # of a logarithm: single precision, and what half of the digits leave of it


def tags_of(args: Sequence[Any], inputs: list[Tensor], outputs: list[Tensor]) -> dict[int, tuple[Tag, ...]]:
    """By the place of a result what it is; nothing where it is neither."""
    for chosen in inputs:
        if chosen.dtype not in INTEGERS or not chosen.numel() or chosen.device.type == "meta":
            continue
        rough = torch.is_autocast_enabled(chosen.device.type) or any(
            is_floating(t) and t.dtype not in WHOLE for t in (*inputs, *outputs)
        )
        likely = [o for o in outputs if o.shape == chosen.shape and is_floating(o)]
        for logits, rows in _logits(chosen, inputs) if likely else ():
            meant = _Meant(logits, chosen, rows, ROUGH if rough else FINE)
            if found := meant.found(args, outputs):
                return found
    return {}


def _logits(chosen: Tensor, inputs: list[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """Logits of a few rows that could be meant, and which rows these are: given as such, or as what the last layer
    makes them of."""
    floats = [t.detach() for t in inputs if is_floating(t)]
    lead, picked = tuple(chosen.shape), _spread(chosen)
    for first in floats:
        if tuple(first.shape[:-1]) != lead:
            continue
        given = first.reshape(-1, first.shape[-1])[picked]
        yield given.float(), picked
        for weight in floats:
            if weight.dim() != 2 or weight.shape[1] != first.shape[-1] or weight.numel() > LARGEST:
                continue
            plain = (given.to(weight.dtype) @ weight.t()).float()
            yield plain, picked
            for bias in floats:
                if tuple(bias.shape) == (weight.shape[0],):
                    yield plain + bias.float(), picked


def _spread(chosen: Tensor) -> Tensor:
    count = chosen.numel()
    return torch.arange(0, count, max(1, count // ROWS), device=chosen.device)[:ROWS]


class _Meant(NamedTuple):
    """Logits of a few rows of the choices, to compare the results with."""

    logits: Tensor
    chosen: Tensor
    rows: Tensor
    precision: float

    def found(self, args: Sequence[Any], outputs: list[Tensor]) -> dict[int, tuple[Tag, ...]]:
        picked, width = self.chosen.flatten()[self.rows].long(), self.logits.shape[-1]
        if width < 2 or int(picked.min()) < 0 or int(picked.max()) >= width:
            return {}
        for scale in _scales(args):
            log_probs = torch.log_softmax(self.logits * scale, -1)
            scores = log_probs.gather(-1, picked.unsqueeze(-1)).squeeze(-1)
            entropy = -(log_probs.exp() * log_probs).sum(-1)
            tags: dict[int, tuple[Tag, ...]] = {}
            for place, out in enumerate(outputs):
                if self._is(out, scores):
                    tags[place] = ("log_prob",)
                elif self._is(out, entropy):
                    tags[place] = ("entropy",)
            if ("log_prob",) in tags.values():
                return tags
        return {}

    def _is(self, out: Tensor, computed: Tensor) -> bool:
        if out.shape != self.chosen.shape or not is_floating(out):
            return False
        told = out.detach().flatten()[self.rows].float()
        return torch.allclose(told, computed, rtol=self.precision, atol=self.precision)


def _scales(args: Sequence[Any]) -> list[float]:
    """A temperature is among the arguments, as what is divided by or as its inverse."""
    numbers = [float(a) for a in args if type(a) is float and 1e-3 < a < 1e3 and a != 1.0]
    return [1.0, *(1.0 / n for n in numbers), *numbers]
