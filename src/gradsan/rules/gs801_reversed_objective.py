"""GS801: a policy that learns to do worse."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING, SHAPING, unshaped
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.meaning import ENOUGH, Head, descends, head, joins, layer, sign_of, uphill
from gradsan.judge.objective.bootstrapped import Critics
from gradsan.judge.objective.chosen_values import chosen_values
from gradsan.judge.objective.expected_entropy import expected_values
from gradsan.judge.objective.raised_divergences import joined_at, raised_divergences
from gradsan.judge.objective.ratios import clipped_ratio, sides_apart
from gradsan.judge.objective.rewarded_divergences import rewarded_divergences
from gradsan.judge.objective.score_functions import critics_of_rewards, turned_at, weighed_scores
from gradsan.judge.objective.sent_slopes import sent_slopes
from gradsan.judge.objective.surrogate_lines import taken_on_at
from gradsan.judge.objective.weighed import Met, origin
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import NOWHERE, Op, ParamId, Probe, ProbePair, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

BOUNDS_ENOUGH = 2  # looks at a bound: what stands before it is no beginning
AGAINST, NOT_AGAINST, WITH = -0.8, -0.3, 0.5  # correlations
FEW = 4  # samples at a time: then more looks are needed
MANY_LOOKS = 10


class ReversedObjective(Rule):
    code = "GS801"
    name = "reversed-objective"
    severity = "error"
    needs_deep = True
    what = """
        The policy's loss makes what was better less likely. PPO minimises the smaller of the clipped and the unclipped
        surrogate where it should maximise it, or the ratio is upside down, `exp(old - new)`. Or the actor's loss lowers
        the value that its critic gives to the action (be it by a slope that was taken first), or that the policy's
        probabilities expect of all actions. Or log-probabilities fall where the critic says that more came back than
        expected, and rise where less did; or they fall where the return of the environment's rewards is high. Or the
        penalty that is to hold a policy near its reference pushes it away.
    """
    why = """
        The sign of a policy's loss is a convention that nothing checks: an objective is maximised, a loss minimised.
        A minus too few, or one drawn into `min`, and the policy learns to avoid reward, with gradients that are
        perfectly sound.
    """
    symptom = """
        The return falls below that of a random policy and stays there; the critic's loss looks good.
    """
    fix = (
        "turn the sign: `loss = -torch.min(ratio * A, clipped * A).mean()` (or `torch.max(-ratio * A, -clipped * A)`), "
        "`actor_loss = -critic(s, actor(s)).mean()`, `policy_loss = -(log_prob * advantage).mean()`"
    )
    deliberate = """
        Adversaries beside a protagonist, cost critics beside reward critics, and score functions of a cost (no critic
        that bootstraps, no environment of Gymnasium's or PettingZoo's) are not reported. A critic that bootstraps
        costs, alone: allow it on the line.
    """
    bad = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            for _ in range(2):
                ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
                loss = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()  # BUG
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            s, a, r, s2 = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * critic(torch.cat([s2, actor(s2)], -1))
            critic_opt.zero_grad()
            (critic(torch.cat([s, a], -1)) - y).pow(2).mean().backward()
            critic_opt.step()
            actor_loss = critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_opt.zero_grad()
            actor_loss.backward()
            actor_opt.step()
        """,
        """
        import torch
        policy, value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.1)
        for _ in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            dist, v = torch.distributions.Categorical(logits=policy(s)), value(s).squeeze(-1)
            with torch.no_grad():
                target = r + 0.9 * value(s2).squeeze(-1)
            policy_loss = (dist.log_prob(dist.sample()) * (target - v.detach())).mean()  # BUG
            opt.zero_grad()
            (policy_loss + (v - target).pow(2).mean()).backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            for _ in range(2):
                ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
                loss = torch.max(-ratio * advantage, -ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # Of two surprises it is the old one less the new one.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        score = torch.nn.CrossEntropyLoss(reduction="none")
        for _ in range(3):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            with torch.no_grad():
                old = score(policy(s), a)
            for _ in range(2):
                ratio = (old - score(policy(s), a)).exp()
                loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
        """,
        """
        # The gradient of an expected cost, less what a network expects: it is to fall.
        import torch
        policy, expected = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*policy.parameters(), *expected.parameters()], lr=0.1)
        for _ in range(6):
            s, cost = torch.randn(8, 3), torch.rand(8)
            dist, v = torch.distributions.Categorical(logits=policy(s)), expected(s).squeeze(-1)
            loss = (dist.log_prob(dist.sample()) * (cost - v.detach())).mean() + (v - cost).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._critics: set[ParamId] = (
            set()
        )  # heads that are fitted to targets made with their own values, or to rewards
        self._bootstrapped = Critics(history)
        self._raised: set[ParamId] = set()  # critics whose value some actor raises
        self._lowers: dict[Head, int] = {}
        self._bounds: dict[Site, int] = {}
        self._against: dict[tuple[Head, Head], int] = {}
        self._friends: set[Head] = set()  # policies and critics that were seen to agree with another
        self._against_rewards: dict[Head, int] = {}
        self._raises_expectation = False  # some policy's probabilities move to what a critic values
        self._raises_choices = False  # and some choices that were drawn
        self._driven_away: dict[Site, int] = {}
        self._bounded: set[ParamId] = set()  # policies of which a bound has told it already
        self._with_rewards = False  # some policy raises what was rewarded

    def on_settled(self, contribution: Contribution) -> Verdicts:
        way = descends(self.history, contribution)
        event = contribution.event
        if not way or event.call != "backward":
            return
        self._critics |= self._bootstrapped.learn([root.nid for root in event.roots])
        if self.history.experience.gives_rewards:
            self._critics |= critics_of_rewards(self.history, event)
        for probe in event.facts.probes:
            if probe.kind in ("minimum", "maximum"):
                yield from self._surrogate(contribution, probe, way)
        yield from self._values(contribution, way)
        yield from self._slopes(contribution, way)
        yield from self._expectations(contribution, way)
        yield from self._chosen(contribution, way)
        seen: set[tuple[Head, Head]] = set()  # a value and its sum are probed apart, and tell the same
        for pair in event.facts.probe_pairs:
            graph = self.history.graph
            who = head(graph, pair.log_prob), head(graph, pair.prediction)
            if who not in seen:
                seen.add(who)
                yield from self._pair(contribution, pair, *who)
        yield from self._scores(contribution, way)
        yield from self._divergences(contribution, way)

    def _divergences(self, contribution: Contribution, way: int) -> Verdicts:
        history, roots = self.history, [root.nid for root in contribution.event.roots]
        for op, learned in raised_divergences(history, roots, way):
            looks = self._driven_away[op.site] = self._driven_away.get(op.site, 0) + 1
            if looks >= ENOUGH and learned & contribution.consumed_pids():
                joined = joined_at(history, op, roots)
                yield Verdict(
                    joined,
                    f"each update drives {networks(history, learned)} away from the reference: the divergence on "
                    f"{line(history, op.site)} enters the loss with a minus",
                    [("divergence", op.site), ("loss", joined), ("backward", contribution.site)],
                    learned,
                    key="divergence",
                    fix="add the penalty to the loss: `loss = -surrogate + beta * kl`",
                )

        for found in rewarded_divergences(history, roots, way):
            site = found.distance.site
            looks = self._driven_away[site] = self._driven_away.get(site, 0) + 1
            if looks >= ENOUGH and found.learned & contribution.consumed_pids():
                yield Verdict(
                    found.paid,
                    f"each update drives {networks(history, found.learned)} away from the reference: answers are "
                    f"praised for the difference on {line(history, site)}, and raised on "
                    f"{line(history, found.weighed.site)}",
                    [("reward", found.paid), ("divergence", site), ("loss", found.weighed.site),
                     ("backward", contribution.site)],
                    found.learned,
                    key="divergence",
                    fix="subtract the penalty: `reward = score - beta * (logp - ref_logp)`",
                )  # fmt: skip

    # -- beside what the environment gave ---------------------------------------------------------------

    def _scores(self, contribution: Contribution, way: int) -> Verdicts:
        history = self.history
        if not history.experience.gives_rewards:
            return
        for met, moves in weighed_scores(history, contribution.event):
            own = head(history.graph, met.live.nid)
            if moves * way > 0:
                self._with_rewards = True
                continue
            looks = self._against_rewards[own] = self._against_rewards.get(own, 0) + 1
            if looks >= ENOUGH and not self._with_rewards and own & contribution.consumed_pids():
                yield self._avoids_reward(contribution, met, own)

    def _avoids_reward(self, contribution: Contribution, met: Met, own: Head) -> Verdict:
        history, site = self.history, met.op.site
        made = origin(history, met.constant) if met.constant is not None else site
        return Verdict(
            site,
            f"the log-probability of an action falls where {value_at(history, made, 'its weight')} is high, in all "
            f"{self._against_rewards[own]} updates that were traced, and that weight rises with the rewards that the "
            "environment gave after it: a minus is missing, or there is one too many",
            [("loss", site), ("weight", made), ("backward", contribution.site)],
            own,
            key="reward",
        )

    # -- the clipped surrogate ------------------------------------------------------------------------

    def _surrogate(self, contribution: Contribution, probe: Probe, way: int) -> Verdicts:
        history, value = self.history, self.history.graph.get(probe.value)
        op = unshaped(history.graph, value, SHAPING | SELECTING) if value is not None else None
        worse = 1 if probe.kind == "minimum" else -1
        ratio = clipped_ratio(history.graph, op) if op is not None and sign_of(probe) else None
        if op is None or ratio is None:
            return
        if (side := sides_apart(history.graph, op, ratio)) is not None:
            yield from self._half_turned(contribution, op, side)
            return
        if sign_of(probe) * way != worse:
            yield from self._upside_down(contribution, op, ratio)
            return
        looks = self._bounds[op.site] = self._bounds.get(op.site, 0) + 1
        if looks >= BOUNDS_ENOUGH:
            self._bounded |= head(history.graph, op.nid)
            word, sign = ("smaller", "positive") if worse > 0 else ("larger", "negative")
            roots = [root.nid for root in contribution.event.roots]
            yield Verdict(
                taken_on_at(history, op, ratio, roots, _lowers_entropy(contribution, way)),
                f"the loss makes the {word} of the clipped and the unclipped surrogate {word} still (its derivative is "
                f"{sign} in 100 % of {probe.samples} samples): a minus is missing, or was drawn into the {probe.kind}",
                [
                    ("surrogate", op.site),
                    ("loss", joins(history, op.nid, roots)),
                    ("backward", contribution.site),
                ],
                history.graph.live_params([op.nid]) & contribution.consumed_pids(),
                key="surrogate",
            )

    def _half_turned(self, contribution: Contribution, op: Op, side: Op) -> Verdicts:
        looks = self._bounds[side.site] = self._bounds.get(side.site, 0) + 1
        if looks >= BOUNDS_ENOUGH:
            yield Verdict(
                side.site,
                "the clipped and the unclipped surrogate stand in one bound with opposite signs: a minus is missing in "
                "one of them",
                [("surrogate", op.site), ("backward", contribution.site)],
                self.history.graph.live_params([op.nid]) & contribution.consumed_pids(),
                key="surrogate",
            )

    def _upside_down(self, contribution: Contribution, op: Op, ratio: Op) -> Verdicts:
        """The surrogate is raised, and the ratio in it falls when the action becomes likelier."""
        history, turned = self.history, turned_at(self.history, ratio)
        if not turned:
            return
        looks = self._bounds[turned] = self._bounds.get(turned, 0) + 1
        if looks >= ENOUGH:
            yield Verdict(
                turned,
                f"the ratio on {line(history, ratio.site)} becomes smaller as the action becomes likelier: the sign "
                "of the log-probability is turned here, so the policy learns to avoid what was better than expected",
                [
                    ("log-prob", turned),
                    ("ratio", ratio.site),
                    ("surrogate", op.site),
                    ("backward", contribution.site),
                ],
                history.graph.live_params([op.nid]) & contribution.consumed_pids(),
                key="ratio",
            )

    # -- through a critic ------------------------------------------------------------------------------

    def _values(self, contribution: Contribution, way: int) -> Verdicts:
        graph, consumed = self.history.graph, contribution.consumed_pids()
        lowered: list[tuple[Probe, Head]] = []
        for probe in contribution.event.facts.probes:
            critic = layer(graph, probe.value)
            if probe.kind != "output" or not critic or critic & consumed:
                continue
            if not graph.live_params([probe.value]) & consumed:
                continue
            sign = sign_of(probe) * way
            if sign < 0:
                self._raised |= critic
            elif sign > 0:
                lowered.append((probe, critic))
        if (
            any(critic <= self._raised for _, critic in lowered)
            or not lowered
            or self._raises_any(contribution, way)
        ):
            return
        for probe, critic in lowered:
            looks = self._lowers[critic] = self._lowers.get(critic, 0) + 1
            if looks >= ENOUGH and critic <= self._critics and not critic & self._raised:
                yield self._lowers_value(contribution, probe)
                return

    def _raises_any(self, contribution: Contribution, way: int) -> bool:
        """A cost critic is lowered beside a critic that is raised."""
        graph, consumed = self.history.graph, contribution.consumed_pids()
        return any(
            probe.kind == "output" and sign_of(probe) * way < 0 and not layer(graph, probe.value) & consumed
            for probe in contribution.event.facts.probes
        )

    def _lowers_value(self, contribution: Contribution, probe: Probe) -> Verdict:
        history = self.history
        actor = history.graph.live_params([probe.value]) & contribution.consumed_pids()
        roots = [root.nid for root in contribution.event.roots]
        site = joins(history, probe.value, roots) or contribution.site
        return Verdict(
            site,
            f"∂loss/∂value is positive in 100 % of {probe.positive} samples: the loss trains "
            f"{networks(history, actor)} to lower the value that its critic gives to the action",
            [("loss", site), ("value", history.graph.ops[probe.value].site), ("backward", contribution.site)],
            actor,
            key="value",
        )

    def _slopes(self, contribution: Contribution, way: int) -> Verdicts:
        """The slope of the value by the action was taken first, and is what backward begins with."""
        history, event = self.history, contribution.event
        for slope in sent_slopes(history, event):
            if slope.sign * way < 0:
                self._raised |= slope.critic
                continue
            looks = self._lowers[slope.critic] = self._lowers.get(slope.critic, 0) + 1
            if looks >= ENOUGH and slope.critic <= self._critics and not slope.critic & self._raised:
                actor = set(event.fed) & contribution.consumed_pids()
                yield Verdict(
                    contribution.site,
                    f"the slope of the value by the action is sent up as it is, and the step goes down: "
                    f"{networks(history, actor)} learns the action that its critic gives the least to",
                    [("loss", contribution.site), ("value", slope.value.site), ("slope", slope.read.site)],
                    actor,
                    fix="turn it round: `action.backward(-slope)`",
                    key="value",
                )
                return

    def _expectations(self, contribution: Contribution, way: int) -> Verdicts:
        """The critic's values are constants, and weighed by the probabilities of all actions."""
        history, roots = self.history, [root.nid for root in contribution.event.roots]
        found = list(expected_values(history, roots, self._critics))
        self._raises_expectation |= any(sign * way <= 0 for *_, sign in found)
        for op, value, _ in found if not self._raises_expectation else ():
            own = head(history.graph, op.nid)
            looks = self._lowers[own] = self._lowers.get(own, 0) + 1
            if looks >= ENOUGH and own & contribution.consumed_pids():
                yield Verdict(
                    op.site,
                    f"the loss rises with the value that {networks(history, own)} expects, in all {looks} updates that "
                    "were traced: its probabilities move to the actions which the critic holds to be worse",
                    [("loss", op.site), ("value", value.site), ("backward", contribution.site)],
                    own,
                    key="expectation",
                )

    def _chosen(self, contribution: Contribution, way: int) -> Verdicts:
        """One choice was drawn, and is weighed with what the critic gives to it, or to the state."""
        history, roots = self.history, [root.nid for root in contribution.event.roots]
        found = list(chosen_values(history, roots, self._critics))
        self._raises_choices |= any(chosen.sign * way <= 0 for chosen in found)
        for chosen in found if not self._raises_choices | self._raises_expectation else ():
            own, site = head(history.graph, chosen.score.nid), chosen.product.site
            looks = self._lowers[own] = self._lowers.get(own, 0) + 1
            if looks >= ENOUGH and own & contribution.consumed_pids() and not own <= self._bounded:
                yield Verdict(
                    site,
                    f"the log-probability of a choice falls where it is better than expected, as the critic on "
                    f"{line(history, chosen.value.site)} tells, in all {looks} updates that were traced",
                    [("loss", site), ("value", chosen.value.site), ("backward", contribution.site)],
                    own,
                    key="advantage",
                )

    # -- beside a critic -------------------------------------------------------------------------------

    def _pair(self, contribution: Contribution, pair: ProbePair, policy: Head, critic: Head) -> Verdicts:
        pids = contribution.consumed_pids()
        if (
            not policy
            or not critic
            or policy & critic
            or not critic <= self._critics
            or not (policy | critic) & pids
            or policy <= self._bounded
        ):
            return
        agreement = pair.agreement * uphill(self.history, policy) * uphill(self.history, critic)
        if agreement > NOT_AGAINST:
            self._against[policy, critic] = -MANY_LOOKS  # once is enough to doubt
            if agreement > WITH:
                self._friends |= {policy, critic}
            return
        if agreement > AGAINST:
            return
        looks = self._against[policy, critic] = self._against.get((policy, critic), 0) + 1
        enough = ENOUGH if pair.samples > FEW else MANY_LOOKS
        if looks >= enough and policy not in self._friends and critic not in self._friends:
            yield self._against_critic(contribution, pair, policy)

    def _against_critic(self, contribution: Contribution, pair: ProbePair, policy: Head) -> Verdict:
        history = self.history
        site = self._weighed(pair.log_prob) or contribution.site
        made = history.graph.ops[pair.log_prob].site
        return Verdict(
            site,
            f"the log-probabilities made on {line(history, made)} are pushed down where more came back than the critic "
            f"expected, and up where less did (correlation {abs(pair.agreement):.2f} over {pair.samples} samples)",
            [("loss", site), ("log-prob", made), ("backward", contribution.site)],
            policy,
            key="advantage",
        )

    def _weighed(self, nid: ValueId) -> Site:
        """The line on which the log-probability meets its weight."""
        graph = self.history.graph
        stack, seen = [nid], set()
        while stack:
            for user in graph.consumers.get(stack.pop(0), ()):
                op = graph.get(user)
                if op is None or user in seen or not op.live:
                    continue
                seen.add(user)
                if op.name == "mul" and len(op.inputs) == 2:
                    return op.site
                stack.append(user)
        return NOWHERE


def _lowers_entropy(contribution: Contribution, way: int) -> bool:
    return any(p.kind == "entropy" and sign_of(p) * way > 0 for p in contribution.event.facts.probes)


rule = ReversedObjective
