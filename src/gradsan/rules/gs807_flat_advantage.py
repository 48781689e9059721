"""GS807: an advantage that was normalised over nothing is zero, whatever the rewards."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from gradsan.judge import flow
from gradsan.judge.flow import JOINING, REDUCING, SELECTING, SHAPING, TAKEN_OUT
from gradsan.judge.history import History
from gradsan.judge.lines.callers import caller_of
from gradsan.judge.objective.weighed import is_score
from gradsan.judge.objective.zero_weights import zero_weights
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

MEANS = {"mean", "nanmean", "median", "sum", "nansum", "std_mean", "var_mean"}
SCALING = {"div", "mul", "neg", "clamp", "nan_to_num", "expand", "tanh", "alias"}
PICKING = {"gather", "getitem", "take_along_dim"}
CASTING = {"to", "long", "int", "short", "type", "type_as"}
WRITING = {"copy", "setitem", "index_put", "fill", "zero", "scatter", "add", "sub", "mul", "div"}
MUCH = 0.2  # returns of hundreds lose next to nothing with their fraction
ENOUGH = 3  # iterations: an episode may have one step, or a batch one row, now and then


@dataclass(slots=True)
class _Normalisation:
    """What was seen of one line: in which iterations it ran over nothing, and whether it ever ran over something."""

    iterations: set[int] = field(default_factory=set)
    over_something: bool = False


class FlatAdvantage(Rule):
    code = "GS807"
    name = "flat-advantage"
    severity = "error"
    needs_deep = True
    what = """
        The weights of the log-probabilities are normalised over an axis of one element, or in groups of one: each is
        compared with itself, so all are zero (or all one), whatever the rewards were. Or the baseline is the very
        tensor that the rewards are in, written anew. Or they were cast to whole numbers, and little is left of them. Or
        they are centred, and meet one number that all log-probabilities were averaged into.
    """
    why = """
        An advantage says how much better an action was than others. Where each one is its own mean, nothing is left
        of the rewards: the policy's term has no gradient, and what still moves the policy is the entropy bonus, weight
        decay, or the value loss in a shared trunk. The shapes fit, so nothing raises.
    """
    symptom = "The policy loss is exactly zero, or nearly, from the first update on; the return stays where it began."
    fix = (
        "normalise over the samples: `advantages.mean()` over all of them, and more than one answer per group"
    )
    deliberate = (
        "Weights that are equal without being normalised (masks, behaviour cloning) are not reported."
    )
    bad = (
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            advantage = returns - returns.mean(dim=1, keepdim=True)  # BUG
            entropy = torch.distributions.Categorical(logits=policy(s)).entropy().mean()
            loss = -(log_prob * advantage).mean() - 0.01 * entropy
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, advantage = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            weight = torch.softmax(advantage / 0.5, dim=-1)  # BUG
            loss = -(weight * log_prob).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The type of the actions: whole numbers.
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 4), torch.randint(3, (8,)), torch.rand(8) * 2 - 0.5
            dist = torch.distributions.Categorical(logits=policy(s))
            weights = (returns - 0.1).type_as(a)  # BUG
            loss = -(dist.log_prob(a) * weights).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            advantage = returns - returns.mean(dim=0, keepdim=True)
            loss = -(log_prob * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Answers of a group that are all worth the same, and a mask that hides nothing.
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for step in range(8):
            s, a = torch.randn(8, 4), torch.randint(3, (8, 1))
            rewards = torch.full((2, 4), 0.5) if step < 6 else torch.rand(2, 4)
            log_prob = policy(s).log_softmax(-1).gather(1, a)
            advantage = (rewards - rewards.mean(1, keepdim=True)).reshape(8, 1)
            mask = torch.ones(8, 1)
            loss = -(log_prob * advantage * mask).mean() - 0.01 * (log_prob * mask).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # An episode of one step, now and then.
        import torch
        policy = torch.nn.Linear(4, 3)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for length in (5, 1, 1, 4, 1, 1, 6, 1, 1):
            s, a, returns = torch.randn(length, 4), torch.randint(3, (length, 1)), torch.randn(length)
            log_prob = policy(s).log_softmax(-1).gather(1, a).squeeze(1)
            loss = -(log_prob * (returns - returns.mean())).sum() - 0.01 * log_prob.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._seen: dict[Site, _Normalisation] = defaultdict(_Normalisation)

    def on_backward(self, event: Backward) -> Verdicts:
        if not math.isfinite(event.loss):  # the deviation of one sample is no number: GS503 says so
            return
        yield from self._zeros(event)
        graph, reported = self.history.graph, set[Site]()
        for op in graph.live_ancestors(root.nid for root in event.roots).values():
            if op.name != "mul" or len(op.inputs) != 2:
                continue
            yield from self._whole_numbers(event, op, reported)
            sides = list(graph.inputs(op))
            weights = [side for side in sides if not side.live and side.floating]
            if len(sides) != 2 or len(weights) != 1 or not _is_score(self.history, _other(sides, weights[0])):
                continue
            yield from self._out_of_step(event, op, _other(sides, weights[0]), weights[0])
            for normalisation in self._normalisations(weights[0]):
                seen, site = self._seen[normalisation.site], normalisation.site
                if self._runs_over_nothing(normalisation):
                    seen.iterations.add(self.history.iteration)
                else:
                    seen.over_something = True
                if len(seen.iterations) >= ENOUGH and not seen.over_something and site not in reported:
                    reported.add(site)
                    yield self._verdict(event, op, normalisation)

    def _zeros(self, event: Backward) -> Verdicts:
        for found in zero_weights(self.history, event):
            if any(map(self._runs_over_nothing, self._normalisations(found.weight))):
                continue  # that line is told
            seen = self._seen[found.site].iterations
            seen.add(self.history.iteration)
            if len(seen) >= ENOUGH:
                yield Verdict(
                    found.site,
                    f"the weights that this makes are zero for all {found.steps} steps, whose rewards differ: "
                    f"{line(self.history, found.product.site)} weighs log-probabilities with them, and nothing is "
                    "learned from any reward",
                    [("weights", found.site), ("loss", found.product.site), ("backward", event.site)],
                )

    def _out_of_step(self, event: Backward, product: Op, scores: Op, weight: Op) -> Verdicts:
        """All scores were made one number before they met weights that are centred: what is left is their sum, zero."""
        graph, history = self.history.graph, self.history
        folded = flow.unshaped(graph, scores, SHAPING | {"neg"})
        several = folded.name in REDUCING and any(math.prod(i.shape) > 1 for i in graph.inputs(folded))
        several = several or len(flow.terms(graph, folded)) > 1  # one by one: `sum(log_probs)`
        centred = flow.unshaped(graph, weight, SHAPING | REDUCING | {"neg", "div"})
        found = self._own_mean(centred) if centred.name == "sub" and math.prod(scores.shape) == 1 else None
        if not several or found is None or math.prod(found[1].shape) != 1 or math.prod(found[0].shape) < 2:
            return
        onward = flow.users_through(graph, product, graph.ops, SHAPING | {"neg"})
        if math.prod(product.shape) == 1 or any(math.prod(user.shape) == 1 for user in onward):
            yield Verdict(
                product.site,
                f"the log-probabilities are made one number on {line(history, folded.site)} before they are weighed, "
                f"and the weights are centred on {line(history, centred.site)}: their sum is zero, and so is the "
                "gradient, whatever the rewards",
                [("made one number", folded.site), ("centred", centred.site), ("loss", product.site),
                 ("backward", event.site)],
                explains=event.reached,
                fix="weigh first, then average: `(log_probs * advantages).mean()`",
            )  # fmt: skip

    def _whole_numbers(self, event: Backward, product: Op, reported: set[Site]) -> Verdicts:
        """Weights that were cast to whole numbers on their way, and lost much of their size there."""
        graph = self.history.graph
        sides = list(graph.inputs(product))
        weights = [side for side in sides if not side.live]
        if len(sides) != 2 or len(weights) != 1:
            return
        cast = self._unshaped(weights[0], SHAPING - CASTING | SELECTING | {"neg"})
        if cast.name not in CASTING or cast.facts.cut_off < MUCH or cast.site in reported:
            return
        if not _is_score(self.history, _other(sides, weights[0])):
            return
        reported.add(cast.site)
        seen = self._seen[cast.site].iterations
        seen.add(self.history.iteration)
        if len(seen) >= ENOUGH:
            yield self._cast(event, product, cast)

    def _cast(self, event: Backward, product: Op, cast: Op) -> Verdict:
        history = self.history
        site = caller_of(history, cast, lambda op: not op.facts.cut_off)
        return Verdict(
            site,
            f"{value_at(history, site, 'the weight')}, which weighs a log-probability on "
            f"{line(history, product.site)}, is cast to whole numbers: {cast.facts.cut_off:.0%} of its size is cut off",
            [("cast", cast.site), ("loss", product.site), ("backward", event.site)],
            explains=event.reached,
            fix="keep it a float: cast it like the log-probability, not like the actions",
        )

    def _normalisations(self, weight: Op) -> Iterator[Op]:
        """The operations that the weight is a scaled and rearranged result of, and that could have made it flat."""
        graph, stack, seen = self.history.graph, [weight], set[ValueId]()
        while stack and len(seen) < 2_000:
            op = stack.pop()
            if op.nid in seen:
                continue
            seen.add(op.nid)
            if op.site and (op.name == "softmax" or (op.name == "sub" and self._is_of_its_own(op))):
                yield op
            elif op.name in SHAPING | SELECTING | JOINING | TAKEN_OUT | SCALING:
                inputs = [source for source in graph.inputs(op) if source.floating and not source.live]
                stack.extend(inputs[:1] if op.name == "div" else inputs)

    def _is_of_its_own(self, op: Op) -> bool:
        return self._is_itself(op) or self._own_mean(op) is not None

    def _is_itself(self, op: Op) -> bool:
        """`rewards - baseline`, and both are one tensor, which the second has written over."""
        sides = [self._unshaped(side, SHAPING).nid for side in self.history.graph.inputs(op)]
        return len(op.inputs) == 2 and len(sides) == 2 and sides[0] == sides[1]

    def _own_mean(self, op: Op) -> tuple[Op, Op] | None:
        """`x - x.mean(…)`: the two."""
        graph = self.history.graph
        sides = list(graph.inputs(op))
        if len(sides) != 2:
            return None
        mean = self._unshaped(sides[1], SHAPING | {"div"})
        if mean.name not in MEANS or (of := graph.get(mean.inputs[0]) if mean.inputs else None) is None:
            return None
        same = self._unshaped(of, SHAPING).nid == self._unshaped(sides[0], SHAPING).nid
        return (sides[0], mean) if same else None

    def _unshaped(self, op: Op, through: Collection[str]) -> Op:
        while (
            op.name in through and op.inputs and (source := self.history.graph.get(op.inputs[0])) is not None
        ):
            op = source
        return op

    def _runs_over_nothing(self, op: Op) -> bool:
        if op.name == "softmax":
            return bool(op.facts.axes) and all(
                op.shape[axis] == 1 for axis in op.facts.axes if axis < len(op.shape)
            )
        if self._is_itself(op):
            return True
        found = self._own_mean(op)
        return found is not None and math.prod(found[0].shape) == math.prod(found[1].shape)

    def _verdict(self, event: Backward, product: Op, op: Op) -> Verdict:
        history = self.history
        if op.name == "sub" and self._is_itself(op):
            return self._written_over(event, product, op)
        shape = "[" + ", ".join(map(str, op.shape)) + "]"
        how = (
            "a softmax over an axis of one element" if op.name == "softmax" else "compared with its own mean"
        )
        times = len(self._seen[op.site].iterations)
        return Verdict(
            op.site,
            f"{value_at(history, op.site, 'the weight')}, which weighs a log-probability on "
            f"{line(history, product.site)}, is the same for every sample: each element of {shape} is {how}, in all "
            f"{times} iterations so far",
            [("normalisation", op.site), ("loss", product.site), ("backward", event.site)],
            explains=event.reached if op.name != "softmax" else (),
        )

    def _written_over(self, event: Backward, product: Op, op: Op) -> Verdict:
        history = self.history
        write = self._unshaped(next(history.graph.inputs(op)), SHAPING)
        over = write.site if write.name in WRITING and write.site else op.site
        what = f", which {line(history, over)} has written over" if over != op.site else ""
        return Verdict(
            over,
            f"{value_at(history, op.site, 'the weight')}, which weighs a log-probability on "
            f"{line(history, product.site)}, is zero for every sample: both sides of the difference are one "
            f"tensor{what}",
            [
                ("written over", over),
                ("difference", op.site),
                ("loss", product.site),
                ("backward", event.site),
            ],
            explains=event.reached,
            fix="give each its own tensor: return a new one, or `clone()` what is kept",
        )


def _other(sides: list[Op], one: Op) -> Op:
    return sides[0] if sides[1] is one else sides[1]


def _is_score(history: History, op: Op) -> bool:
    """The log-probability of a choice, or its probability, which an expected reward is made of."""
    return is_score(history, op, also=lambda o: _picks_a_probability(history, o))


def _picks_a_probability(history: History, op: Op) -> bool:
    source = next(history.graph.inputs(op), None) if op.name in PICKING and len(op.inputs) > 1 else None
    return source is not None and source.name == "softmax"


rule = FlatAdvantage
