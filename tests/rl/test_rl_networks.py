"""The perceptron takes shortcuts; what it computes and trains must be what plain layers do."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradsan.rl.networks import Activation, Perceptron, Target, seeded

KINDS = [(torch.relu_, nn.ReLU), (torch.tanh_, nn.Tanh)]


def perceptron(sizes: tuple[int, ...], activation: Activation = torch.relu_) -> Perceptron:
    with seeded(0):
        return Perceptron(sizes, activation)


def plain(net: Perceptron, activation: type[nn.Module]) -> nn.Sequential:
    """The same layers, shared, as everybody writes them."""
    first, second, last = net
    return nn.Sequential(first, activation(), second, activation(), last)


@pytest.mark.parametrize(("function", "module"), KINDS)
def test_values_and_gradients_are_those_of_plain_layers(function: Activation, module: type[nn.Module]):
    net = perceptron((3, 8, 8, 2), function)
    gradients = []
    for forward in (net, plain(net, module)):
        x = torch.linspace(-1, 1, 15).reshape(5, 3).requires_grad_()
        output = forward(x)
        gradients.append((output, *torch.autograd.grad(output.square().sum(), (x, *net.parameters()))))
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize(("function", "_"), KINDS)
@pytest.mark.parametrize("sizes", [(3, 2), (3, 8, 2)])
def test_the_input_is_not_overwritten(function: Activation, _: type[nn.Module], sizes: tuple[int, ...]):
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    before = x.clone()
    perceptron(sizes, function)(x)
    assert torch.equal(x, before)


def test_hooks_on_the_network_run():
    net, seen = perceptron((3, 8, 2)), []
    net.register_forward_hook(lambda *_: seen.append("forward"))
    net(torch.zeros(1, 3))
    assert seen == ["forward"]


def test_a_target_copies_the_activation_too():
    net = perceptron((3, 8, 2), torch.tanh_)
    x = torch.ones(1, 3)
    assert torch.equal(Target(net).network(x), net(x))


def test_the_first_layer_stays_stored_by_columns():
    """Copies, loaded states and gradients keep the layout that makes its gradients fast."""
    net = perceptron((3, 8, 2))
    copy = Target(net).network
    copy.load_state_dict({name: value.contiguous() for name, value in net.state_dict().items()})
    net(torch.ones(1, 3)).sum().backward()
    for tensor in (net[0].weight, copy[0].weight, net[0].weight.grad):
        assert tensor.stride() == (1, 8)


def test_seeding_weights_leaves_the_generators_of_other_devices_alone(monkeypatch: pytest.MonkeyPatch):
    def untouched(seed: int) -> None:
        raise AssertionError(f"every GPU was seeded with {seed}")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", untouched)
    with seeded(3):
        drawn = torch.rand(2)
    with seeded(3):
        assert torch.equal(torch.rand(2), drawn)
