"""GS506: a clip that changes nothing."""

from __future__ import annotations

import linecache
import math
import re

from gradsan.judge.history import History
from gradsan.judge.lines.source import line_of
from gradsan.judge.order.lost_changes import CHANGING, are_weights, changed_gradient, goes_nowhere
from gradsan.judge.report.wording import name_of, quoted
from gradsan.record.events import NOBODY, Backward, Clip, Op, Ops, ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

INFINITE = re.compile(r"\binf(inity)?\b", re.IGNORECASE)
ASSIGNED = re.compile(r"\s*(?P<name>\w+)\s*(:[^=]+)?=(?!=)(?P<value>.*)")

BOUNDLESS = 1e8
CLIPS = 3  # that were looked at
COPYING, SHARING = (
    {"clone", "float", "double", "cpu", "to"},
    {"detach", "data", "alias", "view", "reshape", "flatten"},
)
SCALING = {"mul", "div"}
LIMITS = {"clamp", *SCALING}
PUT_BACK = "change the gradient in place (`p.grad.mul_(…)`), or put the result back: `p.grad = …`"
WRITE = "write the new weights into the parameter, under `torch.no_grad()`: `p.sub_(rate * grad)`, or `p.copy_(…)`"
REBOUND = re.compile(r"\s*(?P<name>\w+)\s*=(?!=).*(?<![.\w])(?P=name)\b")  # `grad = grad * factor`


class ClipWithoutEffect(Rule):
    code = "GS506"
    name = "clip-without-effect"
    severity = "error"
    what = """
        A clip whose result goes nowhere: `p.grad.clamp(-1, 1)` returns a new tensor and leaves `.grad` as
        it was (`clamp_`, with the underscore, changes it), or the limit is zero, negative or infinite. The same
        holds for any other change of a gradient, or of weights by a gradient, whose result nobody reads:
        `grad = grad - overlap * other`, `p = p - rate * g`.
    """
    why = """
        The gradients go out unclipped, and the code looks as if they were clipped. One bad batch is
        enough to throw the policy off.
    """
    symptom = """
        The same as without clipping: now and then a spike in the loss, after which the return is lower.
        Changing the limit changes nothing.
    """
    fix = "use `torch.nn.utils.clip_grad_value_(params, 1.0)`, or the in-place form `p.grad.clamp_(-1, 1)`"
    deliberate = """
        `norm = clip_grad_norm_(params, float("inf"))` is the usual way to measure the norm: as long as the
        result is used, it is not reported. A limit that comes from a setting or a default, and that is infinite
        (or beyond 1e8) at every clip of the run, is a warning: perhaps clipping was switched off on purpose,
        perhaps the setting has another name.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            for p in net.parameters():
                p.grad.data.clamp(-1, 1)  # BUG
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))  # BUG
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            for p in net.parameters():
                gradient = p.grad.detach().clone()
                gradient.clamp_(-0.1, 0.1)  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            for p in net.parameters():
                p.grad.data.clamp_(-1, 1)
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            for p in net.parameters():
                p.grad = p.grad.clamp(-1, 1)
            opt.step()
        """,
        """
        # A clipped copy that is put back, and one that is only looked at.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            seen = [p.grad.clone().clamp_(-0.1, 0.1).numpy() for p in net.parameters()]
            for p in net.parameters():
                gradient = p.grad.clone()
                gradient.clamp_(-0.1, 0.1)
                p.grad = gradient
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._bound: list[tuple[Op, ParamId]] = []
        self._changed: list[tuple[Op, ParamId]] = []
        self._boundless: dict[Site, list[Clip]] = {}
        self._acting: set[Site] = set()  # lines that do have a limit, at least now and then

    def on_clip(self, event: Clip) -> Verdicts:
        useless = event.limit <= 0 or math.isnan(event.limit)
        if useless or (math.isinf(event.limit) and event.dropped and self._says_infinite(event)):
            yield Verdict(
                event.site,
                f"a limit of {event.limit:g} does not clip anything sensibly",
                [("clip", event.site)],
                event.params,
            )

        elif event.limit >= BOUNDLESS and event.dropped:
            seen = self._boundless.setdefault(event.site, [])
            del seen[CLIPS:]  # more are not needed
            seen.append(event)
        else:
            self._acting.add(event.site)

    def at_end(self) -> Verdicts:
        """A limit may come later, after a warm-up: only the whole run can tell."""
        yield from self._lost()
        for site, clips in self._boundless.items():
            if site not in self._acting and len(clips) >= CLIPS:
                yield Verdict(
                    site,
                    f"the limit was {clips[0].limit:g} at every clip of the run, so nothing was ever clipped",
                    [("clip", site)],
                    clips[0].params,
                    severity="warning",
                    fix="look where the limit comes from: a default, or a setting that is called otherwise",
                )

    def _says_infinite(self, event: Clip) -> bool:
        """The infinity is written right there, or in an assignment to the very name that stands there; an
        argument or an attribute that holds one is an option."""
        seen = self.history.sites.get(event.site)
        if seen is None:
            return False
        line = line_of(seen.file, seen.line)
        assigned = [match for text in linecache.getlines(seen.file) if (match := ASSIGNED.match(text))]
        named = [m["value"] for m in assigned if re.search(rf"(?<![.\w]){m['name']}\b", line)]
        return any(INFINITE.search(text) for text in (line, *named))

    def on_ops(self, event: Ops) -> Verdicts:
        for op in event.ops:
            if op.facts.dropped:
                yield self._dropped(op, op.facts.clipped)
            elif op.name in LIMITS and (pid := self._limits(op)):
                self._bound.append((op, pid))
            elif pid := changed_gradient(self.history, op):
                self._changed.append((op, pid))

    def on_step(self, event: Step) -> Verdicts:
        """A clipped copy that was given a name and that nothing has used when the gradient is consumed."""
        bound, self._bound = self._bound, []
        for op, pid in bound:
            if pid in event.held and not self.history.graph.consumers.get(op.nid):
                yield self._dropped(op, pid)
        yield from self._lost()

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._lost()

    def _lost(self) -> Verdicts:
        """Whatever else was made of a gradient, and is out of reach by now."""
        changed, self._changed = self._changed, []
        for op, pid in changed:
            if goes_nowhere(self.history, op):
                yield self._dropped(op, pid)

    def _limits(self, op: Op) -> ParamId:
        """The parameter whose gradient is clamped here, or scaled by a number."""
        if op.name == "clamp":
            return op.facts.clipped or self._copied(op)
        seen = self.history.sites.get(op.site)
        if seen is None or not REBOUND.match(line_of(seen.file, seen.line)):
            return NOBODY  # a scaled copy may be kept for later
        source = self.history.graph.get(op.inputs[0]) if op.inputs else None
        scaled = source is not None and source.kind == "gradient read" and source.shape == op.shape
        others = [i for i in self.history.graph.inputs(op) if i is not source]
        return source.facts.pid if source and scaled and not any(i.shape for i in others) else NOBODY

    def _copied(self, op: Op) -> ParamId:
        """The parameter whose gradient this value is a copy of."""
        graph, copied = self.history.graph, False
        while op.inputs and (source := graph.get(op.inputs[0])) is not None:
            if source.kind == "gradient read":
                return source.facts.pid if copied else NOBODY
            if source.name not in COPYING | SHARING:
                break
            copied = copied or source.name in COPYING
            op = source
        return NOBODY

    def _dropped(self, op: Op, pid: ParamId) -> Verdict:
        new = op.facts.clipped or op.name in CHANGING
        what = "returns a new tensor" if new else "changes a copy of the gradient"
        weights = are_weights(self.history, op, pid)
        whose, fix = ("", WRITE) if weights else ("the gradient of ", "" if op.name == "clamp" else PUT_BACK)
        return Verdict(
            op.site,
            f"`{op.name}` {what}, which is dropped; {whose}{quoted(name_of(self.history, pid))} stays as it is",
            [("clip" if op.name == "clamp" else "change", op.site)],
            [pid],
            fix=fix,
        )


rule = ClipWithoutEffect
