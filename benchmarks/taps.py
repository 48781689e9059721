"""What each tap costs while a script only repeats itself: put on and taken off every 128 updates, in one process.

    make bench-taps

The network is the small DQN of `make bench`. Figures are microseconds per update, medians over the rounds of the
difference to the stretches without taps before and after; `nothing` shows what is left of that where no tap is on.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from interleaved import put, seconds
from torch.optim import optimizer as optim
from workloads import WORKLOADS, Update

from gradsan.judge.engine import Engine
from gradsan.observe.focus.fast_path import FastPath, KnownBoundary
from gradsan.observe.patches import MISSING, Patches
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

STRETCH, ROUNDS = 128, 150
STEPS, OTHERS = "step hooks", "everything else"
PARTS = {
    "nothing": set[str](),
    "zero_grad": {"zero_grad"},
    "backward": {"backward"},
    "steps": {STEPS},
    "all": {"zero_grad", "backward", STEPS},
}


class Taps:
    """The taps of a session that is cruising, to be put on one by one."""

    def __init__(self, patches: Patches) -> None:
        first: dict[tuple[int, str], tuple[Any, str, Any, Any]] = {}
        for owner, name, before, _ in patches._saved:
            first.setdefault((id(owner), name), (owner, name, vars(owner).get(name, MISSING), before))
        self._patched = list(first.values())
        self._hooks = (optim._global_optimizer_pre_hooks, optim._global_optimizer_post_hooks)
        self._hooked = [dict(hooks) for hooks in self._hooks]

    @contextmanager
    def only(self, names: set[str]) -> Iterator[None]:
        self.put({*names, OTHERS})
        yield
        self.put(set())

    def put(self, names: set[str]) -> None:
        for owner, name, ours, before in self._patched:
            known = name if name in {"zero_grad", "backward"} else OTHERS
            put(owner, name, ours if known in names else before)
        for hooks, ours in zip(self._hooks, self._hooked, strict=True):
            hooks.clear()
            hooks.update(ours if STEPS in names else {})


def expect_anything(fast_path: FastPath) -> None:
    """Every known boundary may follow every other: so that taps can be left out."""

    def tokens(node: KnownBoundary) -> set[int]:
        return {
            *node,
            *(t for following in node.values() if following is not fast_path.root for t in tokens(following)),
        }

    anywhere = KnownBoundary()
    anywhere.update(dict.fromkeys(tokens(fast_path.root), anywhere))
    fast_path.node, fast_path.root = anywhere, KnownBoundary()


def stretch(update: Update) -> float:
    return seconds(update, STRETCH) / STRETCH * 1e6


def measure(make: Callable[[], Update]) -> dict[str, list[float]]:
    torch.manual_seed(0)
    costs: dict[str, list[float]] = {part: [] for part in PARTS}
    with Session(Recorder([Engine()]), "light") as session:
        update = make()
        for _ in range(100):
            update()
        fast_path = session.fast_path
        assert fast_path.on
        taps = Taps(session._patches)
        expect_anything(fast_path)
        with taps.only(set()):
            before = stretch(update)
        order = list(PARTS)
        for _ in range(ROUNDS):
            random.shuffle(order)
            for part in order:
                with taps.only(PARTS[part]):
                    on = stretch(update)
                off = stretch(update)
                costs[part].append(on - (before + off) / 2)
                before = off
        assert fast_path.on
        taps.put({*PARTS["all"], OTHERS})
    return costs


def main() -> None:
    torch.set_num_threads(1)
    for part, costs in measure(WORKLOADS["DQN 4-64-64-2"]).items():
        low, middle, high = statistics.quantiles(costs, n=4)
        print(f"{part:10} {middle:6.1f} µs ({low:.1f} to {high:.1f})")


if __name__ == "__main__":
    main()
