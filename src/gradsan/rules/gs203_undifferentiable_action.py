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
