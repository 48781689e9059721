"""GS603: a log-probability per action dimension is used as if it were one per action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradsan.judge.report.wording import line, value_at
from gradsan.judge.shapes.axes import (
    BY_SIZE,
    ELEMENTWISE,
    RESHAPING,
    UNITS,
    Roles,
    onward,
    roles,
    varies_along,
)
from gradsan.judge.shapes.batch_corrections import corrections_of_all
from gradsan.judge.shapes.clipped_parts import ClippedParts, clipped_parts
from gradsan.judge.shapes.joint_log_probs import SummedOver, drawn_in, stacked_branches, summed_over_rows
from gradsan.judge.shapes.preferred_words import PreferredWords, preferred_words
from gradsan.judge.shapes.stretched_log_probs import Stretched, stretched
from gradsan.judge.shapes.written_densities import is_log_prob
from gradsan.record.events import Backward, Op, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

LINEAR = {"add", "sub", "rsub", "neg", "mul", "div", "detach", "to", "float", "clone", "contiguous"}
LINEAR |= RESHAPING | {"stack", "cat", "sum", "mean"}
ADDING = {"add", "sub", "rsub"}
WEIGHING = {"mul", "div"}
SAMPLED = frozenset(
    {"sample"}
)  # what a model is fitted to is not drawn, nor an action that is differentiated
FOLLOWED = BY_SIZE | RESHAPING | {"stack", "cat", "sum", "mean"}


class _Meeting(NamedTuple):
    """The operation, what is met there, and how bad that is."""

    op: Op
    partner: Op
    severity: str


class _Way(NamedTuple):
    """How far the log-probability was followed: whether it still enters linearly, and its weight per sample."""

    op: Op
    bent: bool
    weight: Op | None


class LogProbNotReduced(Rule):
    code = "GS603"
    name = "log-prob-not-reduced"
    severity = "error"
    needs_deep = True
    what = """
        A distribution that is made of independent parts (`Normal` with a mean per action dimension) gives one
        log-probability per dimension, `[B, A]`. It meets something that there is once per sample, `[B, 1]`, before
        it was summed over the dimensions.
    """
    why = """
        The log-probability of an action is the sum over its dimensions. Left apart, an importance ratio is that of
        each dimension alone and is clipped alone, an entropy term weighs 1/A of what its coefficient says, and a
        target becomes a different one for every dimension. Broadcasting hides it: nothing raises.
    """
    symptom = "It learns with one action dimension, and worse the more there are."
    fix = "sum over the action dimensions: `dist.log_prob(action).sum(-1, keepdim=True)`, or use `Independent(dist, 1)`"
    deliberate = """
        Log-probabilities of tokens or agents that meet a weight for each token or agent are not reported, nor is a
        plain average of log-probabilities (behaviour cloning). A ratio per dimension on purpose: allow it on the line.
    """
    bad = (
        """
        import torch
        actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(7, 1)
        s = torch.randn(8, 4)
        dist = torch.distributions.Normal(actor(s), 0.5)
        a = dist.rsample()
        log_prob = dist.log_prob(a)  # BUG
        loss = (0.1 * log_prob - critic(torch.cat([s, a], -1))).mean()
        loss.backward()
        """,
        """
        import torch
        actor = torch.nn.Linear(4, 3)
        s, a, old, advantage = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 1)
        log_prob = torch.distributions.Normal(actor(s), 1.0).log_prob(a)  # BUG
        ratio = (log_prob - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss.backward()
        """,
        """
        import torch
        actor, q = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
        s, reward = torch.randn(8, 4), torch.randn(8, 1)
        with torch.no_grad():
            dist = torch.distributions.Normal(actor(s), 1.0)
            entropy = -dist.log_prob(dist.sample())  # BUG
            target = reward + 0.9 * (q(s) + 0.1 * entropy)
        loss = (q(s) - target).pow(2).mean()
        loss.backward()
        """,
    )
    good = (
        """
        import torch
        actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(7, 1)
        s = torch.randn(8, 4)
        dist = torch.distributions.Normal(actor(s), 0.5)
        a = dist.rsample()
        log_prob = dist.log_prob(a).sum(-1, keepdim=True)
        loss = (0.1 * log_prob - critic(torch.cat([s, a], -1))).mean()
        loss.backward()
        """,
        """
        import torch
        actor = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8, 1)
        weighted = torch.distributions.Normal(actor(s), 1.0).log_prob(a) * advantage
        (-weighted.sum(-1).mean()).backward()  # summed, only later
        """,
        """
        import torch
        actor = torch.nn.Linear(4, 3)
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 3), torch.randn(8)
        dist = torch.distributions.Independent(torch.distributions.Normal(actor(s), 1.0), 1)
        ratio = (dist.log_prob(a) + 3.0).exp()
        (-(ratio * advantage).mean()).backward()
        """,
    )

    def on_backward(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        within = graph.ancestors(root.nid for root in event.roots)
        for words in preferred_words(graph, within):
            yield self._word_by_word(event, words)
        if not any(is_log_prob(graph, op) for op in within.values()):
            return
        known = roles(graph, within)
        for clipped in clipped_parts(graph, within):
            yield self._clipped_apart(event, clipped)
        for summed in summed_over_rows(graph, within, known):
            yield self._of_the_batch(event, summed)
        for summed in corrections_of_all(graph, within, known):
            yield self._corrected_by_all(event, summed)
        for found in stretched(graph, within):
            yield self._compared_with_parts(event, found)
        for op in (*self._log_probs(within, known), *stacked_branches(graph, within)):
            meeting = self._meeting(op, within, known)
            if meeting is not None:
                where, partner, severity = meeting
                if self._is_summed_after(where, within):
                    yield self._counted_often(event, op, where, partner)
                    continue
                yield Verdict(
                    op.site,
                    f"{value_at(self.history, op.site, 'the log-probability')} has {op.shape[-1]} columns, one per "
                    f"action dimension, and meets a value per sample {list(partner.shape)} without "
                    f"being summed over them ({'met' if severity == 'error' else 'averaged'} on "
                    f"{line(self.history, where.site)})",
                    [("log-prob", op.site), ("meets", where.site), ("backward", event.site)],
                    event.reached,
                    severity=severity,
                    fix=_advice(op, partner),
                )

    def _is_summed_after(self, where: Op, within: dict[ValueId, Op]) -> bool:
        """Whether the sum over the dimensions only comes too late, after every one of them has met the value: all that
        is made of it is a sum of two with it, then that sum."""
        last, op = (len(where.shape) - 1,), where
        while op.name in ADDING and op.shape == where.shape:
            users = list(onward(self.history.graph, op, within))
            if len(users) != 1:
                return False
            op = users[0]
        return op.name == "sum" and op.facts.axes == last and where.name in ADDING

    def _counted_often(self, event: Backward, op: Op, where: Op, partner: Op) -> Verdict:
        return Verdict(
            where.site,
            f"{list(partner.shape)}, a value per sample, is added to each of the {op.shape[-1]} columns of "
            f"{value_at(self.history, op.site, 'the log-probability')}, which are summed only afterwards: it counts "
            f"{op.shape[-1]} times",
            [("log-prob", op.site), ("meets", where.site), ("backward", event.site)],
            event.reached,
            fix="add what there is once per sample after the sum over the action dimensions, or do not sum it before",
        )

    def _of_the_batch(self, event: Backward, summed: SummedOver) -> Verdict:
        return Verdict(
            summed.total.site,
            f"{value_at(self.history, summed.total.site, 'the log-probability')} is summed over all "
            f"{summed.log_prob.shape[0]} samples, not only over the action dimensions, and every value of "
            f"{list(summed.weight.shape)} on {line(self.history, summed.where.site)} meets the same number",
            [("log-prob", summed.total.site), ("meets", summed.where.site), ("backward", event.site)],
            event.reached,
        )

    def _corrected_by_all(self, event: Backward, summed: SummedOver) -> Verdict:
        return Verdict(
            summed.total.site,
            f"{value_at(self.history, summed.total.site, 'the correction')} is summed over all "
            f"{summed.log_prob.shape[0]} samples, and {line(self.history, summed.where.site)} gives the same number to "
            f"the log-probability {list(summed.weight.shape)} of each",
            [("sum", summed.total.site), ("meets", summed.where.site), ("backward", event.site)],
            event.reached,
            fix="sum the correction over the action dimensions alone; of an action without an axis of its own, not at "
            "all (`unsqueeze(-1)` gives it one)",
        )

    def _clipped_apart(self, event: Backward, found: ClippedParts) -> Verdict:
        parts = found.clipped.shape[-1]
        return Verdict(
            found.clipped.site,
            f"each of {parts} columns is clipped by itself and only then are they put together on "
            f"{line(self.history, found.joined.site)}: the ratio of the whole may leave the limits, "
            "and an action is held back for one of its parts alone",
            [("clipped", found.clipped.site), ("joined", found.joined.site), ("met", found.met.site),
             ("backward", event.site)],
            event.reached,
            fix="sum first, then clip: `log_ratio.sum(-1).clamp(low, high)`",
        )  # fmt: skip

    def _word_by_word(self, event: Backward, found: PreferredWords) -> Verdict:
        return Verdict(
            found.words.site,
            f"{value_at(self.history, found.words.site, 'the log-probability')} has a column for each of "
            f"{found.places} words, and {line(self.history, found.compared.site)} asks at every place for itself which "
            "answer is preferred, not of the answers as a whole",
            [("log-prob", found.words.site), ("compared", found.compared.site), ("backward", event.site)],
            event.reached,
            fix="sum over the words of each answer before two answers are compared: `(log_p * mask).sum(-1)`",
        )

    def _compared_with_parts(self, event: Backward, found: Stretched) -> Verdict:
        width = found.old.shape[-1]
        return Verdict(
            found.where.site,
            f"the log-probability of the whole action, {list(found.joint.shape)}, is compared with a constant that has "
            f"a column for each of its {width} parts, {list(found.old.shape)}: the ratio counts every action "
            f"{width} times",
            [("meets", found.where.site), ("log-prob", found.joint.site), ("old", found.old.site),
             ("backward", event.site)],
            event.reached,
            fix="keep one column for the log-probability of an action, where the old one is put away",
        )  # fmt: skip

    def _log_probs(self, within: dict[ValueId, Op], known: dict[ValueId, Roles]) -> Iterator[Op]:
        """What `log_prob` gave back, where its last axis is the dimensions of the action."""
        for op in within.values():
            if not op.shape or op.shape[-1] < 2 or known[op.nid][-1] != UNITS:
                continue
            if not is_log_prob(self.history.graph, op):
                continue
            if any("log_prob" not in user.tags for user in onward(self.history.graph, op, within)):
                yield op

    def _meeting(self, start: Op, within: dict[ValueId, Op], known: dict[ValueId, Roles]) -> _Meeting | None:
        """Where it meets something per sample, followed as long as the dimensions are apart. A weight on what is
        summed later does no harm; one on what is averaged scales it, which is told of sampled actions only."""
        graph, stack, seen = self.history.graph, [_Way(start, False, None)], set()
        found: list[_Meeting] = []
        while stack:
            way = stack.pop()
            for user in onward(graph, way.op, within):
                if user.name == "logsumexp" and not self._is_apart(user, start, known):
                    return None  # the columns are the parts of a mixture
                if (user.nid, way.bent) in seen or user.name not in FOLLOWED or "log_prob" in user.tags:
                    continue
                seen.add((user.nid, way.bent))
                if not self._is_apart(user, start, known):
                    averaged = user.name == "mean" and len(way.op.shape) == len(user.facts.axes)
                    if (
                        averaged
                        and way.weight is not None
                        and not way.bent
                        and drawn_in(graph, start, SAMPLED)
                    ):
                        found.append(_Meeting(user, way.weight, "warning"))
                    continue
                others = [i for i in graph.inputs(user) if i.nid != way.op.nid and i.floating]
                weighs = user.name in WEIGHING
                if weighs and any(self._is_weight_of_each(i, user, start) for i in others):
                    return None  # what is meant is a log-probability for each
                met = next((i for i in others if self._is_per_sample(i, user, start)), None)
                if met is not None and user.name in ELEMENTWISE and (way.bent or not weighs):
                    found.append(_Meeting(user, met, "error"))
                stack.append(_Way(user, way.bent or user.name not in LINEAR, met or way.weight))
        return min(found, key=lambda m: m.severity, default=None)

    def _is_apart(self, value: Op, start: Op, known: dict[ValueId, Roles]) -> bool:
        """Whether the dimensions are still side by side in this value."""
        if start.name == "stack":
            return value.shape == start.shape
        return value.shape[-1:] == start.shape[-1:] and known[value.nid][-1] == UNITS

    def _is_per_sample(self, value: Op, user: Op, start: Op) -> bool:
        along = varies_along(value.shape, user.shape)
        last = len(user.shape) - 1
        return bool(along) and last not in along and not self._is_made_of(value, start)

    def _is_weight_of_each(self, value: Op, user: Op, start: Op) -> bool:
        same = value.shape == user.shape and not value.live
        return same and not self._is_made_of(value, start) and not self._is_log_prob(value)

    def _is_made_of(self, value: Op, start: Op) -> bool:
        return start.nid in self.history.graph.ancestors([value.nid])

    def _is_log_prob(self, value: Op) -> bool:
        graph = self.history.graph
        return any(is_log_prob(graph, op) for op in graph.ancestors([value.nid]).values())


def _advice(op: Op, partner: Op) -> str:
    """What it meets says whether the axis is to stay, as a column."""
    is_column = len(partner.shape) == len(op.shape) and partner.shape[-1] == 1
    call = ".sum(-1, keepdim=True)" if is_column else ".sum(-1)"
    return f"sum over the action dimensions: `dist.log_prob(action){call}`, or use `Independent(dist, 1)`"


rule = LogProbNotReduced
