"""GS303: the weight of the policy gradient carries gradient itself."""

from __future__ import annotations

from gradsan.judge import flow
from gradsan.judge.effect import from_outside, share_through
from gradsan.judge.leaks.expectations import is_error, is_fitted, weighs_fitted_values
from gradsan.judge.leaks.fitted_weights import fitted_weights
from gradsan.judge.leaks.live_ratios import LiveRatio, live_ratios
from gradsan.judge.leaks.live_returns import live_returns
from gradsan.judge.leaks.meant_constant import meant_constant
from gradsan.judge.leaks.own_weights import (
    imitates_by_own_certainty,
    is_plain,
    normalised,
    weighs_by_own_judge,
    weighs_own_choice,
)
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import caller_of
from gradsan.judge.objective.weighed import is_score
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import Failed, Op, ParamId, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

BETWEEN = {"exp", "sub", "add", "rsub", "neg", "mul", "div", "clamp", "sum", "mean", "gather", "pow"}
ELEMENTWISE = BETWEEN | {"squeeze", "stack", "cat", "getitem", "view", "unsqueeze"}
PASSED_ON = {"squeeze", "unsqueeze", "view", "reshape", "getitem", "flatten", "stack", "mul", "div", "neg"}
SUMMED = {"dot", "vdot", "inner", "matmul", "einsum"}
PRODUCTS = {"mul", "div", *SUMMED}


class AdvantageCarriesGradient(Rule):
    code = "GS303"
    name = "advantage-carries-gradient"
    severity = "error"
    needs_deep = True
    what = """
        In the policy loss the log-probability (or the ratio) is multiplied by an advantage, return or
        importance weight that should be a constant. Here gradient flows through it, and an optimizer applies that.
    """
    why = """
        The policy loss then trains the critic: it pushes the value estimates to wherever the policy
        loss gets smaller, not to the returns. The critic's error grows although its own loss is there,
        and with it the noise in the advantages.
    """
    symptom = """
        The value loss stops falling or rises, the explained variance stays near zero, and the return
        stalls after a first rise.
    """
    fix = "detach the weight: `-(log_prob * advantage.detach()).mean()`"
    deliberate = """
        Where the policy loss is meant to train the weight (a learned intrinsic reward, meta-gradients),
        allow it on the line.
    """
    bad = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(5):
            s, returns = torch.randn(8, 3), torch.randn(8)
            dist = torch.distributions.Categorical(logits=actor(s))
            log_prob = dist.log_prob(dist.sample())
            value = critic(s).squeeze(-1)
            advantage = returns - value  # BUG
            loss = -(log_prob * advantage).mean() + (value - returns).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*trunk.parameters(), *pi.parameters(), *v.parameters()], lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
            h = torch.tanh(trunk(s))
            log_prob = pi(h).log_softmax(-1).gather(1, a).squeeze(1)
            value = v(h).squeeze(-1)
            delta = returns - value
            ratio = (log_prob - log_prob.detach()).exp()
            surrogate = torch.min(ratio * delta, ratio.clamp(0.8, 1.2) * delta)  # BUG
            loss = delta.pow(2).mean() - surrogate.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(5):
            s, a, returns, old = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8), torch.rand(8) + 0.1
            ratio = actor(s).softmax(-1).gather(1, a).squeeze(1) / old
            value = critic(s).squeeze(-1)
            advantage = returns - value  # BUG
            loss = -(ratio * advantage).mean() + (value - returns).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(5):
            s, returns = torch.randn(8, 3), torch.randn(8)
            dist = torch.distributions.Categorical(logits=actor(s))
            log_prob = dist.log_prob(dist.sample())
            value = critic(s).squeeze(-1)
            advantage = (returns - value).detach()
            loss = -(log_prob * advantage).mean() + (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A gate picked by index: its product is no term of the loss.
        import torch
        gate, experts = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        opt = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
        for _ in range(5):
            s, task = torch.randn(8, 3), torch.randint(2, (8, 1))
            value = gate(s).softmax(-1).gather(1, task) * experts(s).gather(1, task)
            loss = (value - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s = torch.randn(8, 3)
            critic_opt.zero_grad()
            (critic(s)[:, 0] - 1.0).pow(2).mean().backward()
            critic_opt.step()
            log_p = actor(s).log_softmax(-1)
            loss = (log_p.exp() * (0.2 * log_p - critic(s))).sum(-1).mean()
            actor_opt.zero_grad()
            loss.backward()
            actor_opt.step()
        """,
    )

    def on_failed(self, event: Failed) -> Verdicts:
        graph = self.history.graph
        if meant_constant(graph, event) == "weight":
            pids = graph.live_params([event.value])
            yield Verdict(
                event.site,
                f"{value_at(self.history, event.site, 'the weight')} is to be a constant, but `requires_grad` of a "
                f"result cannot be switched off: gradient flows through it into {networks(self.history, pids)}",
                [("weight", event.site)],
                pids,
            )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        consumed = contribution.consumed_pids()
        graph = self.history.graph
        roots = [root.nid for root in contribution.event.roots] if consumed else []
        # What a loss inside of an `autograd.grad` is weighed with may be learned through it: meta-gradients.
        live = graph.live_ancestors(roots)
        if graph.named(live, ("grad",)):
            live = graph.ancestors(roots, lambda op, source: op.live and source.live and op.name != "grad")
        for found in live_ratios(self.history, contribution, live):
            yield self._verdict_of_ratio(found, contribution)
        reported: set[Site] = set()
        # Where the other side is an error that a critic fits, the policy is the weight: GS304.
        reversed_roles = {found.product.nid for found in fitted_weights(self.history, contribution)}
        for op in graph.named(live, PRODUCTS):
            if not _is_product(op) or op.nid in reversed_roles:
                continue
            sides = [graph.get(nid) for nid in op.inputs]
            for score, weight in (sides, sides[::-1])[: 1 if op.name == "div" else 2]:
                if score is None or weight is None or not (score.live and weight.live):
                    continue
                pids = self._leaked(op, score, weight, consumed, live)
                if not pids and weighs_own_choice(self.history, contribution, op, score, weight, live):
                    pids = graph.live_params([weight.nid]) & consumed
                if not pids and weighs_by_own_judge(self.history, contribution, score, weight):
                    pids = graph.live_params([weight.nid]) & consumed
                if not pids and imitates_by_own_certainty(graph, roots, op, score, weight):
                    pids = graph.live_params([weight.nid]) & consumed
                if pids and graph.is_hidden([score.nid, weight.nid]):
                    continue
                origin = self._origin(weight)
                if pids and origin.site not in reported:
                    reported.add(origin.site)
                    learned = is_fitted if origin.name not in flow.ADDITIVE else is_error
                    wrong = op if learned(graph, origin, live) else origin
                    wrong = live_returns(graph, origin, pids, live) or wrong
                    yield self._verdict(op, weight, origin, wrong, pids, contribution)

    def _verdict_of_ratio(self, found: LiveRatio, contribution: Contribution) -> Verdict:
        history, ratio, old = self.history, found.ratio, found.old
        culprit = caller_of(history, ratio, lambda other: not other.live)
        behind = history.graph.live_ancestors([ratio.nid])
        return Verdict(
            culprit,
            f"{value_at(history, culprit, 'the ratio')} divides by what another network says of the choice, which "
            f"should be a constant, but gradient flows through it: the policy loss also trains "
            f"{networks(history, found.pids)}",
            [
                ("ratio", ratio.site),
                ("weight", old.site),
                ("caller", culprit),
                ("backward", contribution.site),
            ],
            found.pids,
            measure=lambda: share_through(history, contribution, from_outside(history, old, behind)),
            fix="detach the log-probability that the ratio divides by",
        )

    def _leaked(
        self, product: Op, score: Op, weight: Op, consumed: set[ParamId], live: dict[ValueId, Op]
    ) -> set[ParamId]:
        """Parameters that the weight trains and the score does not: they belong to somebody else."""
        graph = self.history.graph
        # A probability times something is a policy term only where the loss is an average of it: gates are not.
        averaged = product.name in ("mul", "dot") and flow.is_averaged(graph, product, live)
        over_all = averaged and weighs_fitted_values(graph, score, weight, live)
        if not over_all and not self._is_score(score, averaged):
            return set()
        if self._is_score(weight, averaged):
            return graph.live_params([weight.nid]) & consumed if self._weighs_itself(score, weight) else set()
        trained = graph.live_params([score.nid])
        pids = (graph.live_params([weight.nid]) - trained) & consumed
        return set() if self._is_coefficient(weight, pids, trained, live) else pids

    def _weighs_itself(self, score: Op, weight: Op) -> bool:
        """`exp(log_prob - behaviour) * log_prob`: a live importance ratio times its own log-probability. The
        entropy, `exp(log_prob) * log_prob`, has no constant in the exponent and is right."""
        graph = self.history.graph
        own = {t.op.nid for t in flow.terms(graph, score) if t.op.live}
        ratio = weight
        if not is_plain(graph, score):
            return False
        while ratio.name in ("clamp", "min", "minimum", "mul", "clamp_max", *flow.SHAPING):
            live = [i for i in graph.inputs(ratio) if i.live]
            if len(live) != 1:
                return False
            ratio = live[0]
        if ratio.name == "div" and len(own) == 1:  # `prob / behaviour`, where the score is `prob.log()`
            prob, *old = graph.inputs(ratio)
            logged = {
                nid for nid in own if prob.nid in graph.ops[nid].inputs and graph.ops[nid].name == "log"
            }
            own_prob = logged or (prob.name == "exp" and self._summands(prob) == own)
            return bool(own_prob) and any(not o.live and o.floating for o in old)
        inside = next(graph.inputs(ratio), None) if ratio.name == "exp" else None
        if inside is None or len(own) != 1:
            return False
        parts = flow.terms(graph, inside)
        constant = [t for t in parts if not t.op.live and t.op.floating]
        return bool(constant) and own == {t.op.nid for t in parts if t.op.live}

    def _summands(self, op: Op) -> set[ValueId]:
        """Of what an operation is applied to."""
        graph = self.history.graph
        return {t.op.nid for source in graph.inputs(op) for t in flow.terms(graph, source)}

    def _is_coefficient(
        self, weight: Op, pids: set[ParamId], trained: set[ParamId], live: dict[ValueId, Op]
    ) -> bool:
        """Made of parameters alone (a temperature), which another optimizer than the policy's owns: what it
        is given wrongly, that optimizer's step consumes, and GS304 says so. With one optimizer for both, a
        coefficient that has a loss of its own gets that of the policy on top; one that has none is meant to
        be trained right here, as the learned weights of several tasks are."""
        history = self.history
        if not self._is_made_of_parameters(weight):
            return False
        if not any(trained & set(o.params) for pid in pids for o in history.owner_of(pid)):
            return True
        return not any(self._is_own_loss(op, pids) for op in live.values())

    def _is_made_of_parameters(self, op: Op) -> bool:
        return all(params_of(o) for o in self.history.graph.ancestors([op.nid]).values() if not o.inputs)

    def _is_own_loss(self, op: Op, pids: set[ParamId]) -> bool:
        """`log_alpha * (log_prob + target_entropy).detach()`: the coefficient times a constant."""
        graph = self.history.graph
        sides = list(graph.inputs(op)) if op.name == "mul" else []
        if len(sides) != 2 or sum(side.live for side in sides) != 1:
            return False
        factor = next(side for side in sides if side.live)
        return bool(graph.live_params([factor.nid]) & pids) and self._is_made_of_parameters(factor)

    def _is_score(self, op: Op, averaged: bool) -> bool:
        """A log-probability, or something made of one by elementwise steps (a ratio); where the loss is an average
        of it, also the probability of an action that was picked from all of them."""
        graph = self.history.graph

        def is_picked(current: Op) -> bool:
            picked = averaged and _is_picked(current)
            return picked and next(graph.inputs(current), current).name in ("softmax", "sigmoid")

        return is_score(self.history, op, ELEMENTWISE, is_picked)

    def _origin(self, weight: Op) -> Op:
        """Back through reshaping and normalising to the expression that made the weight."""
        graph, op = self.history.graph, weight
        while op.name in PASSED_ON:
            live = [i for i in graph.inputs(op) if i.live and i.inputs]
            if len(live) != 1:
                break
            op = live[0]
        return normalised(graph, op) or op

    def _verdict(
        self, op: Op, weight: Op, origin: Op, wrong: Op, pids: set[ParamId], contribution: Contribution
    ) -> Verdict:
        history = self.history
        culprit = caller_of(history, wrong, lambda other: not other.live)
        named = culprit if wrong is origin else origin.site
        scored = history.graph.live_params(nid for nid in op.inputs if nid != weight.nid)
        trained = networks(history, pids)
        trains = f"trains {trained} through it, too" if pids <= scored else f"also trains {trained}"
        return Verdict(
            culprit,
            f"{value_at(history, named, 'the weight')} multiplies a log-probability on {line(history, op.site)} and "
            f"should be a constant, but gradient flows through it: the policy loss {trains}",
            [
                ("weight", origin.site),
                ("caller", culprit),
                ("loss", op.site),
                ("backward", contribution.site),
            ],
            pids,
            measure=lambda: share_through(history, contribution, [(op.nid, weight.nid)]),
        )


def _is_product(op: Op) -> bool:
    """A product element by element, perhaps summed at once; a matrix times a vector is a layer of a network."""
    if len(op.inputs) != 2 or op.inputs[0] == op.inputs[1]:
        return False
    return op.name in ("mul", "div") or (op.name in SUMMED and not op.shape)


def _is_picked(op: Op) -> bool:
    """By index: a slice has no second input."""
    return op.name in ("gather", "take_along_dim", "getitem") and len(op.inputs) > 1


rule = AdvantageCarriesGradient
