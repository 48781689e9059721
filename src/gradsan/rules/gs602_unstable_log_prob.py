"""GS602: a softmax where log-probabilities or logits belong."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING, SHAPING, behind_all
from gradsan.judge.report.wording import line
from gradsan.record.events import Backward, Op, Ops, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

# What each squashing must not stand in front of, because it would be applied a second time.
WANTS_LOGITS = {
    "softmax": {"log_softmax", "softmax", "logsumexp", "cross_entropy"},
    "sigmoid": {"sigmoid", "logsigmoid", "log_sigmoid", "binary_cross_entropy_with_logits"},
}
WANTS_LOG_PROBS = {"nll_loss", "kl_div"}  # as the first of their values
ASKED = {"log"}.union(WANTS_LOG_PROBS, *WANTS_LOGITS.values())
LAYERS = {"linear", "addmm"}


class UnstableLogProb(Rule):
    code = "GS602"
    name = "unstable-log-prob"
    severity = "warning"
    needs_deep = True
    what = (
        "`log(softmax(x))`, the output of a softmax or sigmoid passed as logits, a softmax of a softmax, or raw "
        "outputs passed as log-probabilities."
    )
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
            if op.name != "logsumexp" or "distribution" not in op.tags:
                continue
            source = self._given(op)
            if source is None or source.name != "softmax":
                continue
            learned = history.graph.value_params([op.nid])
            if learned & history.ever_fed:
                yield Verdict(
                    op.site,
                    f"a softmax output is used as logits (softmax on {line(history, source.site)}): what is drawn "
                    "here is nearly uniform",
                    [("softmax", source.site), ("distribution", op.site)],
                    learned,
                )

    def on_backward(self, event: Backward) -> Verdicts:
        for op in self.history.graph.ancestors(root.nid for root in event.roots).values():
            source = self._given(op) if op.name in ASKED else None
            what = misuse(op, source) if source is not None else ""
            if source is None or not what:
                continue
            here = self._made_a_distribution(op)
            yield Verdict(
                here,
                f"{what} ({source.name} on {line(self.history, source.site)})",
                [(source.name, source.site), ("log or distribution", here), ("backward", event.site)],
                event.reached,
            )

    def _given(self, op: Op) -> Op | None:
        """What made the first value that an operation was given."""
        graph = self.history.graph
        return behind_all(graph, next(graph.inputs(op), None), SHAPING | SELECTING)

    def _made_a_distribution(self, op: Op) -> Site:
        """Where the distribution was made that is asked here; this very place where none is asked."""
        if "log_prob" not in op.tags or not op.inputs:
            return op.site
        graph = self.history.graph
        users = (graph.get(nid) for nid in graph.consumers.get(op.inputs[0], ()))
        made = (
            user for user in users if user and "distribution" in user.tags and "log_prob" not in user.tags
        )
        return next((user.site for user in made), op.site)


def misuse(op: Op, source: Op) -> str:
    """What is wrong about giving this to that operation; nothing where it is right."""
    if op.name in WANTS_LOGITS.get(source.name, ()):
        twice = f"a {source.name} is applied twice"
        return twice if op.name == source.name else f"a {source.name} output is used as logits"
    if source.name == "softmax" and op.name == "log" and "distribution" not in op.tags:
        return "the logarithm of a softmax underflows"
    if source.name == "softmax" and op.name in WANTS_LOG_PROBS:
        return f"`{op.name}` takes log-probabilities and is given probabilities"
    if source.name in LAYERS and op.name in WANTS_LOG_PROBS:
        return f"`{op.name}` takes log-probabilities and is given the raw output of a layer"
    return ""


rule = UnstableLogProb
