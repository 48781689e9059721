"""FusedAdam gives what PyTorch's own gives, bit for bit; clip_norm but for the precision of a sum."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import nn
from torch.optim import optimizer as torch_optimizer

from gradsan.rl.adam import FusedAdam
from gradsan.rl.agent import clip_norm


@pytest.fixture(autouse=True)
def own_chance() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        yield


PARTS = [3, 13, 1000]  # often, once, never


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


def train(net: nn.Sequential, optimizer: torch.optim.Optimizer, updates: range, part_every: int = 3) -> None:
    """In some updates the first layer has no gradient."""
    for update in updates:
        torch.manual_seed(update)
        optimizer.zero_grad()
        used, size = (net, 3) if update % part_every else (net[2], 8)
        used(torch.randn(16, size)).pow(2).mean().backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.01 / (1 + update)
        optimizer.step()


def same(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


@pytest.mark.parametrize("part_every", PARTS)
def test_it_moves_as_pytorchs_own(part_every: int):
    ours, theirs = network(), network()
    train(ours, FusedAdam(ours.parameters(), 0.01, eps=1e-5), range(1, 30), part_every)
    theirs_adam = torch.optim.Adam(theirs.parameters(), lr=0.01, eps=1e-5, fused=True)
    train(theirs, theirs_adam, range(1, 30), part_every)
    assert same(ours, theirs)


@pytest.mark.parametrize("part_every", PARTS)
def test_a_loaded_state_is_the_one_that_counts(part_every: int):
    net = network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(1, 10), part_every)
    weights, state = copy.deepcopy(net.state_dict()), copy.deepcopy(optimizer.state_dict())
    train(net, optimizer, range(10, 20), part_every)
    after = copy.deepcopy(net)
    net.load_state_dict(weights)
    optimizer.load_state_dict(state)
    train(net, optimizer, range(10, 20), part_every)
    assert same(net, after)


@pytest.mark.parametrize("part_every", PARTS)
def test_pytorchs_own_can_go_on_from_its_state(part_every: int):
    net, other = network(), network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(1, 10), part_every)
    other.load_state_dict(net.state_dict())
    theirs = torch.optim.Adam(other.parameters(), lr=0.01, fused=True)
    theirs.load_state_dict(copy.deepcopy(optimizer.state_dict()))  # else both would share their averages
    train(net, optimizer, range(10, 20), part_every)
    train(other, theirs, range(10, 20), part_every)
    assert same(net, other)


@pytest.mark.parametrize("part_every", PARTS)
def test_a_copy_has_a_state_of_its_own(part_every: int):
    net = network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(4, 6), part_every)
    twin, twins = copy.deepcopy((net, optimizer))
    before = copy.deepcopy(net)
    train(twin, twins, range(6, 12), part_every)
    assert same(net, before)
    train(net, optimizer, range(6, 12), part_every)
    assert same(net, twin)


def test_clearing_gives_what_pytorchs_own_gives():
    net = network()
    optimizer = FusedAdam(net.parameters(), 0.01)
    train(net, optimizer, range(1, 2))
    optimizer.zero_grad(set_to_none=False)
    assert all(parameter.grad is not None and not parameter.grad.any() for parameter in net.parameters())
    optimizer.zero_grad()
    assert all(parameter.grad is None for parameter in net.parameters())


def hooks_of_a_step(kind: type[torch.optim.Optimizer]) -> list[tuple[str, bool, bool]]:
    """Which hooks ran, in what order, whether they were given their optimizer, and whether it had stepped."""
    net, seen = network(), []
    optimizer = kind(net.parameters(), 0.01)
    start = copy.deepcopy(net)

    def note(place: str) -> Callable[..., None]:
        return lambda opt, args, kwargs: seen.append(
            (place, opt is args[0] is optimizer, not same(net, start))
        )

    handles = [
        optimizer.register_step_post_hook(note("own, after")),
        optimizer.register_step_pre_hook(note("own, before")),
        torch_optimizer.register_optimizer_step_post_hook(note("global, after")),
        torch_optimizer.register_optimizer_step_pre_hook(note("global, before")),
    ]
    # A scheduler wraps `step`, and warns if it was left out.
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    train(net, optimizer, range(1, 2))
    scheduler.step()
    for handle in handles:
        handle.remove()
    return seen


def test_hooks_run_around_a_step_as_with_pytorchs_own():
    assert hooks_of_a_step(FusedAdam) == hooks_of_a_step(torch.optim.Adam)
    assert [place for place, *_ in hooks_of_a_step(FusedAdam)] == [
        "global, before",
        "own, before",
        "own, after",
        "global, after",
    ]


def test_a_closure_is_refused():
    optimizer = FusedAdam(network().parameters(), 0.01)
    with pytest.raises(ValueError, match="no closure"):
        optimizer.step(lambda: torch.zeros(()))


@pytest.mark.parametrize("limit", [0.01, 100.0])
@pytest.mark.parametrize("spoiled", [(), (torch.nan,), (torch.inf,), (torch.inf, torch.nan)])
def test_clipping_gives_what_pytorchs_own_gives(limit: float, spoiled: tuple[float, ...]):
    ours, theirs = network(), network()
    for net in (ours, theirs):
        net[0](torch.ones(4, 3)).pow(2).sum().backward()  # the last layer has no gradient
        for gradient, value in zip((net[0].weight.grad, net[0].bias.grad), spoiled, strict=False):
            gradient.view(-1)[0] = value
    clip_norm(list(ours.parameters()), limit)
    nn.utils.clip_grad_norm_(theirs.parameters(), limit, foreach=True)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            # Python adds the squares in double precision: the norm's last bits may differ.
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-6, atol=0, equal_nan=True)
