"""GS503: NaN or infinity in a loss or a gradient."""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from gradsan.judge.domain_edges import DomainEdges
from gradsan.judge.history import History
from gradsan.judge.report.wording import in_words, line, networks
from gradsan.record.events import (
    NOWHERE,
    Backward,
    BadGradient,
    Op,
    ParamId,
    Scaling,
    Site,
    Step,
    ValueId,
    ZeroGrad,
)
from gradsan.rules.base import Rule, Verdict, Verdicts

HOW_TO_SEE = "run with `--mode deep` to see the operation that made it"
SUSPECTS = 4  # that are named
# Steps in a row. A scaler that starts far too high halves its scale as often as that; a bug is skipped for ever.
ALWAYS_SKIPPED, SKIPPED_AT_THE_END = 40, 4
ON_ONE_LINE = (
    3  # updates that the script itself has skipped: a spike does not come back to the same operation
)


class Waiting(NamedTuple):
    """Not finite, and not yet taken by any step."""

    verdict: Verdict
    fed: set[ParamId]
    lost_on: Site  # where NaN arose though the loss is a number


class NonFiniteGradient(Rule):
    code = "GS503"
    name = "non-finite-gradient"
    severity = "error"
    what = """
        A loss or a gradient is NaN or infinite. The finding names the first operation that made it out of
        finite numbers, forward or backward, and the input that did it.
    """
    why = """
        One step later all weights are NaN and the run is lost, often thousands of updates after the line that
        did it: `log(0)`, `sqrt(0)`, the standard deviation of one sample, `exp` of an unclamped log-ratio, zero
        times infinity behind a mask, `atanh` at ±1.
    """
    symptom = """
        Loss and return turn to NaN from one update to the next, after any number of good ones; a
        distribution complains about its parameters, or the agent repeats one action for ever.
    """
    fix = (
        "keep the input inside the domain (`clamp`, an epsilon inside the function), and mask before, not "
        "after"
    )
    deliberate = """
        Under a loss scaler an overflow is part of the search for the right scale, and the scaler skips
        that step: a gradient that is cleared before any step takes it is not reported, unless no step is
        ever taken again.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 2, bias=False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        offset = net(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
        loss = torch.sqrt(offset.pow(2).sum(-1)).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
        """,
        """
        import torch
        policy, mask = torch.nn.Linear(3, 1), torch.tensor([1.0] * 7 + [0.0])
        log_prob = policy(torch.randn(8, 3)).squeeze(-1)
        old = torch.where(mask.bool(), log_prob.detach(), torch.tensor(-200.0))
        ratio = (log_prob - old).exp()  # BUG
        loss = -(torch.min(ratio, ratio.clamp(0.8, 1.2)) * mask).sum()
        loss.backward()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        values = net(torch.randn(1, 3))
        normalised = (values - values.mean()) / (values.std() + 1e-8)  # BUG
        normalised.mean().backward()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 2, bias=False)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        offset = net(torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
        loss = torch.sqrt(offset.pow(2).sum(-1) + 1e-8).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
        for _ in range(12):
            opt.zero_grad()
            scaler.scale(net(torch.randn(8, 3)).pow(2).mean()).backward()
            scaler.step(opt)
            scaler.update()
        """,
        """
        import torch
        policy, mask = torch.nn.Linear(3, 1), torch.tensor([1.0] * 7 + [0.0])
        log_prob = policy(torch.randn(8, 3)).squeeze(-1)
        old = torch.where(mask.bool(), log_prob.detach(), torch.tensor(-200.0))
        ratio = ((log_prob - old) * mask).exp()
        loss = -(torch.min(ratio, ratio.clamp(0.8, 1.2)) * mask).sum()
        loss.backward()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._lost = False
        self._waiting: Waiting | None = None
        self._skips = False  # whether somebody looks before stepping
        self._skipped: list[Verdict] = []  # in a row: nobody has stepped with them
        self._lost_on: Counter[Site] = (
            Counter()
        )  # updates that were skipped, by where their gradient was lost
        self._scaled = False
        self._fed: set[ParamId] = set()  # what earlier backwards gave gradient to
        self._unscaled: dict[ParamId, Scaling] = {}  # a loss scaler has seen these gradients
        self._edges = DomainEdges(history.graph)

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._judge(event)
        self._edges.look(event)
        self._fed.update(event.fed)
        for pid in event.fed:
            self._unscaled.pop(pid, None)

    def on_scaling(self, event: Scaling) -> Verdicts:
        self._scaled = True
        if event.call == "unscale_":
            self._unscaled.update(dict.fromkeys(event.params, event))
        return ()

    def _judge(self, event: Backward) -> Verdicts:
        if self._lost or (event.facts.bad_gradient is None and math.isfinite(event.loss)):
            return
        if event.facts.spoiled:
            yield self._first(self._spoiled(event))
            return
        if math.isinf(event.loss) and event.facts.norms and event.facts.bad_gradient is None:
            return  # a scaled loss may overflow where its gradient, which is all that counts, does not
        verdict, fed = self._started(event), set(event.fed)
        if event.error or not any(self.history.owner_of(pid) for pid in fed):
            yield self._first(verdict)
        elif self._waiting is None:
            finite = math.isfinite(event.loss) and event.facts.bad_gradient is not None
            self._waiting = Waiting(verdict, fed, verdict.culprit if finite else NOWHERE)

    def _first(self, verdict: Verdict) -> Verdict:
        self._lost = True  # from here on everything is non-finite: only the first time tells something
        return verdict

    def on_step(self, event: Step) -> Verdicts:
        if self._waiting is None:
            self._skipped.clear()
        elif not self._lost and not self._waiting.fed.isdisjoint(event.held):
            yield self._first(self._past_the_scaler(event, self._waiting) or self._waiting.verdict)

    def _past_the_scaler(self, event: Step, waiting: Waiting) -> Verdict | None:
        """A loss scaler has looked at this gradient, and its own `step` would have left it alone."""
        seen = next((self._unscaled[pid] for pid in event.held if pid in self._unscaled), None)
        if seen is None:
            return None
        message = (
            f"this steps with a gradient of {networks(self.history, event.held)} that is not finite: the loss scaler "
            f"has seen so on {line(self.history, seen.site)}, and its own `step` would have skipped it"
        )
        story = [("unscale", seen.site), *waiting.verdict.sites, ("step", event.site)]
        fix = "let the scaler step, `scaler.step(optimizer)`: it skips what has overflowed"
        return Verdict(event.site, message, story, waiting.verdict.subjects, fix=fix)

    def on_zero_grad(self, event: ZeroGrad) -> Verdicts:
        """Cleared, and nobody took it: a loss scaler, or the script, has looked first and skipped the step. Where
        that is all that happens, nothing is learnt."""
        waiting = self._waiting
        if self._lost or waiting is None or waiting.fed.isdisjoint(event.params):
            return
        waiting.fed.difference_update(event.params)
        if not waiting.fed:
            self._waiting, self._skips = None, True
            self._skipped.append(waiting.verdict)
            if len(self._skipped) >= ALWAYS_SKIPPED or self._comes_back(waiting.lost_on):
                yield self._first(waiting.verdict)

    def _comes_back(self, site: Site) -> bool:
        """No scaler searches for its scale: the script leaves out every update that this line spoils."""
        if not site or self._scaled:
            return False
        self._lost_on[site] += 1
        return self._lost_on[site] >= ON_ONE_LINE

    def at_end(self) -> Verdicts:
        if self._lost:
            return
        if self._waiting is not None and not self._skips:
            yield self._waiting.verdict
        elif len(self._skipped) >= SKIPPED_AT_THE_END:
            yield self._skipped[0]

    def _started(self, event: Backward) -> Verdict:
        history = self.history
        broken = [pid for pid, norm in event.facts.norms if not math.isfinite(norm)]
        if event.error:  # anomaly detection ended the backward before it wrote any gradient
            broken = list(event.reached)
        what_broke = (
            f"the gradient of {networks(history, broken)}" if math.isfinite(event.loss) else "the loss"
        )
        start, site = self._start(event)
        start = f"{start} is where it starts: " if start else ""
        if site:
            message = f"{start}{what_broke} is not finite in backward on {line(history, event.site)}"
            story = [("forward", site), ("backward", event.site)]
            return Verdict(site, message, story, broken or event.reached)
        untraced = not history.deep or event.facts.untraced
        message = f"{start}{what_broke} is not finite from here on{f'; {HOW_TO_SEE}' if untraced else ''}"
        return Verdict(event.site, message, [("backward", event.site)], broken)

    def _start(self, event: Backward) -> tuple[str, Site]:
        """What made it, and on which line, as far as that is known."""
        bad = event.facts.bad_gradient or BadGradient()
        op, what = self.history.graph.get(bad.value), bad.what
        if op is None or not math.isfinite(event.loss):
            forward = self._first_bad_value(event)
            if forward is not None:
                op, what = forward, forward.facts.bad
        if op is None and (edge := self._edges.behind(bad.site, what)) is not None:
            site, name = edge
            return f"`{name}`, which makes the constant of {line(self.history, bad.site)},", site
        if op is None:
            return in_words(what), bad.site
        if op.facts.backward and not op.facts.bad:
            return f"the backward of `{op.name}` ({line(self.history, op.facts.backward)})", op.site
        return in_words(what) or f"`{op.name}`", op.site

    def _spoiled(self, event: Backward) -> Verdict:
        """An earlier gradient was not finite though its loss was, and its graph went by in passing."""
        history, suspects, spoiled = self.history, event.facts.suspects, event.facts.spoiled
        message = (
            f"the weights of {networks(history, spoiled)} were not finite before this loss was computed: "
            "an earlier gradient was not finite, though its loss was"
        )
        if self._fed.isdisjoint(spoiled):
            message = f"the weights of {networks(history, spoiled)} were not finite to begin with"
            return Verdict(event.site, message, [("backward", event.site)], spoiled)
        if history.deep and (written := self._written(set(spoiled))) is not None:
            return written
        sites = {site: None for _, site in suspects}
        names = ", ".join(f"`{name}` on {line(history, site)}" for name, site in suspects[:SUSPECTS])
        culprit = event.site
        if len(sites) == 1:
            culprit = next(iter(sites))
            message += (
                f"; of the operations it came through, {names} is the one whose derivative can be infinite"
            )
        else:
            which = f"; operations it came through whose derivative can be infinite: {names}" if names else ""
            message += f"{which}; {HOW_TO_SEE}"
        story = [("forward", site) for site in list(sites)[:SUSPECTS]]
        return Verdict(culprit, message, [*story, ("backward", event.site)], spoiled)

    def _written(self, pids: set[ParamId]) -> Verdict | None:
        """No gradient was to blame, but what the script itself wrote into the weights."""
        writes = [o for o in self.history.graph.ops.values() if o.kind == "written" and o.facts.pid in pids]
        bad = self._first_bad([op.nid for op in writes])
        if bad is None:
            return None
        write = next(op for op in writes if bad.nid in self.history.graph.ancestors([op.nid]))
        message = (
            f"{in_words(bad.facts.bad)} is where it starts: {line(self.history, write.site)} writes it into the "
            f"weights of {networks(self.history, pids)}"
        )
        return Verdict(bad.site, message, [("forward", bad.site), ("write", write.site)], sorted(pids))

    def _first_bad_value(self, event: Backward) -> Op | None:
        return self._first_bad([root.nid for root in event.roots])

    def _first_bad(self, nids: list[ValueId]) -> Op | None:
        found = [op for op in self.history.graph.ancestors(nids).values() if op.facts.bad]
        return min(found, key=lambda op: op.nid, default=None)


rule = NonFiniteGradient
