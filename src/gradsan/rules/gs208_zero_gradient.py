"""GS208: a gradient that is zero step after step, because of what the loss does with it."""

from __future__ import annotations

from gradsan.judge.flow import SELECTING, SHAPING
from gradsan.judge.history import History
from gradsan.judge.wording import networks
from gradsan.record.events import Backward, Op, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

STEPS = 5
SATURATED = 0.3
FLAT = {"relu", "clamp", "tanh", "sigmoid", "hardtanh", "relu6", "hardsigmoid", "threshold", "elu", "softplus",
        "leaky_relu", "hardswish", "hardshrink", "softshrink"}  # fmt: skip


class ZeroGradient(Rule):
    code = "GS208"
    name = "zero-gradient"
    severity = "warning"
    needs_deep = True
    what = """
        A parameter's gradient is exactly zero step after step, or the gradient of a large part of every batch
        is: a dead ReLU, a saturated `tanh` or `clamp`, a TD error clamped before squaring.
    """
    why = """
        Where the function is flat, nothing can be learned, and it stays so. Clamping the TD error before squaring
        is the famous one: it was meant to clip the gradient to ±1 and sets it to zero for exactly the samples that
        are most wrong.
    """
    symptom = """
        The part behind the flat spot does not move, to the last digit. With the clamped TD error the
        loss sits at the square of the bound, and Q-values creep towards large rewards or never get
        there.
    """
    fix = (
        "for clipped errors use `smooth_l1_loss` or `huber_loss`; for dead units a smaller step, or a leaky "
        "activation"
    )
    deliberate = (
        "PPO's clipped ratio is not reported: the unclipped term keeps its gradient, and all-clipped "
        "batches pass."
    )
    bad = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
            td = target - q(s).gather(1, a).squeeze(1)
            loss = td.clamp(-1, 1).pow(2).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        torch.nn.init.constant_(first.bias, -100.0)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
        for _ in range(8):
            h = torch.relu(first(torch.randn(8, 3)))  # BUG
            loss = (second(h) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
            chosen = q(s).gather(1, a).squeeze(1)
            loss = torch.nn.functional.smooth_l1_loss(chosen, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.rand(8)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            ratio = (log_prob - log_prob.detach() - 1.0).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.zeros(8)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -(log_prob * returns).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._zero: dict[int, int] = {}
        self._flat: dict[Site, int] = {}

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._saturated(event)
        zero = set()
        for pid, norm in event.facts.norms:
            self._zero[pid] = self._zero.get(pid, 0) + 1 if norm == 0.0 else 0
            if self._zero[pid] >= STEPS:
                zero.add(pid)
        for nid in event.facts.zeroed_by if zero else ():
            op = self.history.graph.get(nid)
            if op is not None and op.name in FLAT and self.history.graph.live_params([nid]) & zero:
                message = f"the gradient of {networks(self.history, zero)} is exactly zero: `{op.name}` is flat there"
                yield Verdict(op.site, message, [("zeroing op", op.site), ("backward", event.site)], zero)

    def _saturated(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        live = graph.live_ancestors(root.nid for root in event.roots)
        for op in live.values():
            share = op.facts.saturated
            if share < SATURATED or not self._is_clamped_error(op, live):
                continue
            seen = self._flat[op.site] = self._flat.get(op.site, 0) + 1
            if seen >= STEPS:
                yield Verdict(
                    op.site,
                    f"the error is clamped before it enters the loss, so {share:.0%} of the samples (the most wrong "
                    "ones) get no gradient at all",
                    [("zeroing op", op.site), ("backward", event.site)],
                    graph.live_params([op.nid]),
                )

    def _is_clamped_error(self, op: Op, live: dict[ValueId, Op]) -> bool:
        """A difference reaches the loss through this clamp and no other way."""
        graph = self.history.graph
        source = next(graph.inputs(op), None)
        while source is not None and source.name in SHAPING | SELECTING:
            source = next(graph.inputs(source), None)
        if source is None or source.name not in ("sub", "rsub", "add"):
            return False
        onward = [n for n in graph.consumers.get(source.nid, ()) if n in live]
        return len(onward) == 1 and self._is_squared(op, live)

    def _is_squared(self, op: Op, live: dict[ValueId, Op]) -> bool:
        graph = self.history.graph
        users = [live[n] for n in graph.consumers.get(op.nid, ()) if n in live]
        return any(
            u.name in ("pow", "abs", "mse_loss") or (u.name == "mul" and len(set(u.inputs)) == 1)
            for u in users
        )


rule = ZeroGradient
