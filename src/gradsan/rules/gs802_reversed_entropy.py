"""GS802: an entropy term that lowers the entropy."""

from __future__ import annotations

from collections.abc import Iterator

from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.meaning import (
    ENOUGH,
    Head,
    are_weighted,
    descends,
    head,
    is_own_sample,
    joins,
    layer,
    sign_of,
)
from gradsan.judge.objective.bent_spreads import bent_spreads
from gradsan.judge.objective.entropy_targets import target_in
from gradsan.judge.objective.expected_entropy import expected_entropies
from gradsan.judge.objective.guessed_entropy import guesses, is_of_own_samples, line_of_guess
from gradsan.judge.objective.multipliers import Weighed, learnt_by_number, weighed_costs
from gradsan.judge.objective.temperatures import Product, own_terms, product_with_score
from gradsan.judge.report.wording import line, value_at
from gradsan.record.events import ParamId, Probe, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

CONSTANT = 1e-3
LEAST_BELOW = 0.01  # zero, that a target must be: rounding is not told


class ReversedEntropy(Rule):
    code = "GS802"
    name = "reversed-entropy"
    severity = "error"
    needs_deep = True
    what = """
        The entropy term of a policy's loss lowers the entropy: the derivative of the loss by the entropy is positive
        (for the log-probability of the policy's own sample: negative). Or a learned temperature moves away from its
        target: it falls where the entropy is too low.
    """
    why = """
        The bonus is there to keep the policy from deciding too early. With the sign reversed it makes it decide as
        early as it can, for whatever it happens to prefer, and exploration ends.
    """
    symptom = """
        The entropy falls to zero within the first updates, whatever the reward; the return stays where the first
        preference of the policy has left it. A temperature goes to zero, or grows without limit.
    """
    fix = (
        "turn the sign: `loss = policy_loss - coefficient * entropy`, `actor_loss = alpha * log_prob - q`, "
        "`alpha_loss = -(log_alpha * (log_prob + target_entropy).detach()).mean()`"
    )
    deliberate = """
        A bonus that is annealed through zero, entropies that rise beside others that fall (mutual information), and
        entropies of what is not the policy (a gate, a classifier) are not reported. A policy that is to become
        decided from the start: allow it on the line.
    """
    bad = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            policy_loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean()
            loss = policy_loss + 0.01 * dist.entropy().mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
            log_p = policy(s).log_softmax(-1)
            entropy = -(log_p.exp() * log_p).sum(-1)
            objective = (log_p.gather(1, a) * advantage).mean() - 0.01 * entropy.mean()  # BUG
            opt.zero_grad()
            (-objective).backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1).requires_grad_(False)
        opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        for _ in range(8):
            s = torch.randn(8, 3)
            dist = torch.distributions.Normal(actor(s), 0.5)
            action = dist.rsample()
            log_prob = dist.log_prob(action).sum(-1, keepdim=True)
            loss = (-0.1 * log_prob - critic(torch.cat([s, action], -1))).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy, weight = torch.nn.Linear(3, 2), -0.01
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean() + weight * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        actor, log_weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.tensor(-0.7))
        opt, weight_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_weight], lr=0.1)
        for _ in range(6):
            s, done = torch.randn(8, 3), torch.rand(8, 2)
            action = actor(s)
            apart = (action - done).pow(2).mean()
            loss = -action.mean() + log_weight.exp().item() * apart
            opt.zero_grad()
            loss.backward()
            opt.step()
            weight_loss = -log_weight * (apart.item() - 0.5)
            weight_opt.zero_grad()
            weight_loss.backward()
            weight_opt.step()
        """,
        """
        # A reward that is to be reached: it is subtracted, and the limit comes first.
        import torch
        actor, log_weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.tensor(-0.7))
        opt, weight_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_weight], lr=0.1)
        for _ in range(6):
            s, done = torch.randn(8, 3), torch.rand(8, 2)
            action = actor(s)
            apart = (action - done).pow(2).mean()
            loss = -action.mean() + log_weight.exp().item() * -apart
            opt.zero_grad()
            loss.backward()
            opt.step()
            weight_loss = -log_weight * (0.5 - apart.item())
            weight_opt.zero_grad()
            weight_loss.backward()
            weight_opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._policies: set[ParamId] = (
            set()
        )  # heads whose log-probabilities an objective weighs, or a critic judges
        self._raised: set[ParamId] = set()  # heads whose entropy was seen to rise
        self._lowered: dict[Head, int] = {}
        self._samples: dict[Head, int] = {}
        self._guesses: dict[Head, list[float]] = {}
        self._bends: dict[Site, int] = {}
        self._temperatures: dict[ParamId, int] = {}
        self._weighed: dict[
            tuple[ParamId, tuple[Site, str]], set[int]
        ] = {}  # with which signs, in others' losses
        self._multipliers: dict[ParamId, int] = {}
        self._targets: dict[ParamId, int] = {}
        self._scaling: set[ParamId] = set()  # parameters whose value stands beside a policy's log-probability

    def on_settled(self, contribution: Contribution) -> Verdicts:
        way = descends(self.history, contribution)
        if not way or contribution.event.call != "backward":
            return
        found = list(self._entropies(contribution))
        self._policies |= self._objectives(contribution)
        for _, sign, own in found:
            if sign * way < 0:
                self._raised |= own
        for probe, sign, own in found:
            if sign * way > 0:
                yield from self._lowers(contribution, probe, own)
        yield from self._expectations(contribution, way)
        yield from self._guessed(contribution, way)
        yield from self._bent(contribution, way)
        yield from self._temperature(contribution, way)
        yield from self._multiplier(contribution, way)

    def _multiplier(self, contribution: Contribution, way: int) -> Verdicts:
        """Both losses take the other's part as a number: only the signs tell whether they pull against each other."""
        history = self.history
        for root in (op for r in contribution.event.roots if (op := history.graph.get(r.nid)) is not None):
            for found in weighed_costs(history, root):
                if found.pid not in contribution.event.reached:
                    self._weighed.setdefault((found.pid, found.cost), set()).add(found.sign * way)
            own = learnt_by_number(history, root) if len(contribution.event.reached) == 1 else None
            if own is None or self._weighed.get((own.pid, own.cost)) != {own.sign * way}:
                continue
            times = self._multipliers[own.pid] = self._multipliers.get(own.pid, 0) + 1
            if times >= ENOUGH:
                yield self._turned_multiplier(contribution, own)

    def _turned_multiplier(self, contribution: Contribution, own: Weighed) -> Verdict:
        history, site = self.history, own.product.site
        return Verdict(
            site,
            f"{value_at(history, site, 'this loss')} lowers the weight where what it weighs (made on "
            f"{line(history, own.cost[0])}) is above its limit, and raises it where that is below: it runs away from "
            "its target",
            [("loss", site), ("weighed", own.cost[0]), ("backward", contribution.site)],
            [own.pid],
            key="temperature",
        )

    def _bent(self, contribution: Contribution, way: int) -> Verdicts:
        """(log σ)² is made large in place of log σ: a spread below one becomes smaller still."""
        history, graph = self.history, self.history.graph
        roots = [root.nid for root in contribution.event.roots]
        scores = {p.value for p in contribution.event.facts.probes if p.kind == "log-prob"}
        for op, sign in bent_spreads(graph, roots, scores) if scores else ():
            own = graph.live_params([op.nid]) & contribution.consumed_pids()
            if sign * way > 0 or not own:  # made small, it keeps the spread near one
                continue
            times = self._bends[op.site] = self._bends.get(op.site, 0) + 1
            if times >= ENOUGH:
                yield Verdict(
                    op.site,
                    f"{value_at(history, op.site, 'this term')} is the square of a log-spread, and the loss makes it "
                    "large: a spread below one is made smaller, which lowers the entropy of the policy",
                    [("entropy", op.site), ("backward", contribution.site)],
                    own,
                    key="bent",
                    fix="the entropy of a normal distribution grows with log σ itself: 0.5 + 0.5·log 2π + log σ, or "
                    "`dist.entropy()`",
                )

    def _guessed(self, contribution: Contribution, way: int) -> Verdicts:
        """The log-probabilities of what the policy did, beside its objective, stand for the entropy."""
        history = self.history
        for guess in guesses(history, [root.nid for root in contribution.event.roots]):
            own = head(history.graph, guess.score.nid)
            if not own & contribution.consumed_pids() or not is_of_own_samples(history, guess.score):
                continue
            weights = self._guesses.setdefault(own, [])
            weights.append(guess.weight * way)
            steady = max(weights) - min(weights) <= CONSTANT * abs(weights[0])
            if len(weights) < ENOUGH or weights[0] > 0.0 or not steady:  # a return may weigh it, too
                continue
            site = line_of_guess(history, guess)
            yield Verdict(
                site,
                f"the log-probability made on {line(history, guess.score.site)} stands for the entropy, and its mean "
                f"has a weight of {weights[0]:.3g} in the loss: whatever the policy does becomes more likely, and its "
                "entropy is lowered",
                [("entropy", site), ("log-prob", guess.score.site), ("objective", guess.weighed.site),
                 ("backward", contribution.site)],
                own,
                key="guessed",
            )  # fmt: skip

    def _expectations(self, contribution: Contribution, way: int) -> Verdicts:
        """The critic's values are weighed by the policy's probabilities, and the entropy among them."""
        history = self.history
        roots = [root.nid for root in contribution.event.roots]
        for op, sign, squared in expected_entropies(history, roots):
            own = head(history.graph, op.nid)
            self._scaling |= history.graph.value_params(roots)
            if sign * way < 0:
                self._raised |= own
            elif sign * way > 0 and own & contribution.consumed_pids():
                looks = self._lowered[own] = self._lowered.get(own, 0) + 1
                if looks >= ENOUGH and not own & self._raised:
                    yield Verdict(
                        op.site,
                        f"log p {'is multiplied by itself' if squared else 'has the wrong sign'} in "
                        f"{value_at(history, op.site, 'this product')}, in all {looks} updates that were traced: the "
                        "term lowers the entropy of the policy",
                        [("entropy", op.site), ("backward", contribution.site)],
                        own,
                        key="expectation",
                    )

    def _entropies(self, contribution: Contribution) -> Iterator[tuple[Probe, int, Head]]:
        """The entropies in this loss, with the sign of its derivative by them."""
        graph, consumed = self.history.graph, contribution.consumed_pids()
        for probe in contribution.event.facts.probes:
            op, sign = graph.get(probe.value), sign_of(probe)
            if op is None or not sign or not graph.live_params([op.nid]) & consumed:
                continue
            if probe.kind == "log-prob":  # of its own sample it is an entropy, with the sign turned
                steady = probe.high - probe.low <= CONSTANT * max(abs(probe.low), abs(probe.high))
                if steady and probe.samples > 1 and is_own_sample(graph, op):
                    yield probe, -sign, head(graph, op.nid)
            elif probe.kind in ("entropy", "negative entropy"):
                yield probe, sign if probe.kind == "entropy" else -sign, head(graph, op.nid)

    def _objectives(self, contribution: Contribution) -> set[ParamId]:
        """Heads of what is a policy here: the score of its actions is weighed, or its action goes into a critic."""
        graph, found = self.history.graph, set[ParamId]()
        consumed = contribution.consumed_pids()
        rollouts: dict[tuple[Head, Site], list[Probe]] = {}
        for probe in contribution.event.facts.probes:
            if probe.kind == "log-prob" and (op := graph.get(probe.value)) is not None:
                rollouts.setdefault((head(graph, op.nid), op.site), []).append(probe)
            elif probe.kind == "output" and not layer(graph, probe.value) & consumed:
                found |= graph.live_params([probe.value]) & consumed
        for (own, _), steps in rollouts.items():
            if are_weighted(steps) or any(are_weighted([step]) for step in steps):
                found |= own
        if any(probe.kind in ("log-prob", "entropy") for probe in contribution.event.facts.probes):
            self._scaling |= graph.value_params(root.nid for root in contribution.event.roots)
        return found

    def _lowers(self, contribution: Contribution, probe: Probe, own: Head) -> Verdicts:
        self._lowered[own] = self._lowered.get(own, 0) + 1
        self._samples[own] = self._samples.get(own, 0) + probe.samples
        if self._lowered[own] < ENOUGH or not own & self._policies or own & self._raised:
            return
        history, samples = self.history, self._samples[own]
        roots = [root.nid for root in contribution.event.roots]
        site, made = joins(history, probe.value, roots), history.graph.ops[probe.value].site
        if probe.kind == "log-prob":
            measured = (
                f"∂loss/∂log-probability of the policy's own sample is negative in 100 % of {samples} samples"
            )
        else:
            measured = f"∂loss/∂entropy is positive in 100 % of {samples} samples"
        yield Verdict(
            site or contribution.site,
            f"{measured}: the term made on {line(history, made)} lowers the entropy of the policy",
            [("entropy", made), ("loss", site), ("backward", contribution.site)],
            own,
            key="entropy",
        )

    # -- the temperature --------------------------------------------------------------------------------

    def _temperature(self, contribution: Contribution, way: int) -> Verdicts:
        """A single number, multiplied with how far the entropy of a policy is from its target."""
        history, roots = self.history, [root.nid for root in contribution.event.roots]
        for nid, sign, pid in own_terms(history.graph, roots):
            if pid not in self._scaling or not set(history.params[pid].shape) <= {1}:
                continue
            if (found := product_with_score(history.graph, nid)) is not None:
                yield from self._weighed_temperature(contribution, found, pid, way * sign)

    def _weighed_temperature(
        self, contribution: Contribution, found: Product, pid: ParamId, way: int
    ) -> Verdicts:
        history = self.history
        if found.sign * way < 0:
            yield from self._unreachable(contribution, found, pid)
            return
        self._temperatures[pid] = self._temperatures.get(pid, 0) + 1
        if self._temperatures[pid] >= ENOUGH:
            op = found.op
            yield Verdict(
                op.site or contribution.site,
                f"{value_at(history, op.site, 'this loss')} rises with the temperature where the log-probability is "
                "high: the temperature falls where the entropy is below its target, and grows where it is above",
                [("loss", op.site), ("backward", contribution.site)],
                [pid],
                key="temperature",
            )

    def _unreachable(self, contribution: Contribution, found: Product, pid: ParamId) -> Verdicts:
        """The temperature moves as it should, towards an entropy that no choice among actions has."""
        history = self.history
        target = target_in(history, found.constant, found.weighed)
        if target is None or target.entropy > -LEAST_BELOW:
            return
        looks = self._targets[pid] = self._targets.get(pid, 0) + 1
        if looks >= ENOUGH:
            yield Verdict(
                target.added,
                f"{value_at(history, target.added, 'this sum')} aims at an entropy of {target.entropy:.3g}, and that "
                "of a choice among actions is never below zero: the temperature falls whatever the policy does",
                [("target", target.added), ("loss", found.op.site), ("backward", contribution.site)],
                [pid],
                key="target",
            )


rule = ReversedEntropy
