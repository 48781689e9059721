"""GS504: clipping happens where there is nothing to clip."""

from __future__ import annotations

from collections.abc import Sequence

from gradsan.judge.history import History
from gradsan.judge.lines.callers import Way, caller_apart, way
from gradsan.judge.order.idle_clips import IdleClips
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import NOWHERE, Backward, BackwardId, Clip, Ops, ParamId, Site, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES, NOT_ALWAYS = 3, -1


class ClipMisplaced(Rule):
    code = "GS504"
    name = "clip-misplaced"
    severity = "error"
    what = """
        Gradients are clipped before `backward()` wrote them, or after `step()` applied them; or by a norm that was
        taken while a part of them was not there yet; or after every part of a batch whose gradient is added up.
    """
    why = """
        The clip has no effect on any update. The run looks protected and is not: one bad batch can throw
        the policy off, and the norms that the clip function returns are those of another moment.
    """
    symptom = """
        None until a bad batch comes. Then the loss has a spike and the return falls within one update,
        as if there were no clipping.
    """
    fix = "put the clip between `loss.backward()` and `optimizer.step()`"
    deliberate = """
        Never: at that moment there is no gradient that a later step would apply.
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
            opt.step()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG
        """,
        """
        import torch
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG
            loss.backward()
            opt.step()
        """,
        """
        # Each parameter is stepped as soon as its gradient is there, and then has none.
        import torch
        net = torch.nn.Linear(3, 1)
        opts = {p: torch.optim.SGD([p], lr=0.1) for p in net.parameters()}
        def step(p):
            opts[p].step()
            opts[p].zero_grad()
        for p in opts:
            p.register_post_accumulate_grad_hook(step)
        for _ in range(5):
            (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG
        """,
        """
        # The norm is that of the policy's share; the critic's comes later.
        import torch
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            s = torch.randn(8, 3)
            policy_loss, value_loss = net(s)[:, 0].mean(), (net(s)[:, 1] - 1.0).pow(2).mean()
            opt.zero_grad()
            policy_loss.backward()
            norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
            value_loss.backward()
            for p in net.parameters():
                p.grad.mul_((0.5 / (norm + 1e-6)).clamp(max=1.0))  # BUG
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
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
        """,
        """
        # Every loss gives its gradients to the parameters of its own, in place of those before.
        import torch
        net = torch.nn.Linear(3, 1)
        params = list(net.parameters())
        opt = torch.optim.SGD(params, lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            for p, grad in zip(params, torch.autograd.grad(loss, params)):
                p.grad = grad
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            opt.step()
        """,
        """
        # Each loss is held to a norm of its own, and so is their sum; and the norm of the first alone is only logged.
        import torch
        net = torch.nn.Linear(3, 2)
        opt, log = torch.optim.SGD(net.parameters(), lr=0.1), []
        def limit(params, most):
            norm = torch.stack([p.grad.norm() for p in params]).norm()
            for p in params:
                p.grad.mul_((most / (norm + 1e-6)).clamp(max=1.0))
            return norm
        for _ in range(4):
            s, params = torch.randn(8, 3), list(net.parameters())
            policy_loss, value_loss = net(s)[:, 0].mean(), (net(s)[:, 1] - 1.0).pow(2).mean()
            opt.zero_grad()
            policy_loss.backward()
            log.append(limit(params, 0.5).item())
            value_loss.backward()
            limit(params, 1.0)
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._early: list[Clip] = []
        self._idle = IdleClips(history)
        self._fed_since: set[ParamId] = set()
        self._stepped: dict[Site, tuple[int, int]] = {}  # by clip: steps until then, times without a gradient
        self._right: set[Way] = set()  # through a helper that clips what was just computed
        self._clipped: dict[Site, set[BackwardId]] = {}  # what was there when this line clipped last
        self._repeated: dict[Site, int] = {}

    def on_clip(self, event: Clip) -> Verdicts:
        ledger = self.history.ledger
        owned = [pid for pid in event.params if self.history.owner_of(pid)] or event.params
        path = way(self.history, event.site, event.chain)
        if any(ledger.fresh(pid) for pid in owned):  # what nobody steps stays fresh for ever
            self._early.clear()
            self._right.add(path)
            yield from self._again_and_again(event, owned)
            return
        if self._idle.is_idle(event):
            return  # of another network than the one that is to be stepped: GS505
        stale = [pid for pid in event.held if ledger.stale(pid)]
        if stale:
            part = ledger.stale(stale[0])[-1]
            step = part.consumed[-1].site
            yield Verdict(
                caller_apart(self.history, path, self._right),
                f"this clips the gradient of {networks(self.history, stale)} after the step on "
                f"{line(self.history, step)} has applied it",
                [("backward", part.site), ("step", step), ("clip", event.site)],
                stale,
            )
        elif event.params:
            self._early.append(event)
            del self._early[:-8]
        yield from self._empty_handed(event)

    def _again_and_again(self, event: Clip, pids: Sequence[ParamId]) -> Verdicts:
        """What this has clipped already is here once more, and the same loss of another part was added. The
        sum of several losses may be held to a norm after each."""
        pid = next((pid for pid in pids if self.history.ledger.unclaimed(pid)), None)
        parts = self.history.ledger.unclaimed(pid) if pid is not None else []
        before, now = self._clipped.get(event.site, set()), {part.bid for part in parts}
        self._clipped[event.site] = now
        if not before or not before < now or len({self._loss_line(part.event) for part in parts}) > 1:
            return
        seen = self._repeated[event.site] = self._repeated.get(event.site, 0) + 1
        if seen == TIMES and self._loss_line(parts[-1].event) != NOWHERE:
            backward = parts[-1].site
            yield Verdict(
                event.site,
                f"this clips after every part of the batch: what it has clipped already is clipped again together with "
                f"what backward on {line(self.history, backward)} has added, and no step lies in between",
                [("clip", event.site), ("backward", backward)],
                event.params,
                fix="clip once, when all parts are there: after the loop, before `optimizer.step()`",
            )

    def _loss_line(self, event: Backward) -> Site:
        loss = self.history.graph.get(event.roots[0].nid) if event.roots else None
        return loss.site if loss is not None else NOWHERE

    def _empty_handed(self, event: Clip) -> Verdicts:
        """There is never a gradient when this clips, and yet the parameters are stepped in between: by hooks, say."""
        history = self.history
        owners = {o.oid: o for pid in event.params for o in history.owner_of(pid)}
        steps = sum(o.steps for o in owners.values())
        before, times = self._stepped.get(event.site, (0, 0))
        taken = not event.held and steps > before
        self._stepped[event.site] = steps, times + 1 if taken and times >= 0 else NOT_ALWAYS
        if self._stepped[event.site][1] == TIMES:
            step = max((o.last_step for o in owners.values()), default=NOWHERE)
            yield Verdict(
                event.site,
                f"there is never a gradient to be clipped here: the step on {line(history, step)} has applied them all",
                [("clip", event.site), ("step", step)],
                event.params,
            )

    def on_ops(self, event: Ops) -> Verdicts:
        found = self.history.hand.early
        for site in dict.fromkeys(early.site for early in found):
            here = [early for early in found if early.site == site]
            backward = here[0].later[-1].site
            pids = [early.pid for early in here]
            yield Verdict(
                site,
                f"this scales the gradient of {networks(self.history, pids)} by a norm that was taken on "
                f"{line(self.history, here[0].read)}, before backward on {line(self.history, backward)} added to it",
                [("clip", site), ("norm", here[0].read), ("backward", backward)],
                pids,
                fix="take the norm when all the gradient is there, after the last `backward()` before the step",
            )

    def on_backward(self, event: Backward) -> Verdicts:
        self._fed_since.update(event.fed)
        self._idle.backward(event)
        return ()

    def on_step(self, event: Step) -> Verdicts:
        self._idle.step(event)
        for clip in self._early:
            hit = set(clip.params) & set(event.held) & self._fed_since
            if hit:
                parts = [p for pid in hit for p in self.history.ledger.fresh(pid)]
                backward = parts[-1].site if parts else NOWHERE
                path = way(self.history, clip.site, clip.chain)
                yield Verdict(
                    caller_apart(self.history, path, self._right),
                    f"this clips the gradient of {networks(self.history, hit)} before backward on "
                    f"{line(self.history, backward)} has written it",
                    [("clip", clip.site), ("backward", backward), ("step", event.site)],
                    hit,
                )
        self._early = [c for c in self._early if not set(c.params) & set(event.held)]
        self._fed_since.difference_update(event.held)


rule = ClipMisplaced
