"""`without_gradient` restores exactly what it found, and a contract names the parameter that breaks it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gradsan.rl.contracts import Contract, Contracts
from gradsan.rl.errors import ContractError
from gradsan.rl.without_gradient import without_gradient


def linear() -> nn.Linear:
    layer = nn.Linear(2, 1, bias=False, device="meta").to_empty(device="cpu")
    nn.init.ones_(layer.weight)
    return layer


def test_gradient_flows_through_frozen_parameters_but_not_into_them() -> None:
    actor, critic = linear(), linear()
    with without_gradient(critic.parameters()):
        loss = critic(actor(torch.ones(1, 2)).expand(1, 2)).sum()
    assert critic.weight.requires_grad
    loss.backward()
    assert actor.weight.grad is not None
    assert critic.weight.grad is None


def test_flags_come_back_per_parameter_even_when_the_block_raises() -> None:
    layer = nn.Linear(2, 1, device="meta")
    layer.bias.requires_grad_(False)

    def fail_inside() -> None:
        with without_gradient(layer.parameters()):
            assert not layer.weight.requires_grad
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail_inside()
    assert layer.weight.requires_grad
    assert not layer.bias.requires_grad


def test_a_shared_parameter_listed_twice_and_nesting_are_harmless() -> None:
    layer = linear()
    with without_gradient([layer.weight, layer.weight]):
        with without_gradient(layer.parameters()):
            assert not layer.weight.requires_grad
        assert not layer.weight.requires_grad
    assert layer.weight.requires_grad


def test_as_a_decorator_it_freezes_at_every_call() -> None:
    layer = linear()

    @without_gradient(layer.parameters())
    def flag() -> bool:
        return layer.weight.requires_grad

    assert [flag(), flag(), layer.weight.requires_grad] == [False, False, True]


def test_a_leak_is_named_with_its_contract() -> None:
    q, target = linear(), linear()
    contract = Contract("critic", reaches={"critic": q}, avoids={"target": target})
    x = torch.ones(1, 2)
    contract.check((q(x) - target(x).detach()).sum())
    with pytest.raises(
        ContractError,
        match=r"critic loss reaches critic, avoids target.*reaches `target\.weight`, which it must avoid",
    ):
        contract.check((q(x) - target(x)).sum())


def test_a_cut_is_named_with_its_contract() -> None:
    q = linear()
    contract = Contract("critic", reaches={"critic": q})
    with pytest.raises(ContractError, match=r"does not reach `q\.weight`"):
        contract.check(q(torch.ones(1, 2)).detach().sum())


def test_contracts_check_the_first_backward_and_every_one_when_deep() -> None:
    q = linear()
    good, bad = q(torch.ones(1, 2)).sum(), torch.zeros(())
    once = Contracts(Contract("critic", reaches={"critic": q}))
    once.check("critic", good)
    once.check("critic", bad)
    deep = Contracts(Contract("critic", reaches={"critic": q}), always=True)
    deep.check("critic", good)
    with pytest.raises(ContractError):
        deep.check("critic", bad)


def test_a_loss_that_is_a_leaf_reaches_itself() -> None:
    leaf = torch.zeros((), requires_grad=True)
    Contract("temperature", reaches={"alpha": leaf}).check(leaf)
    with pytest.raises(ContractError):
        Contract("temperature", reaches={"alpha": leaf}).check(torch.zeros(()))
