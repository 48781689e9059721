"""GS203: the gradient would have to pass through the choice of an action."""

from __future__ import annotations

from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.callers import cut_in
from gradsan.judge.missing.cuts import Cut, cause
from gradsan.judge.report.wording import networks, value_at
from gradsan.rules.base import Rule, Verdict, Verdicts


class UndifferentiableAction(Rule):
    code = "GS203"
    name = "undifferentiable-action"
    severity = "error"
    needs_deep = True
    what = """
        The loss depends on the policy only through the action it chose (`sample`, `argmax`, `multinomial`),
        and a choice has no derivative.
    """
    why = """
        The return cannot teach the policy anything; at most an entropy bonus moves it, towards uniform.
    """
    symptom = """
        The return stays flat at the level of a random policy; with an entropy bonus, entropy rises to
        its maximum.
    """
    fix = (
        "use the log-prob surrogate `-(dist.log_prob(action) * advantage.detach()).mean()`, `rsample()` for "
        "continuous actions, or a straight-through sample for discrete ones"
    )
    deliberate = """
        Choosing an action is right wherever the loss reaches the policy by another way (a
        log-probability, `rsample`, a straight-through estimator), or where the choice is only data, as
        in Q-learning: none of these is reported.
    """
    bad = (
        """
        import torch
        policy, reward = torch.nn.Linear(3, 2), torch.tensor([1.0, -1.0])
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            dist = torch.distributions.OneHotCategorical(logits=policy(torch.randn(8, 3)))
            action = dist.sample()  # BUG
            loss = -(action @ reward + 0.01 * dist.entropy()).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        gate, body, head = torch.nn.Linear(4, 8), torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*gate.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
        for _ in range(4):
            x, y = torch.randn(8, 4), torch.randn(8, 1)
            mask = torch.bernoulli(torch.sigmoid(gate(x)))  # BUG
            loss = (head(mask * body(x)) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        from torch.distributions import Normal, kl_divergence
        encoder, decoder = torch.nn.Linear(6, 4), torch.nn.Linear(2, 6)
        opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
        for _ in range(4):
            x = torch.randn(8, 6)
            mean, log_std = encoder(x).chunk(2, -1)
            posterior = Normal(mean, log_std.exp())
            latent = posterior.sample()  # BUG
            loss = (decoder(latent) - x).pow(2).mean() + kl_divergence(posterior, Normal(0.0, 1.0)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The critic learns beside the actor, and its judgement is lost; what is left is a score with the same weight
        # for all draws, whose gradient is zero on average.
        import torch
        actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            mean, log_std = actor(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            action = dist.sample()  # BUG
            score = dist.log_prob(action).sum(-1)
            loss = (0.2 * score - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
            opt.zero_grad()
            (loss + 1e-3 * mean.pow(2).mean()).backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        policy, reward = torch.nn.Linear(3, 2), torch.tensor([1.0, -1.0])
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            action = dist.sample()
            loss = -(dist.log_prob(action) * reward[action]).mean() - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy, reward = torch.nn.Linear(3, 2), torch.tensor([1.0, -1.0])
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            dist = torch.distributions.OneHotCategorical(logits=policy(torch.randn(8, 3)))
            action = dist.sample() + dist.probs - dist.probs.detach()
            loss = -(action * reward).sum(-1).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy, reward = torch.nn.Linear(3, 2), torch.tensor([1.0, -1.0])
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            action = torch.nn.functional.gumbel_softmax(policy(torch.randn(8, 3)), hard=True)
            loss = -(action @ reward).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The draw passes its gradient straight through.
        import torch
        gate, body, head = torch.nn.Linear(4, 8), torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*gate.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
        for _ in range(4):
            x, y = torch.randn(8, 4), torch.randn(8, 1)
            p = torch.sigmoid(gate(x))
            mask = torch.bernoulli(p) - p.detach() + p
            loss = (head(mask * body(x)) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Drawn with gradients on; the policy learns by the score, and a frozen reference scores the same draw.
        import copy
        import torch
        policy = torch.nn.Linear(3, 5)
        reference = copy.deepcopy(policy).requires_grad_(False)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            a = torch.multinomial(policy(s).softmax(-1), 1)
            score = policy(s).log_softmax(-1).gather(1, a)
            with torch.no_grad():
                before = reference(s).log_softmax(-1).gather(1, a)
            k3 = (before - score).exp() - (before - score) - 1
            loss = (-score * torch.randn(8, 1) + 0.1 * k3).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A model that is fed its own draws, and learns from what came instead.
        import torch
        cell, head = torch.nn.GRUCell(3, 8), torch.nn.Linear(8, 6)
        opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
        for _ in range(4):
            steps, state, loss = torch.randn(5, 8, 3), torch.zeros(8, 8), 0.0
            given = steps[0]
            for following in steps[1:]:
                state = cell(given, state)
                mean, log_std = head(state).chunk(2, -1)
                dist = torch.distributions.Normal(mean, log_std.exp())
                loss = loss - dist.log_prob(following).mean()
                given = dist.sample()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A judgement of the draw that weighs its score; the same score evenly weighed beside it, as a guess of the
        # entropy.
        import torch
        actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            mean, log_std = actor(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            action = dist.sample()
            score = dist.log_prob(action).sum(-1)
            value = critic(torch.cat([s, action], -1)).squeeze(-1)
            advantage = torch.randn(8) - value.detach()
            loss = (0.01 * score - score * advantage).mean() + 0.1 * (value - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The same with `rsample`.
        import torch
        actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(6):
            s = torch.randn(8, 3)
            mean, log_std = actor(s).chunk(2, -1)
            dist = torch.distributions.Normal(mean, log_std.exp())
            action = dist.rsample()
            score = dist.log_prob(action).sum(-1)
            loss = (0.2 * score - critic(torch.cat([s, action], -1)).squeeze(-1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        return [self._verdict(cut, contribution) for cut in contribution.cuts if cut.choice]

    def _verdict(self, cut: Cut, contribution: Contribution) -> Verdict:
        history, site = self.history, cut_in(self.history, cut.op, contribution)
        what = "a term of the loss" if cut.pids <= contribution.consumed_pids() else "the loss"
        sites = [("call", site), ("choice", cut.op.site)] if site != cut.op.site else [("choice", site)]
        return Verdict(
            site,
            f"{what} depends on {networks(history, cut.pids)} only through the action chosen in "
            f"{value_at(history, site, 'this line')}: {cause(history, cut)}",
            [*sites, ("backward", contribution.site)],
            cut.pids,
            explains=cut.pids,
        )


rule = UndifferentiableAction
