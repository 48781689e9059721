"""GS502: a layer whose gradient is many orders of magnitude below the others'."""

from __future__ import annotations

import itertools
import math
import statistics

from gradsan.judge.history import History
from gradsan.judge.report.wording import networks
from gradsan.record.events import NOWHERE, Backward, ParamId, Sample, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

STEPS = 10
FADED_STEPS = 5
ORDERS_OF_A_STACK, LAYERS = 3.5, 6  # where layer after layer takes its part
ORDERS = 6.0  # below the median of the same step


class VanishingGradient(Rule):
    code = "GS502"
    name = "vanishing-gradient"
    severity = "warning"
    what = """
        Step after step, the gradient of a layer is a millionth of what the other layers of the same optimizer get, or
        it becomes smaller from layer to layer of a deep stack.
    """
    why = """
        The layer learns practically nothing. Long recurrent unrolls, deep `tanh` or `sigmoid` stacks
        and saturated outputs do that: the agent behaves as if it had no memory, or no features but the
        random initial ones.
    """
    symptom = """
        The return rises to what a policy without memory, or with random features, can reach, and stays
        there.
    """
    fix = "use a gated cell, normalisation or ReLU-like activations, shorter unrolls, and smaller initial weights"
    deliberate = "The comparison is with the layers of the same step; a gradient of exactly zero is GS208."
    bad = (
        """
        import torch
        layers = [torch.nn.Linear(8, 8) for _ in range(14)]
        net = torch.nn.Sequential(*[m for layer in layers for m in (layer, torch.nn.Sigmoid())], torch.nn.Linear(8, 1))
        for layer in layers:
            torch.nn.init.constant_(layer.bias, 3.0)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(14):
            loss = (net(torch.randn(16, 8)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # BUG
            opt.step()
        """,
        """
        # So many steps that the gradient of the first is too small for a float, and zero.
        import torch
        cue, rec, out = torch.nn.Linear(2, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*cue.parameters(), *rec.parameters(), *out.parameters()], lr=0.01)
        for _ in range(14):
            state = cue(torch.randn(16, 2))
            for _ in range(120):
                state = torch.sigmoid(rec(state))
            loss = (out(state) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        layers = [torch.nn.Linear(8, 8) for _ in range(14)]
        stack = [m for layer in layers for m in (layer, torch.nn.LayerNorm(8), torch.nn.ELU())]
        net = torch.nn.Sequential(*stack, torch.nn.Linear(8, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(14):
            loss = (net(torch.randn(16, 8)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
                                  torch.nn.Linear(64, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        for _ in range(14):
            loss = (net(torch.randn(16, 8)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # An ensemble in one tensor: its biases have two axes, and a normalisation behind them.
        import torch
        class Ensemble(torch.nn.Module):
            def __init__(self, n, i, o):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.randn(n, o, i) / i**0.5)
                self.bias = torch.nn.Parameter(torch.zeros(n, o))
            def forward(self, x):
                return x @ self.weight.transpose(1, 2) + self.bias.unsqueeze(1)
        class Norm(torch.nn.Module):
            def forward(self, x):
                return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-3)
        layers = Ensemble(2, 4, 16), Norm(), torch.nn.ReLU(), Ensemble(2, 16, 16), torch.nn.ReLU(), Ensemble(2, 16, 1)
        net = torch.nn.Sequential(*layers)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        for _ in range(14):
            loss = (net(torch.randn(32, 4).expand(2, 32, 4)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._below: dict[int, int] = {}
        self._faded: dict[int, int] = {}
        self._backward: Site = NOWHERE

    def on_backward(self, event: Backward) -> Verdicts:
        self._backward = event.site
        zero = {pid for pid, norm in event.facts.norms if norm == 0.0}
        lost = self.history.graph.live_params(event.facts.faded) & zero if event.facts.faded else set()
        for pid, _ in event.facts.norms:
            self._faded[pid] = self._faded.get(pid, 0) + 1 if pid in lost else 0
        for_long = [pid for pid in lost if self._faded[pid] >= FADED_STEPS]
        if for_long:
            yield Verdict(
                event.site,
                f"the gradient of {networks(self.history, for_long)} becomes smaller from step to step of the "
                "backward until it is too small for a float, and zero",
                [("backward", event.site)],
                for_long,
            )

    def on_sample(self, event: Sample) -> Verdicts:
        weights = [(pid, g) for pid, g, _, _ in event.norms if g > 0 and not self._is_bias(pid)]
        sizes = {pid: math.log10(g / math.sqrt(self._elements(pid))) for pid, g in weights}
        finite = [s for s in sizes.values() if math.isfinite(s)]
        if len(finite) < 4:
            return
        reference = statistics.quantiles(finite, n=4)[2]  # the upper quarter: the layers that do learn
        orders_needed = ORDERS_OF_A_STACK if self._is_a_stack(list(sizes.values())) else ORDERS
        for pid, size in sizes.items():
            low = math.isfinite(size) and size < reference - orders_needed
            self._below[pid] = self._below.get(pid, 0) + 1 if low else 0
        low_for_long = [pid for pid in sizes if self._below.get(pid, 0) >= STEPS]
        if low_for_long:
            orders = reference - min(sizes[pid] for pid in low_for_long)
            yield Verdict(
                self._backward,
                f"the gradient of {networks(self.history, low_for_long)} is {orders:.0f} orders of magnitude below "
                "that of the other layers, step after step",
                [("backward", self._backward)],
                low_for_long,
            )

    def _is_a_stack(self, sizes: list[float]) -> bool:
        """Whether each layer gets less than the one behind it, all the way down to the first."""
        smaller = sum(below < above - 0.2 for below, above in itertools.pairwise(sizes))
        return len(sizes) >= LAYERS and smaller >= len(sizes) - 2

    def _is_bias(self, pid: ParamId) -> bool:
        """The bias in front of a normalisation has no gradient by construction. In an ensemble that is kept as
        one tensor a bias has two axes, like a weight; but one less than the weight beside it."""
        params = self.history.params
        shape = params[pid].shape
        beside = [params[other].shape for by in (-1, 1) if (other := ParamId(pid + by)) in params]
        return len(shape) < 2 or any(other[:-1] == shape for other in beside)

    def _elements(self, pid: ParamId) -> int:
        return max(1, math.prod(self.history.params[pid].shape))


rule = VanishingGradient
