"""Which tokens of a table a policy has drawn, and with which log-probability: prompts, what a tool said and what rows
are filled up with stand beside them in the same tensor.

For every tensor of whole numbers that a draw has a part in, a table of the same form is kept as long as the tensor
lives. What only moves numbers (`cat`, `x[:, 3:]`, `view`) is done to the table as well; what writes over them takes
them out of it; of what is made in any other way nothing is known."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any, NamedTuple

import torch

from gradsan.observe.ops.answers import OTHER, SOMEHOW, UNKNOWN, Answers, Draw, padding_of
from gradsan.observe.ops.values import Tensor, version_of
from gradsan.observe.slots import SEQUENCES, items_of
from gradsan.observe.unseen import is_dense
from gradsan.record.events import NOTHING, ValueId

MOST = 1 << 16  # numbers in a table
ARRIVED, LEAST = 4, 8  # tables of tokens that are remembered; draws that must be known in one
WHOLE = (torch.int64, torch.int32)
MOVING = {
    "cat", "stack", "hstack", "vstack", "getitem", "view", "reshape", "squeeze", "unsqueeze", "flatten", "transpose",
    "t", "permute", "repeat", "repeat_interleave", "expand", "clone", "detach", "contiguous", "index_select", "split",
    "chunk", "unbind", "narrow", "select", "roll", "flip", "tile", "ravel", "movedim", "swapaxes", "unflatten",
    "gather", "alias", "T", "mT",
}  # fmt: skip
CASTING = {"to", "long", "int", "type", "cpu", "cuda"}
COVERING = {"masked_fill", "where", "mul", "add", "setitem", "pad", "pad_sequence"}
DRAWING = {"multinomial", "argmax"}
# Whole numbers that are computed from tokens are no tokens that were drawn.
COMPUTING = {
    "full_like", "zeros_like", "ones_like", "empty_like", "new_full", "new_zeros", "new_ones", "new_empty", "sum",
    "cumsum", "remainder", "floor_divide", "sub", "rsub", "neg", "prod", "mod", "count_nonzero", "argmax", "argmin",
}  # fmt: skip
PICKING = {"gather", "getitem", "take_along_dim"}
SURPRISING = {"cross_entropy", "nll_loss"}
REFUSED = (RuntimeError, TypeError, IndexError, ValueError)


class DrawTable(NamedTuple):
    """`odds`: the log-probability of each draw, or one of the words above. `width`: of a row, where rows were laid end
    to end. `first`, `last`: draws."""

    odds: Tensor
    width: int
    first: ValueId
    last: ValueId
    cut: bool = False  # not every token could be drawn


class ScoredDraws(NamedTuple):
    """Log-probabilities of tokens, some of which were drawn: where, and how far each is from what it was drawn with."""

    odds: Tensor
    apart: Tensor | None
    first: ValueId
    last: ValueId
    counted: Tensor | None = None  # what a loss does not ignore
    cut: bool = False


class Draws:
    def __init__(self) -> None:
        self.active = True
        self.scored: dict[ValueId, ScoredDraws] = {}
        self._entered = False
        self._tables: dict[int, tuple[weakref.ref[Tensor], DrawTable, int]] = {}
        self._before: dict[int, int] = {}  # versions, before the operation that is being looked at
        self._left = False  # tokens have left for Python: what comes back may be they
        self._answers = Answers()
        self._arrived: deque[Tensor] = deque(maxlen=ARRIVED)  # tables of tokens that came back

    def note(
        self, name: str, args: Any, kwargs: Any, inputs: list[Tensor], before: list[int], result: Any,
        nid: ValueId,
    ) -> None:  # fmt: skip
        """An operation has been done. `nid`: of its result."""
        if name in DRAWING and inputs and inputs[0].dtype.is_floating_point:
            if isinstance(result, Tensor) and result.dtype in WHOLE and is_dense(inputs[0]):
                odds, cut = _odds(name, inputs[0], result), not bool((inputs[0] > 0).all())
                self._keep(result, DrawTable(odds, 0, nid, nid, cut))
                self._answers.drawn(result, odds, nid, cut)
        elif self._tables and name not in COMPUTING and any(id(tensor) in self._tables for tensor in inputs):
            self._before = dict(zip(map(id, inputs), before, strict=True))
            tables = [table for tensor in inputs if (table := self.of(tensor)) is not None]
            if name == "broadcast_tensors":
                for given, out in zip(inputs, result, strict=False):
                    if (table := self.of(given)) is not None:
                        self._keep(out, table._replace(odds=table.odds.expand(out.shape)))
            elif tables:
                self._follow(name, args, kwargs, result, tables)
            self._before = {}

    def _follow(self, name: str, args: Any, kwargs: Any, result: Any, tables: list[DrawTable]) -> None:
        written = args[0] if name == "setitem" else result
        outputs = [written] if isinstance(written, Tensor) else []
        if issubclass(type(written), SEQUENCES):
            outputs = list(items_of(written))
        if not all(isinstance(out, Tensor) and out.dtype in WHOLE for out in outputs):
            return
        try:
            made = self._made(name, args, kwargs) if name != "clamp" else self._clamped(args[0], result)
        except REFUSED:  # asked in a way that a table of floats cannot be
            made = []
        width = next((t.odds.shape[1] for t in tables if t.odds.dim() == 2), max(t.width for t in tables))
        # Prompts that came back from Python have none.
        first, last = min((t.first for t in tables if t.first), default=NOTHING), max(t.last for t in tables)
        cut = any(table.cut for table in tables)
        for at, out in enumerate(outputs):
            odds = made[at] if len(made) > at else None
            if odds is None or odds.shape != out.shape:
                odds = _filled(out, UNKNOWN)
            self._keep(out, DrawTable(odds, width, first, last, cut))
            if out is args[0] and isinstance(base := out._base, Tensor):  # `row[3] = token`: so has the whole
                self._keep(base, DrawTable(_filled(base, UNKNOWN), width, first, last))

    def score(
        self, name: str, call: tuple[Any, Any], inputs: list[Tensor], out: Tensor, nid: ValueId, is_log: bool
    ) -> None:
        """The probabilities of tokens were picked. `is_log`: from logarithms that are normalised."""
        found = [(t, i) for i in inputs if i.dtype in WHOLE and (t := self.of(i)) is not None]
        if len(found) != 1 or found[0][0].odds.numel() != out.numel() or not is_dense(out):
            return
        if weighs_classes(inputs):
            return
        table, labels = found[0]
        odds, width = table.odds, table.width
        while odds.dim() > 1 and odds.shape[-1] == 1:
            odds = odds.squeeze(-1)
        if odds.dim() == 2:
            width = odds.shape[1]
        if odds.dim() == 1 and (not width or odds.numel() % width):  # one answer, or a part of it
            width = odds.numel()
        if odds.dim() > 2 or width < 2 or odds.numel() % width:
            return
        odds, value = odds.reshape(-1, width), out.detach().float().reshape(-1, width)
        apart = (-value if name in SURPRISING else value) - odds if is_log or name in SURPRISING else None
        ignored = ignored_label(name, *call)
        counted = None if ignored is None else (labels.detach() != ignored).reshape(odds.shape)
        self.scored[nid] = ScoredDraws(odds, apart, table.first, table.last, counted, table.cut)

    def left(self, tensor: Tensor) -> None:
        self._left = self._left or self.of(tensor) is not None

    def arrived(self, result: Any) -> None:
        if self._left and isinstance(result, Tensor) and result.dtype in WHOLE and result.numel() <= MOST:
            known = self._recognised(result)
            self._keep(result, known or DrawTable(_filled(result, UNKNOWN), 0, NOTHING, NOTHING))
            if known is not None:
                self._arrived.append(known.odds)

    def told(self, result: Tensor) -> tuple[float, ...]:
        """How far numbers that come back from Python, and could be log-probabilities, lie from what tokens of the same
        form were drawn with: smallest and largest difference, mean of its size. Of several, the nearest."""
        if not (self._left and self.active and result.dtype.is_floating_point and is_dense(result)):
            return ()
        found = [apart for odds in self._arrived if (apart := _apart(result, odds))]
        return min(found, key=lambda apart: apart[-1], default=())

    def fed(self, inputs: list[Tensor]) -> None:
        """A network was given words of a table."""
        for tensor in inputs:
            if self.active and tensor.dtype in WHOLE and is_dense(tensor):
                self._answers.fed(tensor)

    def _recognised(self, result: Tensor) -> DrawTable | None:
        """What comes back from Python, row by row."""
        if result.dim() not in (1, 2) or result.shape[-1] < 2 or not is_dense(result):
            return None
        rows = result.detach().reshape(-1, result.shape[-1]).tolist()
        pad, unknown = padding_of(rows), ([UNKNOWN] * result.shape[-1], list[Draw]())
        found = [self._answers.of(row, pad) or unknown for row in rows]
        draws = [draw for _, row in found for draw in row]
        if not draws and all(said is unknown for said in found):
            return None
        odds = torch.tensor([said[0] for said in found], dtype=torch.float32, device=result.device)
        first, last = (which((draw.nid for draw in draws), default=NOTHING) for which in (min, max))
        return DrawTable(odds.reshape(result.shape), 0, first, last, any(draw.cut for draw in draws))

    def of(self, tensor: Tensor) -> DrawTable | None:
        known = self._tables.get(id(tensor))
        if known is None or known[0]() is not tensor:
            return None
        if known[2] != self._before.get(id(tensor), version_of(tensor)):  # written through another view of it
            return known[1]._replace(odds=_filled(tensor, UNKNOWN))
        return known[1]

    def entered(self) -> None:
        """Operations are looked at from here on. Not for the first time: something has passed unseen, and what was
        drawn meanwhile would look like what was not."""
        if self._entered:
            self.active, self._tables, self.scored = False, {}, {}
            self._answers.forget()
            self._arrived.clear()
        self._entered = True

    def end_of_iteration(self) -> None:
        self.scored = {}
        self._tables = {key: known for key, known in self._tables.copy().items() if known[0]() is not None}

    def _keep(self, tensor: Tensor, table: DrawTable) -> None:
        if tensor.numel() <= MOST:
            self._tables[id(tensor)] = weakref.ref(tensor), table, version_of(tensor)

    def _made(self, name: str, args: Any, kwargs: Any) -> list[Tensor]:
        if name in CASTING:
            return [self._odds_of(args[0])]
        if name in COVERING:
            return self._covered(name, args, kwargs)
        if name not in MOVING:
            return []
        odds: Any = (
            self._odds_of(args[0]) if isinstance(args[0], Tensor) else [self._odds_of(t) for t in args[0]]
        )
        if name in ("T", "mT"):
            return [odds.mT]
        move = (
            Tensor.__getitem__ if name == "getitem" else getattr(Tensor, name, None) or getattr(torch, name)
        )
        moved = move(odds, *args[1:], **kwargs)
        return [moved] if isinstance(moved, Tensor) else list(moved)

    def _clamped(self, given: Tensor, result: Tensor) -> list[Tensor]:
        """`ids.clamp(min=eos)`: what was drawn and moved is still the policy's doing, with odds that nobody knows."""
        if result is given:
            return []
        odds = self._odds_of(given)
        drawn = odds.isfinite() | odds.isposinf()
        return [odds.masked_fill(drawn & (result != given), SOMEHOW)]

    def _odds_of(self, given: Any) -> Tensor:
        """Of a tensor, or of a number that stands where one could."""
        if not isinstance(given, Tensor):
            return torch.full((), OTHER, dtype=torch.float32, device="cpu")
        table = self.of(given)
        return _filled(given, OTHER) if table is None else table.odds

    def _covered(self, name: str, args: Any, kwargs: Any) -> list[Tensor]:
        """What is left of the draws where something else is written over some of them, or around them."""
        if name == "setitem":
            odds = self._odds_of(args[0]).clone()
            odds[args[1]] = self._odds_of(args[2]).to(odds.device)
            return [odds]
        if name == "masked_fill":
            return [self._odds_of(args[0]).masked_fill(args[1] if len(args) > 1 else kwargs["mask"], OTHER)]
        if name == "where":
            asked, one, other = args if _is_question(args[0]) else (args[1], args[0], args[2])
            return [torch.where(asked, self._odds_of(one), self._odds_of(other))]
        if name == "pad":
            return [torch.nn.functional.pad(self._odds_of(args[0]), args[1], value=OTHER)]
        if name == "pad_sequence":
            rows, batch_first = [self._odds_of(t) for t in args[0]], args[1] if len(args) > 1 else False
            filled: Tensor = torch._C._nn.pad_sequence(rows, batch_first, OTHER, *args[3:])
            return [filled]
        return [self._arithmetic(args[0], args[1], 1 if name == "mul" else 0)]

    def _arithmetic(self, one: Any, other: Any, neutral: int) -> Tensor:
        """`token * unfinished + pad * (1 - unfinished)`: drawn is what was multiplied by one, and had zero added."""
        kept, more = (
            torch.where(torch.as_tensor(beside) == neutral, self._odds_of(side), self._odds_of(0))
            for side, beside in ((one, other), (other, one))
        )
        return torch.where(kept.isnan(), more, kept)


def ignored_label(name: str, args: Any, kwargs: Any) -> Any:
    """What a loss leaves out, whatever arrives there; None of other operations."""
    if name not in SURPRISING:
        return None
    return kwargs.get("ignore_index", args[4] if len(args) > 4 else -100)


def weighs_classes(inputs: list[Tensor]) -> bool:
    """Whether a score is given a weight for each class, which may be zero."""
    return len([tensor for tensor in inputs if tensor.dtype.is_floating_point]) > 1


def _is_question(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is torch.bool


def _apart(result: Tensor, odds: Tensor) -> tuple[float, ...]:
    if odds.shape != result.shape:
        return ()
    given = result.detach().float()
    known = odds.isfinite() & ~_filled_up(given)  # behind its end, a row may go on as another one was drawn
    if int(known.sum()) < LEAST or not bool((given <= 0).all() & given.isfinite().all()):
        return ()
    apart = (given - odds)[known]
    low, high = (float(x) for x in torch.aminmax(apart))
    return low, high, float(apart.abs().mean())


def _filled_up(rows: Tensor) -> Tensor:
    """Where a row only repeats the number that it ends with; of each row, the last place at least."""
    same = rows == rows[..., -1:]
    return same.flip(-1).long().cumprod(-1).flip(-1).bool()


def _filled(like: Tensor, word: float) -> Tensor:
    return torch.full(like.shape, word, dtype=torch.float32, device=like.device)


def _odds(name: str, given: Tensor, result: Tensor) -> Tensor:
    """What a choice was drawn with; of the largest of all, nobody asks."""
    somehow = _filled(result, SOMEHOW)
    if name != "multinomial":
        return somehow
    share = given.detach().double()
    odds = (share / share.sum(-1, keepdim=True)).log().gather(-1, result.detach().long())
    return odds.float() if odds.shape == result.shape else somehow
