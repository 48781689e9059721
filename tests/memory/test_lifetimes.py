"""Tensors die under gradsan when they would have died without it."""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import Any

import pytest
import torch
from torch import nn

from gradsan.judge.engine import Engine
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

MODES = ("deep", "adaptive", "light")


def watched(mode: str) -> Any:
    return Session(Recorder([Engine()]), mode) if mode else contextlib.nullcontext()


def live_bytes() -> int:
    """The memory of all tensors that Python can still reach, every storage counted once."""
    storages: dict[int, int] = {}
    for item in gc.get_objects():
        # Plain tensors with memory: sparse ones keep their values in others, which are counted, and what a
        # compiler leaves behind (fake tensors) has none.
        plain = type(item) in (torch.Tensor, torch.nn.Parameter)
        if plain and item.layout == torch.strided and item.device.type == "cpu":
            storage = item.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def train(iterations: int, after: Any) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 4))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for i in range(iterations):
        x = torch.randn(32, 16)
        h = net(x)
        dist = torch.distributions.Categorical(logits=h)
        loss = -(dist.log_prob(dist.sample()) * torch.tensor([float(h[0, 0])] * 32)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        del x, h, dist, loss
        after(i)


@pytest.mark.parametrize("mode", MODES)
def test_memory_after_an_iteration_is_what_it_was_without_gradsan(mode: str) -> None:
    def measure(mode: str) -> list[int]:
        found: list[int] = []

        def look(i: int) -> None:
            if i % 10 == 9:
                gc.collect()
                found.append(live_bytes())

        gc.collect()
        before = live_bytes()
        with watched(mode):
            train(30, look)
        return [size - before for size in found]

    assert measure(mode) == measure("")


@pytest.mark.parametrize("mode", MODES)
def test_every_tensor_of_a_graph_dies_with_its_last_variable(mode: str) -> None:
    gc.disable()  # by reference count alone: a cycle through gradsan would keep them until a collection
    try:
        with watched(mode):
            net = nn.Linear(8, 4)
            x = torch.randn(2, 8)
            h = net(x)
            y = h.detach().numpy()
            view, loss = h[:, 1:], h.pow(2).mean()
            loss.backward()
            grad = net.weight.grad.clone()
            refs = [weakref.ref(t) for t in (x, h, view, loss, grad, net.weight, net.weight.grad)]
            del x, h, view, loss, grad, net, y
            assert [ref() is None for ref in refs] == [True] * len(refs)
    finally:
        gc.enable()


@pytest.mark.parametrize("mode", MODES)
def test_networks_and_optimizers_die_too(mode: str) -> None:
    with watched(mode):
        net = nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(2, 3)).sum().backward()
        opt.step()
        refs = [weakref.ref(net), weakref.ref(opt), weakref.ref(net.bias)]
        del net, opt
        gc.collect()
        assert [ref() for ref in refs] == [None] * 3


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_backward_keeps_nothing(mode: str) -> None:
    with watched(mode):
        w = torch.ones(3, requires_grad=True)
        y = w.exp()
        refs = [weakref.ref(w), weakref.ref(y)]
        y.mul_(2)
        with contextlib.suppress(RuntimeError):
            y.sum().backward()
        del w, y
        gc.collect()
        assert [ref() for ref in refs] == [None, None]
