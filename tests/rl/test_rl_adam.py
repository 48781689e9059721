"""FusedAdam and clip_norm give what PyTorch's own give, bit for bit."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from gradsan.rl.adam import FusedAdam
from gradsan.rl.agent import clip_norm


@pytest.fixture(autouse=True)
def own_chance() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        yield


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


def train(net: nn.Sequential, optimizer: torch.optim.Optimizer, updates: range) -> None:
    for update in updates:
        torch.manual_seed(update)
        optimizer.zero_grad()
        used = net if update % 3 else net[2]  # now and then the first layer has no gradient
        used(torch.randn(16, 3 if update % 3 else 8)).pow(2).mean().backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / (1 + update)
        optimizer.step()


def same(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_it_moves_as_pytorchs_own():
    ours, theirs = network(), network()
    train(ours, FusedAdam(ours.parameters(), 0.01, eps=1e-5), range(30))
    train(theirs, torch.optim.Adam(theirs.parameters(), lr=0.01, eps=1e-5, fused=True), range(30))
    assert same(ours, theirs)


def test_a_loaded_state_is_the_one_that_counts():
    net = network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(10))
    weights, state = copy.deepcopy(net.state_dict()), copy.deepcopy(optimizer.state_dict())
    train(net, optimizer, range(10, 20))
    after = copy.deepcopy(net)
    net.load_state_dict(weights)
    optimizer.load_state_dict(state)
    train(net, optimizer, range(10, 20))
    assert same(net, after)


def test_pytorchs_own_can_go_on_from_its_state():
    net, other = network(), network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(10))
    other.load_state_dict(net.state_dict())
    theirs = torch.optim.Adam(other.parameters(), lr=0.01, fused=True)
    theirs.load_state_dict(copy.deepcopy(optimizer.state_dict()))  # else both would count the same steps
    train(net, optimizer, range(10, 20))
    train(other, theirs, range(10, 20))
    assert same(net, other)


def test_a_copy_has_a_state_of_its_own():
    net = network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(4, 6))
    twin, twins = copy.deepcopy((net, optimizer))
    before = copy.deepcopy(net)
    train(twin, twins, range(6, 12))
    assert same(net, before)
    train(net, optimizer, range(6, 12))
    assert same(net, twin)


def test_a_closure_is_refused():
    optimizer = FusedAdam(network().parameters(), 0.01)
    with pytest.raises(ValueError, match="no closure"):
        optimizer.step(lambda: torch.zeros(()))


@pytest.mark.parametrize("limit", [0.01, 100.0])
def test_clipping_gives_what_pytorchs_own_gives(limit: float):
    ours, theirs = network(), network()
    for net in (ours, theirs):
        net[0](torch.ones(4, 3)).pow(2).sum().backward()  # the last layer has no gradient
    clip_norm(list(ours.parameters()), limit)
    nn.utils.clip_grad_norm_(theirs.parameters(), limit, foreach=True)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None)
        assert a.grad is None or torch.equal(a.grad, b.grad)
