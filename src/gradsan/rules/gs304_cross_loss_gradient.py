"""GS304: a step consumes gradient that belongs to another loss."""

from __future__ import annotations

from itertools import groupby

from gradsan.judge import flow
from gradsan.judge.effect import from_outside, share_added, share_through
from gradsan.judge.history import History
from gradsan.judge.leaks.dual_terms import DualTerm, dual_terms
from gradsan.judge.leaks.fitted_weights import FittedWeight, fitted_weights, made_for_it
from gradsan.judge.leaks.half_parted import MANY, HalfParted, half_parted
from gradsan.judge.ledger import BY_HAND, Contribution
from gradsan.judge.lines.callers import apart_from, used_in
from gradsan.judge.order.by_hand import Doubled, HandUpdate
from gradsan.judge.provenance import params_of
from gradsan.judge.report.findings import Effect
from gradsan.judge.report.wording import line, networks, value_at
from gradsan.record.events import BackwardId, Op, Ops, OptimizerId, ParamId, Site, Step, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts


class CrossLossGradient(Rule):
    code = "GS304"
    name = "cross-loss-gradient"
    severity = "error"
    what = """
        An optimizer stepped on gradient that the backward of another loss had left in its parameters. Typical: the
        actor's loss goes through the critic, so its backward lets gradient flow into the critic's `.grad`, too; or it
        lets gradient flow into the temperature.
    """
    why = """
        The critic is then also trained to please the actor: its values are pushed up wherever the actor
        goes, and the policy exploits them. A temperature is driven to where the actor's penalty is smallest,
        not to where the entropy is the wanted one.
    """
    symptom = """
        Q-values drift upwards, far above any return that was ever seen; the return rises at first and
        then collapses.
    """
    fix = (
        "call `zero_grad()` on an optimizer right before its own backward, or freeze the critic in the "
        "actor's loss"
    )
    deliberate = """
        Several losses that are backwarded into one step on purpose (value + policy + entropy) are not reported, nor
        is a shared trunk that collects the gradients of its heads.
    """
    bad = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            critic_loss.backward()
            critic_opt.step()
            critic_opt.zero_grad()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_loss.backward()
            actor_opt.step()
            actor_opt.zero_grad()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_opt.zero_grad()
            critic_opt.zero_grad()
            critic_loss.backward()
            actor_loss.backward()
            critic_opt.step()
            actor_opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            opt.zero_grad()
            (critic_loss + actor_loss).backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        def descend(network):
            with torch.no_grad():
                for p in network.parameters():
                    p -= 0.1 * p.grad
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
            descend(critic)
            for p in [*actor.parameters(), *critic.parameters()]:
                p.grad = None
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()  # BUG
            actor_loss.backward()
            descend(actor)
        """,
        """
        import torch
        critic = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s = torch.randn(8, 3)
            opt.zero_grad()
            (critic(s) - s[:, :1]).pow(2).mean().backward()
            first = [p.grad for p in critic.parameters()]  # BUG
            opt.zero_grad(set_to_none=False)
            (critic(s) + s[:, 1:2]).pow(2).mean().backward()
            for p, other in zip(critic.parameters(), first):
                p.grad = p.grad + other
            opt.step()
        """,
        """
        # The bonus's weights are made of features that were cut off, and its network of the same features, live.
        import torch
        features, value, bonus = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        value_opt = torch.optim.SGD([*features.parameters(), *value.parameters()], lr=0.1)
        bonus_opt = torch.optim.SGD(bonus.parameters(), lr=0.1)
        for _ in range(6):
            h = torch.tanh(features(torch.randn(8, 3)))
            with torch.no_grad():
                worth = value(h.detach())
            extra = bonus(h)  # BUG
            bonus_loss = (extra - worth).abs().mean()
            value_loss = (value(h) - 1.0).pow(2).mean()
            value_opt.zero_grad()
            bonus_opt.zero_grad()
            (value_loss + 0.5 * bonus_loss).backward()
            value_opt.step()
            bonus_opt.step()
        """,
        """
        # The start of the dream is cut off from the model; the dream is not.
        import torch
        model, critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        reward = torch.nn.Linear(4, 1)
        model_opt = torch.optim.SGD([*model.parameters(), *reward.parameters()], lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            s, after = torch.randn(8, 4), torch.randn(8, 4)
            z = torch.tanh(model(s))
            model_loss = (z - after).pow(2).mean() + (reward(z) - 1.0).pow(2).mean()
            dream = torch.tanh(model(z.detach()))
            critic_loss = (critic(dream) - 1.0).pow(2).mean()  # BUG
            model_opt.zero_grad()
            critic_opt.zero_grad()
            (model_loss + critic_loss).backward()
            model_opt.step()
            critic_opt.step()
        """,
        """
        # An expected value is fitted: the policy's probabilities in it are live.
        import torch
        pi, q = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
        pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
        q_opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(6):
            s, a, returns = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8)
            dist, values = torch.distributions.Categorical(logits=pi(s)), q(s)
            expected = (dist.probs * values).sum(-1)  # BUG
            q_loss = torch.nn.functional.smooth_l1_loss(expected, returns)
            gain = (values.gather(1, a).squeeze(1) - expected).detach()
            pi_loss = -(dist.log_prob(a.squeeze(1)) * gain).mean()
            pi_opt.zero_grad()
            q_opt.zero_grad()
            (q_loss + pi_loss).backward()
            pi_opt.step()
            q_opt.step()
        """,
        """
        # Errors of the critic are corrected by a ratio that is live.
        import torch
        pi, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        log_std = torch.nn.Parameter(torch.zeros(2))
        opt = torch.optim.SGD([*pi.parameters(), log_std, *v.parameters()], lr=0.05)
        for _ in range(6):
            s, a, returns, old = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8), -3 - torch.rand(8)
            log_prob = torch.distributions.Normal(pi(s), log_std.exp()).log_prob(a).sum(-1)
            value = v(s).squeeze(-1)
            gain = (returns - value).detach()
            ratio = (log_prob - old).exp()
            corrected = ratio.clamp(max=1.0)  # BUG
            loss = (corrected * (value - returns).square()).mean() - (ratio * gain).clamp(max=3.0).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Terminations are trained by advantages, and live in the target of the values of options.
        import torch
        values, ends = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
        value_opt = torch.optim.SGD(values.parameters(), lr=0.1)
        end_opt = torch.optim.SGD(ends.parameters(), lr=0.1)
        for _ in range(6):
            s, ahead, option, reward = torch.randn(8, 3), torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
            with torch.no_grad():
                following = values(ahead)
                stay, best = following.gather(1, option), following.max(1, keepdim=True).values
            end = ends(ahead).sigmoid().gather(1, option)  # BUG
            target = reward + 0.9 * (stay - end * (stay - best))
            value_loss = (values(s).gather(1, option) - target).pow(2).mean()
            end_loss = (ends(ahead).sigmoid().gather(1, option) * (stay - best)).mean()
            value_opt.zero_grad()
            end_opt.zero_grad()
            value_loss.backward()
            end_loss.backward()
            value_opt.step()
            end_opt.step()
        """,
        """
        # What the critic is to be lowered at comes from a helper, with a path back to the policy.
        import torch
        class Policy(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 2)
            def forward(self, s):
                return torch.tanh(self.layer(s))
        policy, critic = Policy(), torch.nn.Linear(5, 1)
        policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        def value(s, a):
            return critic(torch.cat([s, a], -1))
        def proposed(s):
            a = policy(s)  # BUG
            return torch.stack([a, torch.rand_like(a)])
        def too_high(s):
            return torch.stack([value(s, a) for a in proposed(s)]).logsumexp(0).mean()
        for _ in range(6):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            policy_opt.zero_grad()
            critic_opt.zero_grad()
            ((value(s, a) - 1.0).pow(2).mean() + too_high(s)).backward()
            critic_opt.step()
            (-value(s, policy(s)).mean()).backward()
            policy_opt.step()
        """,
        """
        # The temperature's loss trains the policy, too.
        import torch
        actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
        log_alpha = torch.zeros(1, requires_grad=True)
        opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD([log_alpha], lr=0.01)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        for _ in range(8):
            s, a, returns = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
            critic_opt.zero_grad()
            (critic(torch.cat([s, a], -1)) - returns).pow(2).mean().backward()
            critic_opt.step()
            mean, log_std = actor(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            action = dist.rsample()
            log_prob = dist.log_prob(action).sum(-1, keepdim=True)
            alpha = log_alpha.exp().detach()
            policy_loss = (alpha * log_prob - critic(torch.cat([s, action], -1))).mean()
            alpha_loss = -(log_alpha * (log_prob - 2.0)).mean()  # BUG
            opt.zero_grad()
            alpha_opt.zero_grad()
            (policy_loss + alpha_loss).backward()
            opt.step()
            alpha_opt.step()
        """,
    )
    good = (
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            critic_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
            critic_opt.zero_grad()
            critic_loss.backward()
            critic_opt.step()
            actor_loss = -critic(torch.cat([s, actor(s)], -1)).mean()
            actor_opt.zero_grad()
            actor_loss.backward()
            actor_opt.step()
        """,
        """
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        trunk_opt = torch.optim.SGD(trunk.parameters(), lr=0.1)
        pi_opt, v_opt = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (pi, v))
        for _ in range(5):
            h = torch.tanh(trunk(torch.randn(8, 3)))
            for opt in (trunk_opt, pi_opt, v_opt):
                opt.zero_grad()
            pi(h).pow(2).mean().backward(retain_graph=True)
            (v(h) - 1.0).pow(2).mean().backward()
            for opt in (trunk_opt, pi_opt, v_opt):
                opt.step()
        """,
        """
        import torch
        net, v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*net.parameters(), *v.parameters()], lr=0.1)
        for _ in range(5):
            s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            dist = torch.distributions.Categorical(logits=net(s))
            value = v(s).squeeze(-1)
            policy_loss = -(dist.log_prob(a) * (returns - value).detach()).mean()
            loss = policy_loss + (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
        def descend(network):
            with torch.no_grad():
                for p in network.parameters():
                    p -= 0.1 * p.grad
                    p.grad = None
        for _ in range(5):
            s, a = torch.randn(8, 3), torch.randn(8, 2)
            (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean().backward()
            descend(critic)
            (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
            descend(actor)
            for p in critic.parameters():
                p.grad = None
        """,
        """
        import torch
        critic = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(5):
            s = torch.randn(8, 3)
            opt.zero_grad()
            (critic(s) - s[:, :1]).pow(2).mean().backward()
            first = [p.grad.clone() for p in critic.parameters()]
            opt.zero_grad(set_to_none=False)
            (critic(s) + s[:, 1:2]).pow(2).mean().backward()
            for p, other in zip(critic.parameters(), first):
                p.grad = p.grad + other
            opt.step()
        """,
        """
        # A trunk that two heads share is one of them's optimizer's; what is detached is an advantage.
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        v_opt = torch.optim.SGD([*trunk.parameters(), *v.parameters()], lr=0.1)
        pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
        for _ in range(6):
            returns, h = torch.randn(8), torch.tanh(trunk(torch.randn(8, 3)))
            value, logp = v(h).squeeze(-1), pi(h).log_softmax(1)[:, 0]
            pi_loss = -(logp * (returns - value).detach()).mean()
            v_opt.zero_grad()
            pi_opt.zero_grad()
            (pi_loss + (value - returns).pow(2).mean()).backward()
            v_opt.step()
            pi_opt.step()
        """,
        """
        # Half of the gradient goes on into the trunk, on purpose.
        import torch
        trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        v_opt = torch.optim.SGD([*trunk.parameters(), *v.parameters()], lr=0.1)
        pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
        for _ in range(6):
            h = torch.tanh(trunk(torch.randn(8, 3)))
            pi_loss = pi(0.5 * h + 0.5 * h.detach()).pow(2).mean()
            v_opt.zero_grad()
            pi_opt.zero_grad()
            (pi_loss + (v(h) - 1.0).pow(2).mean()).backward()
            v_opt.step()
            pi_opt.step()
        """,
        """
        # Backpropagation through time, cut between two chunks of one loss.
        import torch
        cell, pi, v = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
        pi_opt = torch.optim.SGD([*cell.parameters(), *pi.parameters()], lr=0.1)
        v_opt = torch.optim.SGD(v.parameters(), lr=0.1)
        for _ in range(6):
            h, loss = torch.randn(8, 4), 0.0
            for _ in range(2):
                h = torch.tanh(cell(h.detach()))
                loss = loss + pi(h).pow(2).mean() + (v(h) - 1.0).pow(2).mean()
            v_opt.zero_grad()
            pi_opt.zero_grad()
            loss.backward()
            v_opt.step()
            pi_opt.step()
        """,
        """
        # As it should be: the dream is cut off as well.
        import torch
        model, critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        reward = torch.nn.Linear(4, 1)
        model_opt = torch.optim.SGD([*model.parameters(), *reward.parameters()], lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            s, after = torch.randn(8, 4), torch.randn(8, 4)
            z = torch.tanh(model(s))
            model_loss = (z - after).pow(2).mean() + (reward(z) - 1.0).pow(2).mean()
            dream = torch.tanh(model(z.detach()))
            critic_loss = (critic(dream.detach()) - 1.0).pow(2).mean()
            model_opt.zero_grad()
            critic_opt.zero_grad()
            (model_loss + critic_loss).backward()
            model_opt.step()
            critic_opt.step()
        """,
        """
        # A gate that mixes values learns through them; what balances it is made of itself.
        import torch
        gate, experts, v = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*gate.parameters(), *experts.parameters(), *v.parameters()], lr=0.1)
        for _ in range(6):
            s, y = torch.randn(8, 3), torch.randn(8)
            share, said = gate(s).softmax(-1), experts(s)
            mixed = (share * said).sum(-1)
            load = torch.nn.functional.one_hot(share.argmax(-1), 4).float().mean(0)
            balance = 4 * (load * share.mean(0)).sum()
            loss = (mixed - y).pow(2).mean() + 0.1 * balance + (v(s).squeeze(-1) - mixed.detach()).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Two heads share the attention that pools what they say; only the policy's gain is a constant.
        import torch
        look, say, judge = torch.nn.Linear(3, 1), torch.nn.Linear(3, 4), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*look.parameters(), *say.parameters(), *judge.parameters()], lr=0.1)
        for _ in range(6):
            s, a, returns = torch.randn(8, 5, 3), torch.randint(4, (8,)), torch.randn(8)
            attention = look(s).softmax(1)
            dist = torch.distributions.Categorical(logits=(attention * say(s)).sum(1))
            value = (attention * judge(s)).sum(1).squeeze(-1)
            loss = (value - returns).pow(2).mean() - (dist.log_prob(a) * (returns - value).detach()).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # As it should be: expected values and corrections are made of numbers.
        import torch
        body, pi, q = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4), torch.nn.Linear(8, 4)
        opt = torch.optim.SGD([*body.parameters(), *pi.parameters(), *q.parameters()], lr=0.1)
        for _ in range(6):
            s, a, returns, old = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8), torch.rand(8) + 0.2
            h = torch.tanh(body(s))
            probs, values = pi(h).softmax(-1), q(h)
            expected = (probs.detach() * values).sum(-1)
            picked = probs.gather(1, a).squeeze(1)
            weight = (picked / old).clamp(max=1.0).detach()
            gain = (values.gather(1, a).squeeze(1) - expected).detach()
            loss = (weight * (expected - returns).pow(2)).mean() - (picked / old * gain).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The temperature's loss goes on to the policy, and nobody takes what arrives there.
        import torch
        actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
        log_alpha = torch.zeros(1, requires_grad=True)
        opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD([log_alpha], lr=0.01)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
        for _ in range(8):
            s, a, returns = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
            critic_opt.zero_grad()
            (critic(torch.cat([s, a], -1)) - returns).pow(2).mean().backward()
            critic_opt.step()
            mean, log_std = actor(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            action = dist.rsample()
            log_prob = dist.log_prob(action).sum(-1, keepdim=True)
            alpha = log_alpha.exp().detach()
            policy_loss = (alpha * log_prob - critic(torch.cat([s, action], -1))).mean()
            alpha_loss = -(log_alpha * (log_prob - 2.0)).mean()
            alpha_opt.zero_grad()
            alpha_loss.backward(retain_graph=True)
            alpha_opt.step()
            opt.zero_grad()
            policy_loss.backward()
            opt.step()
        """,
        """
        # A multiplier and a policy, each the other's weight, in one loss.
        import torch
        policy, multiplier = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(()))
        opt, up = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([multiplier], lr=0.1, maximize=True)
        for _ in range(8):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            log_prob = dist.log_prob(dist.sample())
            cost = (log_prob.exp() * torch.rand(8)).mean() - 0.1
            opt.zero_grad()
            up.zero_grad()
            (-(log_prob * torch.randn(8)).mean() + torch.nn.functional.softplus(multiplier) * cost).backward()
            opt.step()
            up.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._uses: dict[Site, Site] = {}  # by the line of the backward: not every iteration is traced

    def on_step(self, event: Step) -> Verdicts:
        ledger = self.history.ledger
        foreign: dict[BackwardId, tuple[Contribution, set[ParamId]]] = {}
        own: dict[BackwardId, tuple[Contribution, set[ParamId]]] = {}
        for pid in event.held:
            fresh = ledger.fresh(pid)
            if len(fresh) < 2:
                continue
            for part in fresh:
                belongs = part.bid == BY_HAND or not self._belongs_elsewhere(part, fresh, pid, event.oid)
                (own if belongs else foreign).setdefault(part.bid, (part, set()))[1].add(pid)
        mixed = {pid for _, pids in foreign.values() for pid in pids} & {
            p for _, pids in own.values() for p in pids
        }
        if mixed:
            other = next(iter(foreign.values()))[0]
            yield self._verdict(event.site, other, [p for p, _ in own.values()], mixed)

    def on_ops(self, event: Ops) -> Verdicts:
        """The same without an optimizer: what another loss left there is applied by hand."""
        for site, updates in groupby(self.history.hand.updates, lambda update: update.site):
            found = [(u, part) for u in updates for part in u.fresh if self._only_passes(part, u)]
            if found:
                update, foreign = found[0]
                own = [part for part in update.fresh if part.site != foreign.site]
                yield self._verdict(site, foreign, own, {u.pid for u, _ in found})

        for kept, doubled in groupby(self.history.hand.doubled, lambda found: found.kept):
            yield self._added_to_itself(kept, list(doubled))

    def _added_to_itself(self, kept: Site, doubled: list[Doubled]) -> Verdict:
        history, added = self.history, doubled[0].added
        pids = [found.pid for found in doubled]
        return Verdict(
            kept,
            f"this keeps the gradient of {networks(history, pids)} by reference: whatever clears or fills `.grad` "
            f"afterwards does so with what was kept, and {line(history, added)} adds a gradient to itself",
            [("kept by reference", kept), ("added", added)],
            pids,
            fix="keep a copy: `p.grad.clone()`",
        )

    def _only_passes(self, part: Contribution, update: HandUpdate) -> bool:
        """Whether this backward goes through the parameter to others, which it was applied to, while another one, that
        does not touch those, is applied here, too."""
        others = [other for other in update.fresh if other.site != part.site]
        touched = {pid for other in others for pid in other.event.fed}
        beyond = set(part.by_hand) - touched - {update.pid}
        if not others or not beyond:
            return False
        graph = self.history.graph
        live = graph.live_ancestors(r.nid for r in part.event.roots)
        return flow.is_upstream(graph, beyond, {update.pid}, live)

    def _belongs_elsewhere(
        self, part: Contribution, fresh: list[Contribution], pid: ParamId, oid: OptimizerId
    ) -> bool:
        """Another optimizer has stepped on this backward already, or it flows through `pid` to parameters
        that another optimizer owns and the other losses do not touch."""
        if any(c.oid != oid for c in part.consumed):
            return not all(any(c.oid != oid for c in other.consumed) for other in fresh)
        history, graph = self.history, self.history.graph
        mine = set(history.optimizers[oid].params)
        beyond = {p for p in part.event.fed if p not in mine and history.owner_of(p)}
        others = {p for other in fresh if other is not part for p in other.event.fed}
        beyond -= others
        if not beyond:
            return False
        live = graph.live_ancestors(r.nid for r in part.event.roots)
        return flow.is_upstream(graph, beyond, {pid}, live)

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """One backward of a sum: the actor's term reaches the actor through the critic, and trains both."""
        consumed = contribution.consumed_pids()
        graph = self.history.graph
        for weight in fitted_weights(self.history, contribution):
            yield self._verdict_of_weight(contribution, weight)
        for dual in dual_terms(self.history, contribution):
            yield self._verdict_of_dual(contribution, dual)
        for root in contribution.event.roots:
            op = graph.get(root.nid)
            if op is None or not consumed:
                continue
            for found in half_parted(self.history, op, consumed):
                yield self._verdict_of_half(contribution, found)
            live = [t for t in flow.terms(graph, op) if t.op.live]
            if len(live) > MANY:  # a rollout, step by step: one of each line
                live = list({t.op.site: t for t in live}.values())
            reach = {t.op.nid: graph.live_params([t.op.nid]) & consumed for t in live}
            for term in live:
                critic = self._exploited(term, live, reach)
                if critic:
                    steps = [c.site for c in contribution.consumed if c.pids & critic]
                    steps = steps or [s for p, s in contribution.by_hand.items() if p in critic]
                    others = [t.op.nid for t in live if t is not term]
                    yield self._verdict_of_sum(contribution, term, others, critic, steps[-1])

    def _verdict_of_weight(self, contribution: Contribution, found: FittedWeight) -> Verdict:
        history, product, fit = self.history, found.product, found.fit
        made = made_for_it(history.graph, found)
        culprit = made.site if made is not None else used_in(history, product, fit)
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        return Verdict(
            culprit,
            f"{value_at(history, culprit, 'the weight')} weighs what is fitted on {line(history, fit.site)} and should "
            f"be a constant there: that loss also trains {networks(history, found.pids)}, which has a term of its own "
            f"on {line(history, found.score.site)}, and the step on {line(history, step)} applies both",
            [("weight", found.weight.site), ("live use", product.site), ("fit", fit.site),
             ("backward", contribution.site), ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, [(product.nid, found.weight.nid)]),
            fix="detach the weight where the critic is fitted",
        )  # fmt: skip

    def _verdict_of_dual(self, contribution: Contribution, found: DualTerm) -> Verdict:
        history, product = self.history, found.product
        step = next((c.site for c in contribution.consumed if c.pids & found.pids), contribution.site)
        return Verdict(
            product.site,
            f"this is the loss of {networks(history, found.own)}, and what it weighs should be a constant here: "
            f"gradient also flows into {networks(history, found.pids)}, which has its own term on "
            f"{line(history, found.beside.site)}, and the step on {line(history, step)} applies both",
            [("live use", product.site), ("own term", found.beside.site), ("backward", contribution.site),
             ("step", step)],
            found.pids,
            measure=lambda: share_through(history, contribution, [(product.nid, found.value.nid)]),
            fix="detach it here: `log_alpha * (log_prob + target_entropy).detach()`",
        )  # fmt: skip

    def _verdict_of_half(self, contribution: Contribution, found: HalfParted) -> Verdict:
        history, term, cut = self.history, found.term, found.cut
        live = history.graph.live_ancestors(r.nid for r in contribution.event.roots)
        step = next((c.site for c in contribution.consumed if c.pids & found.shared), contribution.site)
        culprit = used_in(history, found.use, term) or term.site
        return Verdict(
            culprit,
            f"in the summed loss the term of {line(history, term.site)} also trains {networks(history, found.shared)} "
            f"from here, which belongs to another optimizer and its loss; {line(history, cut.site)} detached it for "
            f"this term on another way only, and the step on {line(history, step)} applies both",
            [("live use", culprit), ("detached", cut.site), ("term", term.site), ("backward", contribution.site),
             ("step", step)],
            found.shared,
            measure=lambda: share_through(history, contribution, from_outside(history, term, live)),
            fix="detach here, too, what the other network has made",
        )  # fmt: skip

    def _exploited(
        self, term: flow.Term, live: list[flow.Term], reach: dict[ValueId, set[ParamId]]
    ) -> set[ParamId]:
        """Parameters that this term uses as a fixed objective while another term trains them."""
        graph, mine = self.history.graph, reach[term.op.nid]
        for other in live:
            shared = mine & reach[other.op.nid]
            beyond = mine - reach[other.op.nid]
            if other is term or not shared or not beyond or reach[other.op.nid] - mine:
                continue
            if graph.is_hidden([term.op.nid, other.op.nid]):
                continue
            within = graph.live_ancestors([term.op.nid])
            users = {o.nid for o in flow.param_users(graph, within, shared)}
            through = flow.is_upstream(graph, beyond, shared, within)
            if through and flow.is_linear_in(graph, term.op, users):
                return shared
        return set()

    def _verdict_of_sum(
        self,
        contribution: Contribution,
        term: flow.Term,
        others: list[ValueId],
        critic: set[ParamId],
        step: Site,
    ) -> Verdict:
        history = self.history
        live = history.graph.live_ancestors(r.nid for r in contribution.event.roots)
        use = self._first_use([term.op.nid], others, critic)
        whole = self._reduced(term.op, live)
        culprit = (used_in(history, use, whole) if use is not None else term.op.site) or term.op.site
        return Verdict(
            culprit,
            f"in the summed loss the term of {line(history, term.op.site)} uses {networks(history, critic)} as its "
            f"objective and trains it at the same time: the step on {line(history, step)} applies both",
            [("term", term.op.site), ("backward", contribution.site), ("step", step)],
            critic,
            measure=lambda: share_through(history, contribution, from_outside(history, term.op, live)),
        )

    def _reduced(self, op: Op, within: dict[ValueId, Op]) -> Op:
        """Where a term becomes one number: the expression that a person would call the loss."""
        while op.shape and (
            users := [u for u in self.history.graph.consumers.get(op.nid, ()) if u in within]
        ):
            op = within[users[0]]
        return op

    def _verdict(
        self, step: Site, foreign: Contribution, own: list[Contribution], pids: set[ParamId]
    ) -> Verdict:
        history = self.history
        kept = {site for pid in pids if (site := history.hand.kept_at.get(pid))}
        if len(kept) == 1:
            return Verdict(
                (where := kept.pop()),
                f"this keeps the gradient of {networks(history, pids)} by reference, and the backward on "
                f"{line(history, foreign.site)} adds to that very tensor: putting it back takes nothing away again, "
                f"and the step on {line(history, step)} applies both",
                [("kept by reference", where), ("other backward", foreign.site),
                 *(("own backward", c.site) for c in own), ("step", step)],
                pids,
                measure=lambda: self._effect(foreign, own, pids),
                fix="keep a copy: `p.grad.clone()`",
            )  # fmt: skip
        use = self._live_use(foreign, own, pids)
        return Verdict(
            use,
            f"the backward on {line(history, foreign.site)} also leaves gradient in {networks(history, pids)}, and the "
            f"step on {line(history, step)} applies it; that loss belongs to another optimizer",
            [("live use", use), ("other backward", foreign.site), *(("own backward", c.site) for c in own),
             ("step", step)],
            pids,
            measure=lambda: self._effect(foreign, own, pids),
        )  # fmt: skip

    def _effect(self, foreign: Contribution, own: list[Contribution], pids: set[ParamId]) -> Effect:
        """Which came first is told by who found something there."""
        found = share_added(self.history, foreign, pids, by_this=True)
        return (
            share_added(self.history, own[-1], pids, by_this=False) if found.not_measured and own else found
        )

    def _live_use(self, foreign: Contribution, own: list[Contribution], pids: set[ParamId]) -> Site:
        """The line of the other loss that brings these parameters in; its backward where nobody traced it."""
        history, known = self.history, self._uses.get(foreign.site)
        roots, others = ([r.nid for c in cs for r in c.event.roots] for cs in ([foreign], own))
        use, root = self._first_use(roots, others, pids), history.graph.get(roots[0]) if roots else None
        rightly = flow.param_users(history.graph, history.graph.live_ancestors(others), pids)
        if use is None or root is None or (known and not rightly):
            return known or foreign.site
        site = apart_from(history, use, rightly) or used_in(history, use, root) or foreign.site
        self._uses[foreign.site] = site
        return site

    def _first_use(self, roots: list[ValueId], others: list[ValueId], pids: set[ParamId]) -> Op | None:
        """The first operation behind `roots` alone that takes in these parameters, or what both make of them."""
        graph = self.history.graph
        theirs, shared = graph.live_ancestors(roots), graph.live_ancestors(others)
        for nid in sorted(theirs.keys() - shared.keys()):
            op = theirs[nid]
            for source in graph.inputs(op):
                common = source.nid in shared and graph.live_params([source.nid])
                if op.live and (set(params_of(source)) | (common or set())) & pids:
                    return op
        return None


rule = CrossLossGradient
