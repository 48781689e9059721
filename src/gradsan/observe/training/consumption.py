"""For the trial runs of `gradsan fix`: the bits of every gradient that an optimizer takes, and an end after enough
updates. It stands beside the taps of a session, and no ordinary run has it."""

from __future__ import annotations

import hashlib
import math
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch.optim import optimizer as optim

from gradsan.observe.containment import Containment
from gradsan.observe.outlet import Recording
from gradsan.observe.registry import Known
from gradsan.observe.unseen import is_dense, is_readable
from gradsan.record.events import Consumed, GradientDigest, ParamId

MOST_STEPS = 256
TURNS = (0.0, 0.7, 1.9, 2.6)  # per element, of the directions that gradients are projected on
MOST_BYTES = 1 << 30  # a large network is compared at its first updates only


class ConsumptionTap:
    """`after_update` is called when a step is done, outside of all containment: it may end the process."""

    def __init__(
        self, containment: Containment, sink: Recording, known: Known, after_update: Callable[[], None]
    ) -> None:
        self._contain, self._emit = containment.contain, sink.emit
        self._known = known
        self._after_update = after_update
        self._steps = 0
        self._bytes = 0
        self._hooks: list[Any] = []

    def install(self) -> None:
        """After the session, so that a step is booked when this hears of its end."""
        self._hooks = [
            optim.register_optimizer_step_pre_hook(self._before),
            optim.register_optimizer_step_post_hook(lambda *_: self._after_update()),
        ]

    def remove(self) -> None:
        for hook in self._hooks:
            hook.remove()

    def _before(self, opt: Any, *_: Any) -> None:
        if self._steps < MOST_STEPS and self._bytes < MOST_BYTES:
            self._contain("consumption", self._note, opt, sys._getframe(1))

    def _note(self, opt: torch.optim.Optimizer, frame: FrameType) -> None:
        optimizers = self._known.optimizers
        oid = optimizers.oid(opt)
        if oid is None:
            return
        self._steps += 1
        own = optimizers.readable(opt)
        ids = {id(p) for p in own}
        others = {
            id(p): p
            for other in optimizers.alive()
            for p in optimizers.readable(other)
            if other is not opt and id(p) not in ids
        }
        site = self._known.sites.here(frame)
        self._emit(Consumed(oid, site, self._digests(own), self._digests(others.values())))

    def _digests(self, params: Iterable[torch.Tensor]) -> tuple[GradientDigest, ...]:
        held = [(p, p.grad) for p in params if p.grad is not None and is_readable(p.grad)]
        return tuple(self._digest(self._known.leaves.pid(p), grad) for p, grad in held)

    def _digest(self, pid: ParamId, grad: torch.Tensor) -> GradientDigest:
        dense = grad.detach() if is_dense(grad) else grad.detach().to_dense()
        flat = dense.cpu().contiguous().reshape(-1)
        data = flat.view(torch.uint8).numpy()
        self._bytes += data.nbytes
        digest = hashlib.blake2b(data.tobytes(), digest_size=8).hexdigest()
        return GradientDigest(pid, digest, _direction(flat))


def _direction(grad: torch.Tensor) -> tuple[float, ...]:
    """What a clip of its norm leaves as it is. Nothing for a gradient that is zero or not finite."""
    numbers = (torch.view_as_real(grad) if grad.is_complex() else grad).double().reshape(-1)
    length = numbers.norm().item()
    if not 0.0 < length < math.inf:
        return ()
    places = torch.arange(1, numbers.numel() + 1, dtype=torch.float64)
    return tuple(torch.dot(numbers, torch.cos(places * turn)).item() / length for turn in TURNS)
