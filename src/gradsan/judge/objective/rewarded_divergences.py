"""Distances from a reference that are paid for: `reward + beta * (logp - ref_logp)` as the weight of the policy's own
log-probabilities. Whatever else is in the reward, what raises answers that lie far from the reference drives the policy
away from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.flow import JOINING, REDUCING, SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.objective import scores
from gradsan.judge.objective.raised_divergences import is_from_a_standing_copy
from gradsan.judge.objective.score_functions import score_sign, sign_in_loss, sign_of_step
from gradsan.judge.objective.weighed import is_score
from gradsan.record.events import Op, ParamId, Site, ValueId

HANDED_ON = SHAPING | SELECTING | REDUCING | JOINING | TAKEN_OUT | {"alias", "tensor", "as_tensor"}
SPREADS = {"std", "var", "sqrt"}
MOST = 512  # values that a weight was made of


class Rewarded(NamedTuple):
    """`paid`: where the distance was added to what else is rewarded; `distance`: the difference itself."""

    paid: Site
    distance: Op
    weighed: Op
    learned: set[ParamId]


def rewarded_divergences(history: History, roots: list[ValueId], way: int) -> Iterator[Rewarded]:
    graph = history.graph
    if not history.networks.copies:
        return
    for op in graph.named(graph.live_ancestors(roots), ("mul",)):
        sides = list(graph.inputs(op))
        live, weight = [s for s in sides if s.live], [s for s in sides if not s.live and s.floating]
        if len(live) != 1 or len(weight) != 1 or not is_score(history, live[0]):
            continue
        learned = graph.live_params([live[0].nid])
        found = _Signs(history, learned).of(weight[0])
        raises = -score_sign(history, live[0]) * sign_in_loss(history, op.nid, roots) * way
        if found is not None and found.sign * raises > 0:
            yield Rewarded(found.joined.site, found.distance, op, learned)


class _Signed(NamedTuple):
    sign: int
    distance: Op
    joined: Op


class _Signs:
    """With which sign a distance from the reference stands in a constant; None where there is none, or where that is
    not sure. What a value is compared with (a mean, the others of a group) does not count."""

    def __init__(self, history: History, learned: set[ParamId]) -> None:
        self._history, self._graph, self._learned = history, history.graph, learned
        self._known: dict[ValueId, _Signed | None] = {}

    def of(self, op: Op) -> _Signed | None:
        if op.nid not in self._known and len(self._known) < MOST:
            self._known[op.nid] = None
            self._known[op.nid] = self._found(op)
        return self._known.get(op.nid)

    def _found(self, op: Op) -> _Signed | None:
        sources = list(self._graph.inputs(op))
        if op.name == "sub" and len(op.facts.apart) == 3 and len(sources) == 2:
            ours, theirs = (self._said_by(s) for s in sources)
            for sign, (policy, reference) in ((1, (ours, theirs)), (-1, (theirs, ours))):
                if policy == self._learned and self._is_reference(reference):
                    return _Signed(sign, op, op)
        parts = [s for s in sources if s.floating and not s.live and self._has_reference(s)]
        if len(parts) == 2 and op.name in ("sub", "div"):
            return self._compared(op, *parts)
        found = {part.nid: self.of(part) for part in parts}
        signs = {None if each is None else each.sign for each in found.values()}
        first = next(iter(found.values()), None)
        if first is None or len(signs) > 1:
            return None
        turned = op.name == "sub" and len(sources) == 2 and sources[1].nid in found
        step = 1 if op.name in HANDED_ON else -1 if turned else sign_of_step(op)
        if op.name == "div" and len(sources) == 2 and sources[1].nid in found:
            return None
        adds = (
            op.name in ("add", "sub")
            and len(sources) == 2
            and len(parts) == 1
            and first.joined is first.distance
        )
        return first._replace(sign=first.sign * step, joined=op if adds else first.joined) if step else None

    def _compared(self, op: Op, one: Op, other: Op) -> _Signed | None:
        """`r - r.mean()`, `r / r.std()`: only r counts, whichever is made of it."""
        behind = self._graph.ancestors([other.nid])
        if op.name == "div":
            return self.of(one) if any(self._graph.named(behind, SPREADS)) else None
        if one.nid in behind:
            return self.of(one)
        if other.nid in self._graph.ancestors([one.nid]) and (found := self.of(other)) is not None:
            return found._replace(sign=-found.sign)
        return None

    def _has_reference(self, op: Op) -> bool:
        return self._is_reference(self._said_by(op) - self._learned)

    def _said_by(self, op: Op) -> set[ParamId]:
        """Whose scores it is made of; who drew what is scored is another matter."""
        return set(scores.reads(self._history, scores.scoring(self._graph, op)))

    def _is_reference(self, pids: set[ParamId]) -> bool:
        return is_from_a_standing_copy(self._history, pids, self._learned)
