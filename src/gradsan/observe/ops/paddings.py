"""Tokens that a script itself calls padding: a table of tokens is compared with it (`ids != pad`). What an embedding is
told (`padding_idx`) says nothing about a loss, and is most often a library's."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradsan.observe.ops.draws import WHOLE, ignored_label, weighs_classes
from gradsan.observe.ops.values import Tensor
from gradsan.observe.unseen import is_dense
from gradsan.record.events import ValueId

LENGTHS, ROWS, MOST = 3, 3, 1 << 16
COMPARING = {"ne"}  # `ids != pad` is a mask; `ids == 3` may be what is rewarded


class ScoredPadding(NamedTuple):
    """Which of the tokens that are scored are padding behind the first, and which of them count at all, where they are
    summed up at once."""

    padding: Tensor
    counted: Tensor | None


class Paddings:
    def __init__(self) -> None:
        self.scored: dict[ValueId, ScoredPadding] = {}
        self._called: set[int] = set()  # what the script calls padding
        self._form: tuple[int, int] = (0, 0)  # of the tokens that were read last

    def end_of_iteration(self) -> None:
        self.scored = {}

    def note(self, name: str, args: Any, inputs: list[Tensor]) -> None:
        if name == "embedding":
            tokens = next((t for t in inputs if t.dtype in WHOLE), None)
            if tokens is not None and tokens.dim() == 2:
                self._form = tokens.shape[0], tokens.shape[1]
        elif len(args) == 2 and type(args[1]) is int and inputs[0].dtype in WHOLE and inputs[0].dim() == 2:
            self._called.add(args[1])

    def score(
        self, name: str, args: Any, kwargs: Any, inputs: list[Tensor], out: Tensor, nid: ValueId
    ) -> None:
        """The probabilities of tokens were picked."""
        labels = next((t for t in reversed(inputs) if t.dtype in WHOLE), None) if self._called else None
        if labels is None or weighs_classes(inputs) or not is_dense(labels) or labels.numel() > MOST:
            return
        tokens = self._table(labels.detach())
        pads = _behind_the_first(tokens, self._called) if tokens is not None else None
        if tokens is None or pads is None:
            return
        ignored = ignored_label(name, args, kwargs)
        if out.numel() == labels.numel():
            self.scored[nid] = ScoredPadding(
                pads & (tokens != ignored) if ignored is not None else pads, None
            )
        elif ignored is not None and out.dim() == 0:
            self.scored[nid] = ScoredPadding(pads, tokens != ignored)

    def _table(self, labels: Tensor) -> Tensor | None:
        """As rows: a flat list of them is as wide as what was read in, or one less."""
        while labels.dim() > 2 and labels.shape[-1] == 1:
            labels = labels.squeeze(-1)
        rows, width = self._form
        if labels.dim() == 1 and rows:
            width = next((w for w in (width - 1, width) if rows * w == labels.numel()), 0)
            labels = labels.reshape(rows, width) if width else labels
        return labels if labels.dim() == 2 else None


def _tails(tokens: Tensor, called: set[int]) -> Tensor | None:
    """Where rows end in what is called padding, in rows of different lengths; it stands nowhere else."""
    if tokens.shape[0] < ROWS or not tokens.numel():
        return None
    pad = int(tokens[:, -1].mode().values)
    is_pad = tokens == pad
    tails = is_pad.flip(1).int().cumprod(1).flip(1).bool()
    lengths = len(set(tails.sum(1).tolist()))
    return tails if pad in called and lengths >= LENGTHS and bool((tails == is_pad).all()) else None


def _behind_the_first(tokens: Tensor, called: set[int]) -> Tensor | None:
    """The first may be what ends a row, and is to be learned."""
    tails = _tails(tokens, called)
    return None if tails is None else tails & (tails.cumsum(1) > 1)
