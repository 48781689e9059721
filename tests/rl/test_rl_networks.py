"""Networks are plain layers; targets and seeds behave."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradsan.rl.networks import MANY, Linear, Tanh, Target, mlp, seeded


@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_a_perceptron_is_layers_with_activations_between_them(activation: type[nn.Module]) -> None:
    with seeded(0):
        kinds = [[type(layer) for layer in mlp(sizes, activation)] for sizes in ((3, 8, 8, 2), (3, 2))]
    assert kinds == [[Linear, activation, Linear, activation, Linear], [Linear]]
    assert issubclass(Linear, nn.Linear)


@pytest.mark.parametrize("shape", [(4, 256), (512, 256), (2, 300, 256)])
@pytest.mark.parametrize("out", [2, 256])
def test_without_a_gradient_a_layer_puts_out_the_same(shape: tuple[int, ...], out: int) -> None:
    with seeded(0):
        layer, x = Linear(256, out), torch.randn(shape)
    whole, with_gaps = layer(x).detach(), torch.empty(*shape[:-1], 512)[..., ::2].copy_(x)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), whole, rtol=0, atol=1e-5)
        torch.testing.assert_close(layer(with_gaps), whole, rtol=0, atol=1e-5)
        doubled = layer.double()(x.double())
    torch.testing.assert_close(doubled, whole.double(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("size", [MANY - 1, MANY])
def test_tanh_and_its_gradient_are_those_of_pytorch(size: int) -> None:
    own = torch.linspace(-10, 10, size, requires_grad=True)
    theirs = own.detach().clone().requires_grad_()
    value, expected = Tanh()(own.clone()), torch.tanh(theirs)
    # Twice the rounding of a σ near 1: two steps of 2⁻²³. What the gradient 1 − tanh² loses of it is as much again.
    torch.testing.assert_close(value, expected, rtol=0, atol=2**-22)
    value.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(own.grad, theirs.grad, rtol=0, atol=2**-21)


def test_tanh_of_what_overflows_is_one() -> None:
    far = torch.full((MANY,), 3e38)
    assert torch.equal(Tanh()(far.clone()), torch.ones(MANY))
    assert torch.equal(Tanh()(-far), -torch.ones(MANY))
    assert Tanh()(far.fill_(torch.nan)).isnan().all()


def test_a_target_is_a_copy_that_nothing_trains() -> None:
    with seeded(0):
        net = mlp((3, 8, 2), nn.Tanh)
    target, x = Target(net), torch.ones(1, 3)
    assert torch.equal(target.network(x), net(x))
    assert not any(weight.requires_grad for weight in target.network.parameters())


def test_seeding_weights_leaves_the_generators_of_other_devices_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def untouched(seed: int) -> None:
        raise AssertionError(f"every GPU was seeded with {seed}")

    monkeypatch.setattr(torch.cuda, "manual_seed_all", untouched)
    with seeded(3):
        drawn = torch.rand(2)
    with seeded(3):
        assert torch.equal(torch.rand(2), drawn)
