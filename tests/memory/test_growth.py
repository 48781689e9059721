"""However long a script runs, and whatever it makes anew all the time, gradsan's tables stop growing."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

import gradsan.judge.provenance as provenance
import gradsan.observe.focus.fast_path as fast_path
import gradsan.observe.ops.writes as writes
import gradsan.observe.registry as registry
from gradsan.judge.engine import Engine
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

WARM_UP, FURTHER, LOOK, EVERY = 150, 150, 50, 10


def step(opt: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    opt.zero_grad()
    loss.backward()
    opt.step()


def same_shape() -> Iterator[None]:
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    while True:
        yield step(opt, net(torch.randn(4, 3)).pow(2).mean())


def varying_length() -> Iterator[None]:
    cell = nn.GRUCell(3, 4)
    opt = torch.optim.SGD(cell.parameters(), lr=0.01)
    length = 0
    while True:
        h, length = torch.zeros(2, 4), (length + 3) % 7
        for _ in range(length + 1):
            h = cell(torch.randn(2, 3), h)
        yield step(opt, h.pow(2).mean())


def new_leaves() -> Iterator[None]:
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    while True:
        x, scale = torch.randn(4, 3, requires_grad=True), nn.Parameter(torch.ones(3))
        yield step(opt, net(x * scale).pow(2).mean())


def new_optimizers() -> Iterator[None]:
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    while True:
        plan = torch.zeros(1, 3, requires_grad=True)
        step(torch.optim.SGD([plan], lr=0.1), (net(plan) - 1).pow(2).mean())
        yield step(opt, net(torch.randn(4, 3)).pow(2).mean())


def by_hand() -> Iterator[None]:
    net = nn.Linear(3, 1)
    while True:
        net(torch.randn(4, 3)).pow(2).mean().backward()
        with torch.no_grad():
            for p in net.parameters():
                p -= 0.01 * p.grad
                p.grad = None
        yield


def tables(root: Any) -> dict[str, int]:
    """Every container that gradsan's own objects lead to, by path, with its size."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    queue: deque[tuple[str, Any]] = deque([("session", root)])
    while queue:
        path, value = queue.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict | list | set | deque):
            found[path] = max(found.get(path, 0), len(value))
            items = value.values() if isinstance(value, dict) else value
            queue.extend((path + "[]", item) for item in list(items)[:50])
        elif type(value).__module__.startswith("gradsan."):
            named = (*getattr(type(value), "__slots__", ()), *getattr(value, "_fields", ()))
            slots = {n: getattr(value, n, None) for n in named}
            attributes = {**getattr(value, "__dict__", {}), **slots}
            queue.extend((f"{path}.{name}", item) for name, item in attributes.items())
    return found


def run(training: Iterator[None], iterations: int) -> None:
    for _ in range(iterations):
        next(training)


def sizes(session: Session, training: Iterator[None]) -> dict[str, list[int]]:
    """Of every table, at several moments."""
    found: dict[str, list[int]] = {}
    for _ in range(LOOK // EVERY):
        run(training, EVERY)
        for path, size in tables(session).items():
            found.setdefault(path, []).append(size)
    return found


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits low enough to be reached in a test."""
    monkeypatch.setattr(writes, "KEEP_OPERATIONS", 500)
    monkeypatch.setattr(writes, "KEEP_ADDRESSES", 64)
    monkeypatch.setattr(provenance, "KEEP", 1_000)
    monkeypatch.setattr(registry, "MANY", 64)
    monkeypatch.setattr(fast_path, "MEMORY", 500)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("mode", ["light", "adaptive", "deep"])
@pytest.mark.parametrize("script", [same_shape, varying_length, new_leaves, new_optimizers, by_hand])
def test_tables_stop_growing(script: Any, mode: str) -> None:
    engine = Engine()
    session = Session(Recorder([engine]), mode)
    with session:
        training = script()
        run(training, WARM_UP)
        before = sizes(session, training)
        run(training, FURTHER)
        after = sizes(session, training)
    # A cache between two limits may be anywhere between full and half full: it grows where its smallest size
    # is more than its largest was. Samples for the charts thin out with time, and are fewer than iterations.
    grown = {path: (max(before.get(path, [0])), min(found)) for path, found in after.items()}
    assert not {path: size for path, size in grown.items() if size[1] >= size[0] + FURTHER // 2}
    assert not engine.history.faults


def test_memory_of_leaves_that_are_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which addresses return is up to the allocator: here none does."""
    monkeypatch.setattr(registry, "MANY", 64)
    leaves = registry.Leaves(lambda event: None, lambda pids: None)
    occupied = []
    for _ in range(1_000):
        leaf = torch.zeros(2, requires_grad=True)
        occupied.append(leaf.untyped_storage())
        leaves.pid(leaf)
    assert len({storage._cdata for storage in occupied}) == 1_000
    assert len(leaves._storages) <= 4 * 64


def test_a_look_now_and_then_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradsan.observe.focus.fast_path.between_looks", lambda iterations: 4)
    monkeypatch.setattr("gradsan.observe.focus.attention.AT_RANDOM", 1)  # every look is a deep one
    monkeypatch.setattr(writes, "KEEP_BETWEEN_LOOKS", 20)
    engine = Engine()
    session = Session(Recorder([engine]), "adaptive")
    with session:
        training = same_shape()
        for _ in range(1_000):
            next(training)
        before = tables(session)
        for _ in range(1_000):
            next(training)
        after = tables(session)
    assert len(engine.history.attention) > 100
    values = (
        "history.graph.ops",
        "history.graph.consumers",
        "operations.writes.kept",
        "operations.writes.log",
    )
    watched = [path for path in after if path.endswith(values)]
    assert len(watched) == len(values)
    assert {path: after[path] for path in watched if after[path] > before[path] + 20} == {}
