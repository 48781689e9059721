"""GS505: the clip covers other parameters than the step."""

from __future__ import annotations

import math

from gradsan.judge.history import History
from gradsan.judge.lines.callers import Way, caller_apart, way
from gradsan.judge.order.idle_clips import IdleClips
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import Backward, Clip, ParamId, Step
from gradsan.rules.base import Rule, Verdict, Verdicts

TIMES = 2
MOST = 0.6  # actor and critic are about the same size: one of them alone is not most of what is stepped


class ClipMissesParameters(Rule):
    code = "GS505"
    name = "clip-misses-parameters"
    severity = "warning"
    what = "A clip covers none, or not much more than half, of what the following step applies."
    why = """
        The classic is `params = net.parameters()`: a generator, which the optimizer uses up, so that the
        clip gets an empty list. Or the clip names another network than the one that is stepped. The
        update goes out unclipped.
    """
    symptom = """
        None until a bad batch comes. Then the loss has a spike, as if nothing were clipped; and the
        norm that the clip returns is zero, or does not move with the loss.
    """
    fix = "clip the parameters that are stepped; keep them in a list, not in the generator of `.parameters()`"
    deliberate = """
        Clipping most of an optimizer's parameters and leaving a small rest alone is taken to be a choice.
    """
    bad = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        params = net.parameters()
        opt = torch.optim.SGD(params, lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)  # BUG
            opt.step()
        """,
        """
        import torch
        net, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)  # BUG
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(8, 1)
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        for _ in range(8):
            loss = (net(torch.randn(8, 8)) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(next(net.parameters()), 0.1)  # BUG
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt, opt2 = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD(critic.parameters(), lr=0.1)
        for _ in range(6):
            opt.zero_grad()
            (actor(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
            opt.step()
            opt2.zero_grad()
            (critic(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)  # BUG
            opt2.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
        opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
        for _ in range(8):
            s = torch.randn(8, 8)
            loss = (critic(s) - 1.0).pow(2).mean() + actor(s).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(actor.parameters(), 0.1)  # BUG
            opt.step()
        """,
    )
    good = (
        """
        import torch
        net = torch.nn.Linear(3, 1)
        params = list(net.parameters())
        opt = torch.optim.SGD(params, lr=0.1)
        for _ in range(4):
            loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(params, 1.0)
            opt.step()
        """,
        """
        import torch
        actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
        for _ in range(4):
            s = torch.randn(8, 3)
            loss = (critic(s) - 1.0).pow(2).mean() + actor(s).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
            torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
            opt.step()
        """,
        """
        import torch
        net, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        opt2 = torch.optim.SGD(other.parameters(), lr=0.1)
        for _ in range(4):
            opt.zero_grad()
            (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            opt.step()
            opt2.zero_grad()
            (other(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            torch.nn.utils.clip_grad_norm_(other.parameters(), 1.0)
            opt2.step()
        """,
        """
        import torch
        memory, head = torch.nn.GRU(3, 8), torch.nn.Linear(8, 1)  # most of it, the part that can explode
        opt = torch.optim.SGD([*memory.parameters(), *head.parameters()], lr=0.1)
        for _ in range(4):
            loss = (head(memory(torch.randn(5, 8, 3))[0]) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(memory.parameters(), 1.0)
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._pending: list[Clip] = []
        self._wrong: list[Clip] = []  # of what was used up, while others were fed
        self._again: list[Clip] = []  # what had been clipped just before, while others were waiting
        self._idle = IdleClips(history)
        self._seen: dict[int, int] = {}
        self._right: set[Way] = set()  # through a helper that clips what is stepped

    def on_clip(self, event: Clip) -> Verdicts:
        self._pending.append(event)
        del self._pending[:-16]
        if self._idle.is_idle(event):
            self._wrong = [*self._wrong[-15:], event]
        if self._idle.is_repeated(event):
            self._again = [*self._again[-15:], event]
        return ()

    def on_backward(self, event: Backward) -> Verdicts:
        self._idle.backward(event)
        return ()

    def on_step(self, event: Step) -> Verdicts:
        self._idle.step(event)
        applied = {pid for pid in event.held if self.history.ledger.fresh(pid)}
        owned = set(self.history.optimizers[event.oid].params)
        mine = [c for c in self._pending if self._concerns(c, owned)]
        self._pending = [c for c in self._pending if c not in mine]
        if not mine or not applied:
            return
        covered = {pid for clip in mine for pid in clip.params} & applied
        missed = applied - covered
        clip = mine[-1]
        path = way(self.history, clip.site, clip.chain)
        if self._size(covered) >= MOST * self._size(applied) and not self._is_torn(covered, missed):
            self._right.add(path)
            return
        seen = self._seen[clip.site] = self._seen.get(clip.site, 0) + 1
        if seen >= TIMES:
            what = "no parameters at all (a used-up iterator?)" if not clip.params else "other parameters"
            if covered:
                what = f"only {networks(self.history, covered)}"
            yield Verdict(
                caller_apart(self.history, path, self._right),
                f"this clips {what}; the step on {line(self.history, event.site)} applies the unclipped "
                f"gradient of {networks(self.history, missed)}",
                [("clip", clip.site), ("step", event.site)],
                missed,
            )

    def _concerns(self, clip: Clip, owned: set[ParamId]) -> bool:
        """Meant for this optimizer: it names some of its parameters, or nothing that anyone trains, or nothing that has
        a gradient just now."""
        params = set(clip.params)
        if any(clip is again for again in self._again):
            return not params & owned
        if any(clip is wrong for wrong in self._wrong):
            return True
        return bool(params & owned) or not any(pid in self.history.ever_fed for pid in params)

    def _is_torn(self, covered: set[ParamId], missed: set[ParamId]) -> bool:
        """A layer's weight is clipped and its bias is not: nobody means that. A whole network more or less may be
        meant."""
        return bool({self._layer(pid) for pid in covered} & {self._layer(pid) for pid in missed} - {""})

    def _layer(self, pid: ParamId) -> str:
        return self.history.params[pid].name.rpartition(".")[0]

    def _size(self, pids: set[ParamId]) -> int:
        return sum(math.prod(self.history.params[pid].shape) for pid in pids)


rule = ClipMissesParameters
