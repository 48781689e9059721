"""GS501: the gradient grows out of all proportion to its own history."""

from __future__ import annotations

import itertools
import math
import statistics

from gradsan.judge.history import History
from gradsan.judge.report.wording import line, name_of, quoted
from gradsan.record.events import NOWHERE, Backward, GradientGrowth, OptimizerId, ParamId, Sample, Site
from gradsan.rules.base import Rule, Verdict, Verdicts

HISTORY = 10  # samples before there is anything to compare with
ORDERS = 3.0  # of magnitude above the median of the history: two are what a value function goes through as it learns
RISE = 1.0  # of them within the window
WINDOW = 8  # samples that must show the growth itself: not one jump to a new level, a rise
SPREADS = 6.0  # of the history's own spread
THROUGH_STEPS = (
    1e4  # a gradient that grows by more within one backward explodes; a sum over the steps does not
)
TURNS = 5
TOO_LARGE = 1.8e19  # to be squared in float32


class ExplodingGradient(Rule):
    code = "GS501"
    name = "exploding-gradient"
    severity = "error"
    what = """
        The gradient norm has risen by orders of magnitude over its own history, keeps rising, is larger than the
        weights it is applied to, and nothing clips it. Or it grows by orders of magnitude within every backward, from
        step to step of a recurrence or from layer to layer.
    """
    why = """
        One such step throws the policy somewhere else, and in RL the data follows the policy: there is no way back
        from a collapsed policy. The usual sources are a diverging value function (its target moves with it), an
        unclipped ratio, or a reward scale that nobody chose.
    """
    symptom = """
        Within a few updates the loss grows by orders of magnitude; then entropy falls to zero, and the
        return drops to that of one constant action and stays there.
    """
    fix = (
        "clip with `torch.nn.utils.clip_grad_norm_` between backward and step, and look at what grows: the target, "
        "the ratio, the reward"
    )
    deliberate = """
        The comparison is with the run itself: a warm-up, a change of loss scale, a single reward spike and the first
        reward after a long drought are not reported.
    """
    bad = (
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        s, scale = torch.randn(8, 3), 1.0
        for i in range(200):
            scale = scale * 1.5 if i > 100 else 1.0
            loss = (v(s) - 1.0 * scale).pow(2).mean()
            opt.zero_grad()
            loss.backward()  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        s, scale = torch.randn(8, 3), 1.0
        for i in range(200):
            scale = scale * 1.5 if i > 100 else 1.0
            loss = (v(s) - 1.0 * scale).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(v.parameters(), 1.0)
            opt.step()
        """,
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=1e-4)
        for i in range(60):
            reward = 1000.0 if i == 40 else 1.0
            loss = (v(torch.randn(8, 3)) - reward).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.01)
        for i in range(60):
            reward = 0.0 if i < 30 else 1.0
            loss = (v(torch.randn(8, 3)) * (1e-6 if i < 30 else 1.0) - reward).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Returns grow as the policy improves, and level off.
        import torch
        v = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=1e-4)
        for update in range(40):
            scale = 2.0 ** min(max(update - 20, 0), 8)
            loss = (v(torch.randn(64, 3)) - scale * (1.0 + torch.rand(64, 1))).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._norms: dict[OptimizerId, list[float]] = {}
        self._fed_at: dict[ParamId, Site] = {}  # where each parameter last got gradient
        self._growing: dict[Site, list[GradientGrowth]] = {}  # by backward line, in its latest turns

    def on_backward(self, event: Backward) -> Verdicts:
        self._fed_at.update(dict.fromkeys(event.fed, event.site))
        growth = event.facts.growth
        if growth is not None and growth.times > THROUGH_STEPS:
            self._growing.setdefault(event.site, []).append(growth)
        elif event.facts.norms:
            self._growing.pop(event.site, None)
        return ()

    def _through_steps(self, event: Sample, total: float, weights: float) -> Verdicts:
        """No history to rise from: it grows within each backward, from the first on."""
        for site in {self._fed_at.get(pid, NOWHERE) for pid, *_ in event.norms}:
            seen = self._growing.get(site, [])
            if len(seen) >= TURNS and not event.clipped and total > weights:
                last = seen[-1]
                yield Verdict(
                    site,
                    f"the gradient grows by a factor of {last.times:.1g} on its way back through the {last.steps} runs "
                    f"of {line(self.history, last.site)}, in every backward; nothing clips it",
                    [("backward", site), ("steps", last.site)],
                    [pid for pid, *_ in event.norms],
                )

    def on_sample(self, event: Sample) -> Verdicts:
        total = math.sqrt(sum(g * g for _, g, _, _ in event.norms))
        weights = math.sqrt(sum(w * w for _, _, w, _ in event.norms))
        past = self._norms.setdefault(event.oid, [])
        past.append(math.log10(max(total, 1e-30)) if math.isfinite(total) else 300.0)
        del past[:-200]
        if TOO_LARGE < total < math.inf:
            yield self._verdict(
                event, total, "too large to be squared: Adam's averages and clipped norms are infinite"
            )
            return
        yield from self._through_steps(event, total, weights)
        if event.clipped or not math.isfinite(total) or len(past) < HISTORY + WINDOW or total < weights:
            return
        recent, before = past[-WINDOW:], past[:-WINDOW]
        rises = sum(a < b for a, b in itertools.pairwise(recent))
        rising = rises >= WINDOW - 2 and recent[-1] - recent[0] > RISE
        middle = statistics.median(before)
        spread = statistics.median(abs(x - middle) for x in before)
        if rising and recent[-1] - middle > max(ORDERS, SPREADS * spread):
            times = f"{10 ** (recent[-1] - middle):.0f} times its median so far, and rising"
            yield self._verdict(event, total, times)

    def _verdict(self, event: Sample, total: float, how: str) -> Verdict:
        worst = max(event.norms, key=lambda row: row[1])[0]
        backward = self._fed_at.get(worst, NOWHERE)
        clip = "" if event.clipped else "; nothing clips it"
        return Verdict(
            backward,
            f"the gradient norm is {total:.3g}, {how} (most of it in {quoted(name_of(self.history, worst))}){clip}",
            [("backward", backward)],
            [pid for pid, *_ in event.norms],
        )


rule = ExplodingGradient
