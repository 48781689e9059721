"""A policy learns from the tokens that it drew: which of them a loss leaves out, and what it trains beside them.

Only a loss that raises some answers and lowers others is judged: whoever imitates answers may imitate the prompt, too.
What is looked at is the derivative at each place, so it does not matter how a mask is spelt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradsan.judge.flow import REDUCING, SELECTING, SHAPING, users_through
from gradsan.judge.shapes.pooled_draws import PooledDraws
from gradsan.record.events import Backward, DrawnPlaces, Op, Site, ValueId

if TYPE_CHECKING:
    from gradsan.judge.history import History
    from gradsan.judge.provenance import Provenance

ROWS, LOOKS, SHARE = 3, 2, 0.05
SCORING = {"log_softmax", "softmax", "log", "sub", "logsigmoid", "cross_entropy", "nll_loss"}
PREFERRING = {"logsigmoid", "log_sigmoid", "softplus", "binary_cross_entropy_with_logits"}
Wrong = Literal["others", "first", "last"]


class Trained(NamedTuple):
    """What is wrong about the places that a loss trains, and the line that says which these are."""

    what: Wrong
    site: Site
    scored: Op
    found: DrawnPlaces


class DrawnTokens:
    def __init__(self, history: History) -> None:
        self._history = history
        self._looks: dict[tuple[Site, Wrong], int] = {}
        self._pooled = PooledDraws(ROWS, 1)
        self._ends: dict[Site, tuple[int, int]] = {}

    def judge(self, event: Backward) -> Iterator[Trained]:
        graph = self._history.graph
        for look in event.facts.drawn:
            scored = graph.get(look.value)
            within = graph.live_ancestors(root.nid for root in event.roots) if scored is not None else {}
            if scored is None or not _is_score(graph, scored, within):
                continue
            found = self._pooled.enough(scored.site, look)
            if found is None:
                continue
            prefers = any(op.name in PREFERRING for op in within.values())
            found = self._with_earlier_ends(scored.site, found)
            site, is_masked = line_of_the_mask(graph, scored, within, found.column, not _is_off_by_one(found))
            for what in _wrong(found, is_masked and not prefers):
                key = scored.site, what
                self._looks[key] = self._looks.get(key, 0) + 1
                if self._looks[key] >= LOOKS:
                    yield Trained(what, site, scored, found)

    def _with_earlier_ends(self, site: Site, found: DrawnPlaces) -> DrawnPlaces:
        """Not many answers of one batch may end early."""
        ended, without = self._ends.get(site, (0, 0))
        self._ends[site] = ended, without = ended + found.ended, without + found.without_last
        return found._replace(ended=ended, without_last=without)


def _is_score(graph: Provenance, scored: Op, within: dict[ValueId, Op]) -> bool:
    """Whether probabilities were picked, and not the values of what was chosen."""
    made: Op | None = scored
    while made is not None and made.name in SHAPING | SELECTING | {"div", "mul", "gather"}:
        made = next(graph.inputs(made), None)
    if made is not None and (made.name in SCORING or "log_prob" in made.tags):
        return True
    users = users_through(graph, scored, within, SHAPING)
    return any(source.name == "logsumexp" for user in users for source in graph.inputs(user))


def _wrong(found: DrawnPlaces, with_prompts: bool) -> Iterator[Wrong]:
    # A preference is the difference of two answers to one prompt: what both have in common cancels. Without any mask,
    # a prompt may be a few first tokens that nobody cares about.
    others = found.between + found.behind + (found.before if with_prompts else 0)
    if others >= max(ROWS, SHARE * found.own):
        if found.others_rise and found.others_fall:  # else a term of their own imitates them
            yield "others"
    elif found.without_first == found.rows:
        yield "first"
    elif found.ended >= ROWS and found.without_last == found.ended:
        yield "last"


def _is_off_by_one(found: DrawnPlaces) -> bool:
    """At its beginning, or at both ends: that happens where a mask is cut to length."""
    too_early = found.before == found.rows and found.without_last == found.ended
    return found.without_first == found.rows or too_early


def line_of_the_mask(
    graph: Provenance, scored: Op, within: dict[ValueId, Op], column: int, past_slices: bool = False
) -> tuple[Site, bool]:
    """Where the mask was made that these log-probabilities are multiplied with; else where they are summed up, and that
    there is none."""
    stack, seen, summed = [scored], set[ValueId](), Site(0)
    while stack:
        value = stack.pop(0)
        for nid in graph.consumers.get(value.nid, ()):
            user = within.get(nid)
            if user is None or nid in seen:
                continue
            seen.add(nid)
            if user.name == "mul" and user.facts.mask is not None and _is_mask(user):
                mask = next((source for source in graph.inputs(user) if not source.live), None)
                made = _made(graph, mask, column, past_slices) if mask is not None else Site(0)
                return made or user.site, True
            if user.name in REDUCING and not summed:
                summed = user.site
            stack.append(user)
    return summed or scored.site, False


def _is_mask(product: Op) -> bool:
    mask = product.facts.mask
    return mask is not None and mask.low in (0.0, 1.0) and mask.high == 1.0


def _made(graph: Provenance, mask: Op, column: int, past_slices: bool) -> Site:
    """The last line that decided about it at this place: a cast, or another form of it, does not."""
    while True:
        source: Op | None = None
        if mask.name in SHAPING | {"long", "int", "bool"}:
            source = next(graph.inputs(mask), None)
        elif mask.name in ("getitem", "index_select") and mask.inputs:
            whole = graph.get(mask.inputs[0])  # of which rows are picked: the columns stay where they are
            is_whole = whole is not None and whole.shape[1:] == mask.shape[1:] != ()
            if not is_whole and past_slices and _is_slice(mask, whole):
                is_whole, column = True, -1
            source = whole if is_whole else None
        elif mask.name == "cat" and column >= 0:
            source, column = _part(graph, mask, column)
        if source is None or not source.site:
            return mask.site
        mask = source


def _is_slice(cut: Op, whole: Op | None) -> bool:
    """`mask[:, 1:]`"""
    return whole is not None and len(cut.inputs) == 1 and len(cut.shape) == len(whole.shape) == 2


def _part(graph: Provenance, joined: Op, column: int) -> tuple[Op | None, int]:
    """Of what was put side by side, the one that has this column."""
    parts = list(graph.inputs(joined))
    beside = all(len(part.shape) == 2 for part in parts)
    if not beside or sum(part.shape[1] for part in parts) != joined.shape[-1]:
        return None, column
    for part in parts:
        if column < part.shape[1]:
            return part, column
        column -= part.shape[1]
    return None, column
