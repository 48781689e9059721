"""Which values mean something to a loss: entropies, log-probabilities, policies, seen when they are made.

Known by the method of a distribution that made them, or by the algebra of what was written by hand: `log_softmax`
and a choice from it, p log p, the constants of a normal distribution. Only numbers are kept, and only of the last two
iterations."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch

from gradsan.observe.ops.normal_constants import NormalConstants
from gradsan.observe.ops.written_entropies import WrittenEntropies
from gradsan.record.events import MaskFacts, Tag, ValueId

Tensor = torch.Tensor
Meaning = Literal[
    "entropy", "negative entropy", "log-prob", "surprise", "prob", "policy", "log-policy", "normaliser",
    "minimum", "maximum", "log-ratio", "corrected", "masked log-prob", "masked surprise",
]  # fmt: skip


FIRST, EVERY = 32, 8  # iterations


class Mark(NamedTuple):
    """What a value is, and what it was made of: a softmax and a log-softmax of the same logits belong together."""

    meaning: Meaning
    origin: ValueId
    inner: bool = False  # what was made of it is what is looked at


MAKING: dict[str, Meaning] = {
    "softmax": "policy",
    "log_softmax": "log-policy",
    "logsumexp": "normaliser",
    "cross_entropy": "surprise",
    "nll_loss": "surprise",
}
BOUNDS: dict[str, Meaning] = {
    "min": "minimum", "minimum": "minimum", "fmin": "minimum",
    "max": "maximum", "maximum": "maximum", "fmax": "maximum",
}  # fmt: skip
CHOOSING = {"gather", "getitem", "take_along_dim", "index_select"}
CHOSEN: dict[str, Meaning] = {"log-policy": "log-prob", "policy": "prob"}
LOGGED: dict[str, Meaning] = {"policy": "log-policy", "prob": "log-prob"}
RAISED: dict[str, Meaning] = {"log-policy": "policy", "log-prob": "prob"}
NEGATED: dict[str, Meaning] = {
    "surprise": "log-prob", "log-prob": "surprise",
    "masked surprise": "masked log-prob", "masked log-prob": "masked surprise",
}  # fmt: skip
# Of the tokens of an answer: without the padding, and perhaps divided by how many they are.
MASKED: dict[str, Meaning] = {
    "log-prob": "masked log-prob", "surprise": "masked surprise",
    "masked log-prob": "masked log-prob", "masked surprise": "masked surprise",
}  # fmt: skip
ASSEMBLING = {"stack", "cat", "hstack", "vstack", "sum"}
PASSING = ASSEMBLING | {
    "squeeze", "unsqueeze", "view", "reshape", "flatten", "transpose", "permute", "contiguous", "to", "float",
    "double", "clone", "clamp", "ravel", "expand", "alias", "T", "mT", "t", "nan_to_num", "view_as", "reshape_as",
    "expand_as", "type_as", "swapaxes", "swapdims", "movedim", "unflatten", "half", "bfloat16",
}  # fmt: skip
SPREADING = {"masked_fill", "masked_scatter", "chunk", "split"}  # of what was scored token by token
NOTEWORTHY = (
    set(MAKING)
    | set(BOUNDS)
    | CHOOSING
    | PASSING
    | SPREADING
    | {"log", "exp", "neg", "mul", "sub", "rsub", "add", "div", "detach"}
)
ENTROPIES = {"entropy", "negative entropy"}
OF_CHOICES = {"log-prob", "masked log-prob"}
SCORES = {"log-prob", "log-policy", "log-ratio", "corrected", "masked log-prob"}
PROBABILITIES = {"prob"}
CORRECTED = {"log-prob", "corrected"}  # what a squashing does to a density is subtracted, or added
OPEN_ENDED = {"sum", "stack", "cat", "hstack", "vstack"}


class Marks:
    """Kept in the first deep iterations, and then in every eighth: what a loss means does not change often."""

    def __init__(self) -> None:
        self.active = True
        self._iterations = 0
        self._now: dict[ValueId, Mark] = {}
        self._before: dict[ValueId, Mark] = {}
        self._normal = NormalConstants()
        self._written = WrittenEntropies()
        self.scores = False  # whether there ever was a log-probability with a gradient

    def of(self, nid: ValueId) -> Mark | None:
        return self._now.get(nid) or self._before.get(nid)

    def end_of_iteration(self) -> None:
        self._before, self._now = self._now, {}
        self._normal.forget()
        self._written.end_of_iteration()
        self._iterations += 1
        self.active = self._iterations < FIRST or not self._iterations % EVERY

    def note(
        self, nid: ValueId, name: str, tags: tuple[Tag, ...], inputs: tuple[ValueId, ...], live: bool,
        scalars: tuple[float, ...] = (), mask: MaskFacts | None = None,
    ) -> None:  # fmt: skip
        if "entropy" in tags or "log_prob" in tags:
            meaning: Meaning = "entropy" if "entropy" in tags else "log-prob"
            self._set(nid, Mark(meaning, inputs[0] if inputs else nid), inputs, live)
        elif len(inputs) == 1 and (written := self._normal.made(nid, name, inputs[0], scalars)) is not None:
            self._set(nid, Mark(written, inputs[0]), inputs, live)
        elif name == "detach":  # the value goes on being looked at, too
            if (known := self.of(inputs[0])) is not None and known.meaning == "log-prob":
                self._now[nid] = known
        elif (masked := self._masked(name, inputs, mask)) is not None:
            self._now[nid] = masked
        elif name in NOTEWORTHY and inputs and (mark := self._made(name, inputs)) is not None:
            # Of a sum its parts are often used as well.
            self._set(nid, mark, () if name == "sum" else inputs, live)

    def compare(
        self, nid: ValueId, name: str, inputs: tuple[ValueId, ...], made_of: list[Tensor], out: Tensor
    ) -> None:
        """Whether a value with a graph is an entropy, by its numbers: however it was written."""
        if not self._written.may_be(name):
            return
        known = self.of(nid)
        if known is not None and known.meaning in ENTROPIES:
            self._written.is_told(nid)
        elif (found := self._written.made(nid, name, inputs, made_of, out)) is not None:
            self._now[nid] = Mark(found, inputs[0])
            for source in inputs:
                if (part := self.of(source)) is not None and part.meaning in ENTROPIES:
                    self._now[source] = part._replace(inner=True)

    def _set(self, nid: ValueId, mark: Mark, inputs: tuple[ValueId, ...], live: bool) -> None:
        self._now[nid] = mark
        self.scores = self.scores or (live and mark.meaning in ("log-prob", "surprise"))
        for source in inputs:  # the outermost of a chain is the one to look at
            known = self.of(source)
            if known is not None and known.meaning == mark.meaning and not known.inner:
                self._now[source] = known._replace(inner=True)

    def _masked(self, name: str, inputs: tuple[ValueId, ...], mask: MaskFacts | None) -> Mark | None:
        if len(inputs) != 2 or name not in ("mul", "div"):
            return None
        marks = [mark for nid in inputs if (mark := self.of(nid)) is not None and mark.meaning in MASKED]
        if len(marks) != 1 or (name == "div" and not marks[0].meaning.startswith("masked")):
            return None
        if name == "mul" and (mask is None or mask.low not in (0.0, 1.0) or mask.high != 1.0):
            return None
        return Mark(MASKED[marks[0].meaning], marks[0].origin)

    def _made(self, name: str, inputs: tuple[ValueId, ...]) -> Mark | None:
        first = self.of(inputs[0])
        if name in MAKING:
            origin = first.origin if first is not None and first.meaning == "log-policy" else inputs[0]
            return Mark(MAKING[name], origin)
        if name in BOUNDS:
            return Mark(BOUNDS[name], inputs[0]) if len(inputs) == 2 else None
        if name == "mul":
            return self._product(inputs)
        if name == "sub" and len(inputs) == 2:
            second = self.of(inputs[1])
            if second is not None and second.meaning == "normaliser" and second.origin == inputs[0]:
                return Mark("log-policy", inputs[0])
            if first is not None and second is not None and first.meaning == second.meaning in OF_CHOICES:
                return Mark("log-ratio", inputs[0])  # of two choices, as in a preference
        if name in ("sub", "add") and first is not None and first.meaning in CORRECTED:
            return Mark("corrected", inputs[0]) if len(inputs) == 2 else None
        if name == "masked_scatter":  # into a tensor of zeros
            first = self.of(inputs[-1])
        if first is None:
            return None
        if name in SPREADING:
            return first._replace(inner=False) if first.meaning in OF_CHOICES else None
        if name in CHOOSING:
            meaning = CHOSEN.get(first.meaning) if len(inputs) > 1 else first.meaning
            # One of the columns, or some of the rows: still what it was.
            return first._replace(meaning=meaning or first.meaning, inner=False)
        if name == "log":
            return _renamed(first, LOGGED)
        if name == "exp":
            return _renamed(first, RAISED)
        if name == "neg":
            return _renamed(first, NEGATED)
        if name in ("add", "div"):  # `p + 1e-8`, `p / p.sum()`
            return first if first.meaning in ("policy", "prob") else None
        return first._replace(inner=False) if name in PASSING and _may_pass(first, name) else None

    def _product(self, inputs: tuple[ValueId, ...]) -> Mark | None:
        marks = [self.of(nid) for nid in inputs]
        found = {mark.meaning: mark for mark in marks if mark is not None}
        if len(inputs) != 2 or found.keys() != {"policy", "log-policy"}:
            return None
        same = found["policy"].origin == found["log-policy"].origin
        return Mark("negative entropy", found["policy"].origin) if same else None


def _may_pass(mark: Mark, name: str) -> bool:
    """A sum over a policy is none, nor is a batch of minima looked at once more."""
    if mark.meaning in ("prob", "corrected") or mark.meaning in MASKED:
        return True
    return mark.meaning in ("policy", "log-policy") and name not in OPEN_ENDED


def _renamed(mark: Mark, table: dict[str, Meaning]) -> Mark | None:
    meaning = table.get(mark.meaning)
    return None if meaning is None else Mark(meaning, mark.origin)


def apart(
    name: str, inputs: list[Tensor], numbers: tuple[ValueId, ...], out: Tensor, marks: Marks, log_target: bool
) -> tuple[float, ...]:
    """How far a live log-probability (or a logarithm of a policy) and a constant, or another live one, lie apart;
    nothing where these are not what is subtracted."""
    if len(inputs) != 2 or len(numbers) != 2:
        return ()
    live = [side.requires_grad for side in inputs]
    # A weight that is made of two constants corrects for who drew the data: both must be log-probabilities.
    found = [
        marks.of(number) for number, is_live in zip(numbers, live, strict=True) if is_live or not any(live)
    ]
    meanings = {None if mark is None else mark.meaning for mark in found}
    if not any(live) and (name != "sub" or meanings != {"log-prob"}):
        return ()
    # `(old - new).exp()` of what was stored with a minus is a ratio, too.
    turned = name == "sub" and not inputs[0].requires_grad and meanings == {"surprise"}
    if not found or not (turned or meanings <= (PROBABILITIES if name == "div" else SCORES)):
        return ()
    if name == "div":
        return _spread(out.detach().log()) if live[0] else ()
    if name == "kl_div":
        target = inputs[1].detach() if log_target else inputs[1].detach().log()
        out = inputs[0].detach() - target
    return _spread(out.detach())


def around_one(inputs: list[Tensor], bounds: tuple[float, ...]) -> tuple[float, ...]:
    """How far a live ratio lies from one, as a logarithm. What is clipped around one is a ratio."""
    if len(inputs) != 1 or len(bounds) != 2 or not 0.0 < min(bounds) < 1.0 < max(bounds):
        return ()
    return _spread(inputs[0].detach().log()) if inputs[0].requires_grad else ()


def _spread(difference: Tensor) -> tuple[float, ...]:
    if not difference.numel() or not difference.dtype.is_floating_point:
        return ()
    difference = difference.float()
    low, high = (float(x) for x in torch.aminmax(difference))
    return low, high, float(difference.abs().mean())
