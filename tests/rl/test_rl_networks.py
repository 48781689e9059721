"""Networks are plain layers; targets and seeds behave."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradsan.rl.networks import Target, mlp, seeded


@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_a_perceptron_is_layers_with_activations_between_them(activation: type[nn.Module]) -> None:
    with seeded(0):
        kinds = [[type(layer) for layer in mlp(sizes, activation)] for sizes in ((3, 8, 8, 2), (3, 2))]
    assert kinds == [[nn.Linear, activation, nn.Linear, activation, nn.Linear], [nn.Linear]]


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
