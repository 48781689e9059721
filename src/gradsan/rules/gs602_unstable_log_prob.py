"""GS602: a softmax where log-probabilities or logits belong."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING, SHAPING, behind_all
from gradsan.judge.report.wording import line
from gradsan.record.events import Backward, Op, Ops
from gradsan.rules.base import Rule, Verdict, Verdicts

WANTS_LOGITS = {"log_softmax", "softmax", "logsumexp", "cross_entropy", "log_sigmoid"}
WANTS_LOG_PROBS = {"nll_loss", "kl_div"}  # as the first of their values


class UnstableLogProb(Rule):
    code = "GS602"
    name = "unstable-log-prob"
    severity = "warning"
    needs_deep = True
    what = "`log(softmax(x))`, the output of a softmax passed as logits, or a softmax of a softmax."
    why = """
        The logarithm of a softmax is minus infinity as soon as one probability underflows, and the next step is
        NaN. Probabilities taken for logits make the policy nearly uniform, whatever the network says: it explores
        for ever and learns slowly.
    """
    symptom = """
        With probabilities taken for logits, entropy stays near its maximum and the return rises slowly.
        With the logarithm of a softmax all is well until loss and policy turn to NaN in one update.
    """
    fix = (
        "use `log_softmax(x)`, and pass the raw network output as `Categorical(logits=x)` or to "
        "`cross_entropy`"
    )
    deliberate = """
        Where the probabilities are kept away from zero (mixed with a uniform policy, clamped), their
        logarithm is safe: allow it on the line.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 2)
        s, a = torch.randn(8, 3), torch.randint(2, (8, 1))
        log_prob = torch.log(torch.softmax(net(s), -1)).gather(1, a)  # BUG
        (-log_prob).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 2)
        probs = torch.softmax(net(torch.randn(8, 3)), -1)
        dist = torch.distributions.Categorical(logits=probs)  # BUG
        (-dist.log_prob(torch.zeros(8))).mean().backward()
        """,
        """
        import torch
        policy, old = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
        s = torch.randn(8, 3)
        new, before = torch.softmax(policy(s), -1), torch.softmax(old(s), -1)
        torch.nn.functional.kl_div(before, new, reduction="batchmean").backward()  # BUG
        """,
        """
        # The policy acts with other probabilities than it learns with.
        import torch
        from torch.distributions import Categorical
        net = torch.nn.Linear(3, 2)
        for _ in range(3):
            rows = []
            for _ in range(4):
                s = torch.randn(3)
                with torch.no_grad():
                    rows.append((s, int(Categorical(logits=torch.softmax(net(s), -1)).sample())))  # BUG
            s, a = torch.stack([s for s, _ in rows]), torch.tensor([a for _, a in rows])
            (-(Categorical(logits=net(s)).log_prob(a) * torch.randn(4)).mean()).backward()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 2)
        s, a = torch.randn(8, 3), torch.randint(2, (8, 1))
        log_prob = torch.log_softmax(net(s), -1).gather(1, a)
        (-log_prob).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 2)
        probs = torch.softmax(net(torch.randn(8, 3)), -1)
        dist = torch.distributions.Categorical(probs)
        (-dist.log_prob(torch.zeros(8))).mean().backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 2)
        log_prob = torch.log_softmax(net(torch.randn(8, 3)), -1)[:, 0]
        (-log_prob).mean().backward()
        """,
        """
        import torch
        policy, old = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
        s = torch.randn(8, 3)
        new, before = torch.log_softmax(policy(s), -1), torch.softmax(old(s), -1)
        torch.nn.functional.kl_div(new, before, reduction="batchmean").backward()
        """,
    )

    def on_ops(self, event: Ops) -> Verdicts:
        """A distribution that only acts: its draw is a number when it comes to a loss."""
        history = self.history
        for op in event.ops:
            if op.name != "logsumexp" or "distribution" not in op.tags or op.live:
                continue
            source = self._softmax_behind(op)
            learned = history.graph.value_params([op.nid]) if source is not None else set()
            if source is not None and learned & history.ever_fed:
                yield Verdict(
                    op.site,
                    f"a softmax output is used as logits (softmax on {line(history, source.site)}): what is drawn "
                    "here is nearly uniform",
                    [("softmax", source.site), ("distribution", op.site)],
                    learned,
                )

    def on_backward(self, event: Backward) -> Verdicts:
        for op in self.history.graph.ancestors(root.nid for root in event.roots).values():
            source = self._softmax_behind(op)
            if source is None:
                continue
            if op.name == "log" and "distribution" not in op.tags:
                what = "the logarithm of a softmax underflows"
            elif op.name in WANTS_LOGITS:
                what = (
                    "a softmax output is used as logits"
                    if op.name != "softmax"
                    else "a softmax is applied twice"
                )
            elif op.name in WANTS_LOG_PROBS:
                what = f"`{op.name}` takes log-probabilities and is given probabilities"
            else:
                continue
            yield Verdict(
                op.site,
                f"{what} (softmax on {line(self.history, source.site)})",
                [("softmax", source.site), ("log or distribution", op.site), ("backward", event.site)],
                event.reached,
            )

    def _softmax_behind(self, op: Op) -> Op | None:
        if op.name != "log" and op.name not in WANTS_LOGITS | WANTS_LOG_PROBS:
            return None
        graph = self.history.graph
        source = behind_all(graph, next(graph.inputs(op), None), SHAPING | SELECTING)
        return source if source is not None and source.name == "softmax" else None


rule = UnstableLogProb
