"""A preference between two answers that is asked word by word: `logsigmoid` of the difference of their tokens'
log-probabilities, one for every place, though words at the same place of two answers have nothing to do with each
other.

Two actions in one and the same state may be compared so: their log-probabilities come from the same softmax. What is
compared here comes from different rows, or from different passes, and its places are those of a text: rows end in
padding, or logits were shifted by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge import flow
from gradsan.judge.missing.preferences import LOGISTIC
from gradsan.judge.objective.scores import picks_one_of_all
from gradsan.judge.provenance import Provenance
from gradsan.record.events import Op, ValueId

LENGTHS = 2  # different ones
MASKING = {"mul", "masked_fill", "where"}
COMPARING = LOGISTIC | {"binary_cross_entropy_with_logits"}
STANDING = flow.SHAPING | flow.SELECTING  # of the picked ones, places stay places


class PreferredWords(NamedTuple):
    compared: Op
    words: Op  # the log-probabilities, one per word
    places: int


class _Side(NamedTuple):
    part: Op  # as it is subtracted
    words: Op  # …where they were masked, or picked
    picked: Op  # where one word of the vocabulary was picked
    masked: bool


def preferred_words(graph: Provenance, within: dict[ValueId, Op]) -> Iterator[PreferredWords]:
    for op in graph.named(within, COMPARING):
        given = next((i for i in graph.inputs(op) if i.live), None)
        if given is None or len(given.shape) < 2:
            continue
        terms = [term for term in flow.terms(graph, given, reshape=False) if term.op.live]
        sides = [(term.sign, side) for term in terms if (side := _side(graph, term.op, given.shape))]
        preferred = [side for sign, side in sides if sign > 0]
        rejected = [side for sign, side in sides if sign < 0]
        if len(sides) != len(terms) or len(preferred) != 1 or len(rejected) != 1:
            continue
        if _are_answers(graph, preferred[0], rejected[0]):
            yield PreferredWords(op, preferred[0].words, given.shape[-1])


def _side(graph: Provenance, part: Op, shape: tuple[int, ...]) -> _Side | None:
    """The way back from what is compared to where words were picked; nothing where a sum lies between."""
    op: Op | None = part
    words: Op | None = None
    masked = False
    while op is not None and op.live:
        if picks_one_of_all(graph, op):
            return _Side(part, words or op, op, masked) if part.shape == shape else None
        if op.name in MASKING:
            words = words or op
            masked |= op.facts.mask is not None and len(set(op.facts.mask.tails)) >= LENGTHS
        elif op.name not in STANDING:
            return None
        op = next((i for i in graph.inputs(op) if i.live), None)
    return None


def _are_answers(graph: Provenance, one: _Side, other: _Side) -> bool:
    """From different rows or passes, of texts."""
    if one.part.nid == other.part.nid:
        return False
    same_pass = one.picked.nid != other.picked.nid and _softmax(graph, one) == _softmax(graph, other)
    return not same_pass and (one.masked or other.masked or _is_shifted(graph, one))


def _softmax(graph: Provenance, side: _Side) -> ValueId | None:
    source = next(graph.inputs(side.picked), None)
    return source.nid if source is not None else None


def _is_shifted(graph: Provenance, side: _Side) -> bool:
    """`logits[:, :-1]`: what follows each word is predicted."""
    softmax = next(graph.inputs(side.picked), None)
    logits = next(graph.inputs(softmax), None) if softmax is not None else None
    before = (
        next(graph.inputs(logits), None) if logits is not None and logits.name in flow.SELECTING else None
    )
    if logits is None or before is None or len(before.shape) != len(logits.shape):
        return False
    fewer = [a - b for a, b in zip(before.shape, logits.shape, strict=True)]
    return fewer.count(1) == 1 and sum(fewer) == 1
