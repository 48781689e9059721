"""The bare script and the watched one, in turns of a fraction of a second in one process.

What a machine does besides comes and goes within seconds; two stretches next to each other meet the same of it. To
let the bare script have its turn, everything that gradsan has put into PyTorch is taken off and put back as it was.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.modules import module as modules
from torch.optim import optimizer as optim
from workloads import Update

from gradsan.judge.engine import Engine
from gradsan.observe.patches import MISSING
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

HOOKS: list[dict[Any, Any]] = [
    optim._global_optimizer_pre_hooks,
    optim._global_optimizer_post_hooks,
    modules._global_forward_pre_hooks,
]


class Watched:
    """One of gradsan's modes, which can be taken off for a while."""

    def __init__(self, mode: str) -> None:
        self._session = self.session(mode)
        self._session.__enter__()
        self._away: list[tuple[Any, str, Any]] = []
        self._hooks: list[dict[Any, Any]] = []
        self._was_deep = False

    def session(self, mode: str) -> Any:
        return Session(Recorder([Engine()]), mode)

    def off(self) -> None:
        tap = self._session.operations
        self._was_deep = self._session.tracing.tap is not None
        if self._was_deep:
            tap.leave()
        first: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        for owner, name, before, _ in self._session._patches._saved:
            first.setdefault((id(owner), name), (owner, name, before))
        self._away = [(owner, name, vars(owner).get(name, MISSING)) for owner, name, _ in first.values()]
        for owner, name, before in first.values():
            put(owner, name, before)
        self._hooks = [dict(hooks) for hooks in HOOKS]
        for hooks in HOOKS:
            hooks.clear()

    def on(self) -> None:
        for owner, name, ours in self._away:
            put(owner, name, ours)
        for hooks, ours in zip(HOOKS, self._hooks, strict=True):
            hooks.update(ours)
        if self._was_deep:
            self._session.operations.enter()

    def close(self) -> None:
        self._session.__exit__(None, None, None)


class Anomaly:
    """PyTorch's own mode."""

    def __init__(self) -> None:
        self.on()

    def on(self) -> None:
        torch.autograd.set_detect_anomaly(True)

    def off(self) -> None:
        torch.autograd.set_detect_anomaly(False)

    close = off


class Nothing:
    """The bare script against itself: what two equal measurements differ by."""

    def on(self) -> None: ...

    off = close = on


def put(owner: Any, name: str, value: Any) -> None:
    if value is MISSING:
        if name in vars(owner):
            delattr(owner, name)
    elif vars(owner).get(name, MISSING) is not value:
        setattr(owner, name, value)


def side(mode: str) -> Watched | Anomaly | Nothing:
    if mode == "bare":
        return Nothing()
    return Anomaly() if mode == "anomaly" else Watched(mode)


@contextlib.contextmanager
def opened(mode: str) -> Iterator[Watched | Anomaly | Nothing]:
    watch = side(mode)
    try:
        yield watch
    finally:
        watch.close()


def stretches(make: Callable[[], Update], mode: str, lengths: list[int]) -> list[tuple[float, float]]:
    """Seconds of the watched and of the bare script, for stretches of so many updates. CPU time of this thread:
    other processes do not count. Both train a network of their own from the same seed."""
    torch.manual_seed(0)
    bare = make()
    spent = []
    with opened(mode) as watch:
        torch.manual_seed(0)
        watched = make()
        for place, length in enumerate(lengths):
            if place % 2:  # who goes first takes turns, too
                watch.off()
                without = seconds(bare, length)
                watch.on()
                spent.append((seconds(watched, length), without))
            else:
                with_it = seconds(watched, length)
                watch.off()
                spent.append((with_it, seconds(bare, length)))
                watch.on()
    return spent


def seconds(update: Update, times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        update()
    return time.thread_time() - start
