"""GS507: gradients are clipped, or stepped with, while they still carry the scale of the loss."""

from __future__ import annotations

import math

from gradsan.judge.history import History
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, Backward, Clip, Op, Ops, ParamId, Scaling, Site, Step, ZeroGrad
from gradsan.rules.base import Rule, Verdict, Verdicts

ADAPTED = 0.01  # a limit of this share of the scale is one that was multiplied by it


class ClipOnScaled(Rule):
    code = "GS507"
    name = "clip-on-scaled"
    severity = "error"
    what = """
        Gradients are clipped between `scaler.scale(loss).backward()` and the place where they are divided by the
        scale: the limit is compared with gradients that are thousands of times too large. Or they are never divided:
        `optimizer.step()` takes them as they are, in place of `scaler.step(optimizer)`.
    """
    why = """
        A loss scaler multiplies the loss by a large number, so that small gradients do not vanish in half precision,
        and divides the gradients by it in `scaler.step`. A clip in between sees the multiplied ones. It cuts all of
        them down to the limit, and then they are divided: with a scale of 65536 a limit of 1.0 acts like one of
        0.000015, and like another one whenever the scaler changes its scale.
    """
    symptom = """
        With plain SGD hardly anything is learned. Adam hides it: every update has the direction of one batch and
        the same length, the reported gradient norms are in the thousands, and the curve has a kink where the scale
        changes.
    """
    fix = "call `scaler.unscale_(optimizer)` before the clip, and `scaler.step(optimizer)` to step"
    deliberate = """
        A limit that is multiplied by `scaler.get_scale()` is right and not reported.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG
            scaler.step(opt)
            scaler.update()
        """,
        """
        # Unscaled, but too late.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_value_(net.parameters(), 0.5)  # BUG
            scaler.unscale_(opt)
            scaler.step(opt)
            scaler.update()
        """,
        """
        # The same by hand.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            (loss * 1024.0).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG
            for p in net.parameters():
                p.grad /= 1024.0
            opt.step()
        """,
        """
        # Never divided: the scaler is not asked to step.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            scaler.scale(loss).backward()
            opt.step()  # BUG
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
        """,
        """
        # The limit is multiplied, too.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5 * scaler.get_scale())
            scaler.step(opt)
            scaler.update()
        """,
        """
        # Divided by the number of micro-batches after the clip: no scale is in this gradient.
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            opt.zero_grad()
            for _ in range(4):
                (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            for p in net.parameters():
                p.grad /= 4
            opt.step()
        """,
        """
        # Divided by hand; and a second loss that is not scaled, with an optimizer of its own.
        import torch
        net, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            loss = scaler.scale((net(torch.randn(8, 3)) - 1.0).pow(2).mean())
            critic_opt.zero_grad()
            (critic(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            critic_opt.step()
            opt.zero_grad()
            loss.backward()
            for p in net.parameters():
                p.grad /= scaler.get_scale()
            opt.step()
        """,
        """
        # Two scaled losses, one scaler, a step for each.
        import torch
        net, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opts = [torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, critic)]
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        for _ in range(4):
            losses = [scaler.scale((one(torch.randn(8, 3)) - 1.0).pow(2).mean()) for one in (net, critic)]
            for opt in opts:
                opt.zero_grad()
            for loss in losses:
                loss.backward()
            for opt in opts:
                scaler.step(opt)
            scaler.update()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._clips: dict[ParamId, Clip] = {}  # of gradients that nobody has unscaled before
        self._unscaled: set[ParamId] = set()
        self._scaled: dict[ParamId, Backward] = {}  # fed by a scaled loss, and not divided since
        self._scale: Scaling | None = None
        self._scaled_at = NOWHERE

    def on_backward(self, event: Backward) -> Verdicts:
        self._unscaled.difference_update(event.fed)
        if self._scale is not None and not self._scale.asked and self._is_scaled(event):
            self._scaled.update(dict.fromkeys(event.fed, event))
        return ()

    def _is_scaled(self, event: Backward) -> bool:
        """Whether the loss is what the scaler has just handed back."""
        roots = [self.history.graph.get(root.nid) for root in event.roots]
        return all(op is not None and op.name == "mul" and op.site == self._scaled_at for op in roots)

    def on_clip(self, event: Clip) -> Verdicts:
        for pid in event.held:
            if pid not in self._unscaled and self.history.ledger.fresh(pid):
                self._clips.setdefault(pid, event)
        return ()

    def on_zero_grad(self, event: ZeroGrad) -> Verdicts:
        self._forget(event.params)
        return ()

    def on_step(self, event: Step) -> Verdicts:
        written = {*event.by_hand, *event.replaced}
        scaled = [pid for pid in event.held if pid in self._scaled and pid not in written]
        if scaled and self._scale is not None:
            yield self._undivided(event, scaled, self._scale)
        self._forget(self.history.optimizers[event.oid].params)

    def _undivided(self, event: Step, pids: list[ParamId], scaling: Scaling) -> Verdict:
        backward = self._scaled[pids[0]].site
        return Verdict(
            event.site,
            f"this steps with the gradient of {networks(self.history, pids)} as it is, multiplied by the loss scale of "
            f"{scaling.scale:g}: the scaler has not divided it, and skips no step that has overflowed",
            [("scale", self._scaled_at), ("backward", backward), ("step", event.site)],
            pids,
        )

    def _forget(self, pids: tuple[ParamId, ...] | list[ParamId]) -> None:
        self._unscaled.difference_update(pids)
        for pid in pids:
            self._clips.pop(pid, None)
            self._scaled.pop(pid, None)

    def on_scaling(self, event: Scaling) -> Verdicts:
        if event.call == "scale":
            self._scaled_at, self._scale = event.site, event
            return
        hit = [pid for pid in event.params if pid in self._clips]
        adapted = event.scale * (ADAPTED if event.asked else 1.0)
        yield from self._verdicts(hit, event.scale, adapted, self._scaled_at, event.site)
        self._forget(event.params)
        self._unscaled.update(event.params)

    def on_ops(self, event: Ops) -> Verdicts:
        """A gradient that was clipped is divided by the number that its loss was multiplied with."""
        if not self._clips and not self._scaled:
            return
        divided: dict[tuple[float, Site, Site], list[ParamId]] = {}
        for op in event.ops:
            if op.kind == "gradient set":
                self._scaled.pop(op.facts.pid, None)
            if op.kind == "gradient set" and op.facts.pid in self._clips:
                scale = 1.0 / (_factor(self.history.graph.get(op.inputs[0])) or 1.0)
                scaled_at = self._multiplied(op.facts.pid, scale) if scale > 1.0 else NOWHERE
                if scaled_at:
                    divided.setdefault((scale, scaled_at, op.site), []).append(op.facts.pid)
        for (scale, scaled_at, site), pids in divided.items():
            yield from self._verdicts(pids, scale, scale * ADAPTED, scaled_at, site)

    def _multiplied(self, pid: ParamId, scale: float) -> Site:
        for part in self.history.ledger.fresh(pid):
            for root in part.event.roots:
                op = self.history.graph.get(root.nid)
                if op is not None and math.isclose(_factor(op), scale, rel_tol=1e-3):
                    return op.site
        return NOWHERE

    def _verdicts(
        self, pids: list[ParamId], scale: float, adapted: float, scaled_at: Site, site: Site
    ) -> Verdicts:
        history, clips = self.history, {self._clips[pid].site: self._clips[pid] for pid in pids}
        for clip in clips.values():
            mine = [pid for pid in pids if self._clips[pid] is clip]
            if not mine or clip.limit >= adapted:
                continue
            backward = next((p.site for pid in mine for p in history.ledger.fresh(pid)), NOWHERE)
            yield Verdict(
                clip.site,
                f"this clips the gradient of {networks(history, mine)} while it is still multiplied by the loss "
                f"scale of {scale:g}, which is divided out on {line(history, site)}: the limit of {clip.limit:g} acts "
                f"like {clip.limit / scale:.2g}",
                [("scale", scaled_at), ("backward", backward), ("clip", clip.site), ("unscale", site)],
                mine,
            )


def _factor(op: Op | None) -> float:
    """The number that an operation multiplies with; zero where it does something else."""
    if op is None or len(op.facts.scalars) != 1 or len(op.inputs) != 1 or not op.facts.scalars[0]:
        return 0.0
    number = op.facts.scalars[0]
    return {"mul": number, "div": 1.0 / number}.get(op.name, 0.0)


rule = ClipOnScaled
