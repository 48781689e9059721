"""Where ranks that should do the same do not: their steps side by side, by what each has recorded of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradsan.judge.history import History
from gradsan.record.events import Digest, OptimizerId, ParamId, RankStep

TOLERANCE = 1e-5  # of the norm: another processor may round in another way
# Functions that average in PyTorch's stead and leave the same gradient on every rank.
AVERAGING = tuple(
    f"torch.distributed.algorithms.ddp_comm_hooks.{name}."
    for name in ("default_hooks", "powerSGD_hook", "quantization_hooks", "mixed_precision_hooks")
)


class Pair(NamedTuple):
    """The same parameter on two ranks."""

    pid: ParamId
    mine: Digest
    other: Digest

    @property
    def gradients_differ(self) -> bool:
        mine, other = self.mine, self.other
        return _differ(mine.gradient, other.gradient, 0.0) or _differ(
            mine.gradient_sum, other.gradient_sum, mine.gradient
        )

    @property
    def weights_differ(self) -> bool:
        mine, other = self.mine, self.other
        return _differ(mine.weight, other.weight, 0.0) or _differ(
            mine.weight_sum, other.weight_sum, mine.weight
        )


@dataclass(slots=True)
class Drift:
    """From `step` on, these parameters are not what they are on the first rank, on the ranks `others`. `last` are
    those pairs as they were when the ranks were compared for the last time."""

    step: RankStep
    pairs: list[Pair]
    others: list[int]
    in_gradient: bool
    last: list[Pair]


def drifts(ranks: Sequence[History]) -> Iterator[Drift]:
    """One for each optimizer whose parameters the ranks are meant to have in common."""
    for oid in ranks[0].optimizers:
        found: Drift | None = None
        for index in range(1, len(ranks)):
            one = _drift(ranks[0], ranks[index], index, oid)
            if one is None:
                continue
            if found is None or one.step.iteration < found.step.iteration:
                one.others = [*(found.others if found else []), index]
                found = one
            else:
                found.others.append(index)
        if found is not None:
            yield found


def _drift(mine: History, other: History, index: int, oid: OptimizerId) -> Drift | None:
    if not _is_same_optimizer(mine, other, oid):
        return None
    common = [step for key, step in mine.ranks.steps.items() if key[0] == oid and key in other.ranks.steps]
    if oid in mine.ranks.final and oid in other.ranks.final:
        ends = mine.ranks.final[oid], other.ranks.final[oid]
        common += [ends[0]] if ends[0].iteration == ends[1].iteration else []
    for step in sorted(common, key=lambda step: step.iteration):
        pairs = [p for p in _pairs(mine, other, step) if _is_shared(mine, other, p.pid, oid)]
        differing = [p for p in pairs if _is_drift(mine, p, step, oid)]
        if differing and not _is_displaced(mine, other, step, differing[0]):
            pids = {p.pid for p in differing}
            last = [p for p in _pairs(mine, other, max(common, key=lambda s: s.iteration)) if p.pid in pids]
            in_gradient = not step.last and any(p.gradients_differ for p in differing)
            return Drift(step, differing, [index], in_gradient, last)
    return None


def side_by_side(ranks: Sequence[History], drift: Drift) -> list[dict[int, Digest]]:
    """What each rank has recorded of the parameters that differ, when they first did: one entry for each of them."""
    oid, mine = drift.step.oid, ranks[0].optimizers[drift.step.oid].params
    found: list[dict[int, Digest]] = [{} for _ in drift.pairs]
    for history in ranks:
        group, optimizer = history.ranks.group, history.optimizers.get(oid)
        step = (
            history.ranks.final.get(oid)
            if drift.step.last
            else history.ranks.steps.get((oid, drift.step.iteration))
        )
        if group is None or optimizer is None or step is None:
            continue
        digests = {digest.pid: digest for digest in step.digests}
        for row, pair in zip(found, drift.pairs, strict=True):
            at = mine.index(pair.pid)
            if at < len(optimizer.params) and (digest := digests.get(optimizer.params[at])) is not None:
                row[group.rank] = digest
    return found


def _is_drift(mine: History, pair: Pair, step: RankStep, oid: OptimizerId) -> bool:
    """Where only the beginning was made the same on all ranks, gradients may differ for as long as the weights are
    made the same again."""
    averaged = mine.ranks.exchanged["gradient"]
    if mine.ranks.wrapper_of(pair.pid) or any(pid in averaged for pid in mine.optimizers[oid].params):
        return pair.weights_differ or (not step.last and pair.gradients_differ)
    return pair.weights_differ


def _is_same_optimizer(mine: History, other: History, oid: OptimizerId) -> bool:
    if oid not in other.optimizers:
        return False
    shapes = ([h.params[pid].shape for pid in h.optimizers[oid].params] for h in (mine, other))
    return next(shapes) == next(shapes)


def _pairs(mine: History, other: History, step: RankStep) -> list[Pair]:
    """Parameters have the same place in the same optimizer, whatever number each rank gives them."""
    theirs = other.ranks.final[step.oid] if step.last else other.ranks.steps[step.oid, step.iteration]
    place = {pid: n for n, pid in enumerate(other.optimizers[step.oid].params)}
    by_place = {place[digest.pid]: digest for digest in theirs.digests if digest.pid in place}
    mine_at = {pid: n for n, pid in enumerate(mine.optimizers[step.oid].params)}
    return [
        Pair(digest.pid, digest, by_place[at])
        for digest in step.digests
        if (at := mine_at.get(digest.pid, -1)) in by_place
    ]


def _is_shared(mine: History, other: History, pid: ParamId, oid: OptimizerId) -> bool:
    """Whether the ranks are meant to have it in common: it is wrapped, or the script itself exchanges gradients of what
    this optimizer steps; or one rank's was copied to all at first, and nobody averages weights now and then."""
    books = (mine.ranks, other.ranks)
    if wrapper := mine.ranks.wrapper_of(pid):
        if any(wrapper.number in book.refused for book in books):
            return False  # that it broke off is the reason
        return not wrapper.hook or wrapper.hook.startswith(AVERAGING)
    if any(pid in book.exchanged["weight"] for book in books):
        return False
    exchanged = mine.ranks.exchanged["gradient"]
    return any(p in exchanged for p in mine.optimizers[oid].params) or pid in mine.ranks.exchanged["copy"]


def _is_displaced(mine: History, other: History, step: RankStep, pair: Pair) -> bool:
    """Whether the other rank has been there, or gets there, only a few steps earlier or later: then they are counted
    differently, and nothing has drifted apart."""
    at = mine.optimizers[step.oid].params.index(pair.pid)
    theirs = other.optimizers[step.oid].params[at]
    digests = (
        digest
        for key, near in other.ranks.steps.items()
        if key[0] == step.oid and 0 < abs(near.iteration - step.iteration) <= 4
        for digest in near.digests
        if digest.pid == theirs
    )
    there = (Pair(pair.pid, pair.mine, digest) for digest in digests)
    return any(not p.weights_differ and (step.last or not p.gradients_differ) for p in there)


def _differ(one: float, other: float, scale: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) != math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return one != other
    return abs(one - other) > TOLERANCE * max(abs(one), abs(other), scale)


def apart(pairs: Sequence[Pair]) -> float:
    """How far the weights are apart at least, as a share of their norm."""
    norms = [(p.mine.weight, p.other.weight) for p in pairs]
    shares = [abs(a - b) / max(a, b) for a, b in norms if max(a, b) > 0 and math.isfinite(a + b)]
    return max(shares, default=0.0)
