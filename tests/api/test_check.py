"""`gradsan.check`: the contract holds or raises, and the error says where."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

import gradsan


class Agent:
    def __init__(self) -> None:
        self.policy = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.critic = nn.Linear(3, 1)
        self.policy_opt = torch.optim.SGD(self.policy.parameters(), lr=0.1)

    def losses(self, detached: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
        s = torch.ones(5, 3)
        value = self.critic(s)
        weight = 1.0 - (value.detach() if detached else value)  # the weight
        return (self.policy(s) * weight).mean(), value.pow(2).mean()


@pytest.fixture
def agent() -> Agent:
    return Agent()


def test_a_loss_that_keeps_the_contract_comes_back_ready_for_backward(agent: Agent) -> None:
    policy_loss, value_loss = agent.losses()
    gradsan.check(policy_loss, reaches=agent.policy, avoids=agent.critic).backward()
    gradsan.check(value_loss, reaches=agent.critic, avoids=[agent.policy, agent.policy_opt]).backward()
    assert agent.policy[0].weight.grad is not None


def parts(agent: Agent, loss: torch.Tensor) -> dict[str, object]:
    return {
        "module": agent.policy,
        "optimizer": agent.policy_opt,
        "parameter": agent.policy[0].weight,
        "parameters": agent.policy.parameters(),
        "nested": [[agent.policy], {"opt": agent.policy_opt}],
    }


@pytest.mark.parametrize("kind", ["module", "optimizer", "parameter", "parameters", "nested"])
def test_either_side_takes_modules_optimizers_tensors_and_iterables(agent: Agent, kind: str) -> None:
    policy_loss, value_loss = agent.losses()
    gradsan.check(policy_loss, reaches=parts(agent, policy_loss)[kind])
    gradsan.check(value_loss, avoids=parts(agent, value_loss)[kind])
    with pytest.raises(gradsan.GradientContractError, match=r"does not reach .*policy\.0\.weight"):
        gradsan.check(value_loss, reaches=parts(agent, value_loss)[kind])
    with pytest.raises(gradsan.GradientContractError, match=r"reaches .*policy\.0\.weight.* must avoid"):
        gradsan.check(policy_loss, avoids=parts(agent, policy_loss)[kind])


def test_tensors_on_the_way_count_and_outputs_of_one_operation_are_told_apart() -> None:
    w = torch.ones(2, 3, requires_grad=True)
    hidden = w * 2
    first, second = hidden.unbind()
    loss = first.sum()
    gradsan.check(loss, reaches=[w, hidden, first, loss], avoids=second)
    with pytest.raises(gradsan.GradientContractError, match="`second`"):
        gradsan.check(loss, reaches=second)


def test_one_parameter_out_of_reach_is_enough(agent: Agent) -> None:
    loss = agent.policy[0](torch.ones(5, 3)).mean()
    with pytest.raises(gradsan.GradientContractError) as caught:
        gradsan.check(loss, reaches=agent.policy)
    assert "policy.2.weight" in str(caught.value)
    assert "policy.0.weight" not in str(caught.value)


def test_frozen_parameters_need_not_be_reached_unless_all_are_frozen(agent: Agent) -> None:
    agent.policy[0].requires_grad_(False)
    gradsan.check(agent.losses()[0], reaches=agent.policy)
    policy = agent.policy.requires_grad_(False)
    with pytest.raises(
        gradsan.GradientContractError, match="nothing in `policy`: nothing there requires grad"
    ):
        gradsan.check(agent.losses()[1], reaches=policy)


# -- the cut ---------------------------------------------------------------------------------------


def cut_loss(policy: nn.Module) -> torch.Tensor:
    with torch.no_grad():  # the cut
        out = policy(torch.ones(5, 3))
    return (out * torch.ones(2, requires_grad=True)).mean()


def test_the_cut_is_named_as_gs202_does_when_a_watch_is_deep(agent: Agent) -> None:
    policy = agent.policy
    with gradsan.watch(), pytest.raises(gradsan.GradientContractError) as caught:
        gradsan.check(cut_loss(policy), reaches=policy)
    finding = caught.value.finding
    assert finding.rule == "GS202"
    assert finding.culprit.code == "with torch.no_grad():  # the cut"
    assert "computed under `no_grad`" in str(caught.value)


@pytest.mark.parametrize("write", [torch.Tensor.tolist, torch.Tensor.detach, lambda t: [x.item() for x in t]])
def test_round_trips_through_numbers_are_followed(agent: Agent, write: object) -> None:
    policy = agent.policy
    with gradsan.watch():
        numbers = write(policy(torch.randn(5, 3)).flatten())
        loss = torch.as_tensor(numbers).mean() * torch.ones(1, requires_grad=True)
        with pytest.raises(gradsan.GradientContractError) as caught:
            gradsan.check(loss, reaches=policy)
    assert caught.value.finding.rule == "GS202"


def test_with_a_deep_watch_a_part_that_was_never_used_is_said_to_be_unused(agent: Agent) -> None:
    with gradsan.watch():
        policy, loss = agent.policy, agent.losses()[1]
        policy(torch.ones(5, 3))
        with pytest.raises(gradsan.GradientContractError, match="its value has no part in the loss"):
            gradsan.check(loss, reaches=policy)


@pytest.mark.parametrize("mode", ["none", "light"])
def test_without_a_deep_watch_nothing_is_guessed(agent: Agent, mode: str) -> None:
    if mode == "none":
        with pytest.raises(gradsan.GradientContractError) as caught:
            gradsan.check(cut_loss(agent.policy).detach(), reaches=agent.policy)
    else:
        with gradsan.watch("light"), pytest.raises(gradsan.GradientContractError) as caught:
            gradsan.check(cut_loss(agent.policy).detach(), reaches=agent.policy)
    assert caught.value.finding is None
    assert "the loss does not require grad at all" in str(caught.value)
    assert "`gradsan run` to see which line cuts it off" in str(caught.value)


def test_a_check_that_holds_changes_nothing_about_the_findings(agent: Agent) -> None:
    with gradsan.watch() as report:
        for _ in range(12):
            loss = agent.losses()[0]
            agent.policy_opt.zero_grad()
            gradsan.check(loss, reaches=agent.policy).backward()
            agent.policy_opt.step()
    assert (report.findings, report.faults, report.iterations) == ([], [], 12)


# -- the leak --------------------------------------------------------------------------------------


def test_the_leak_is_told_as_a_path_with_source_lines_when_a_watch_is_deep(agent: Agent) -> None:
    with gradsan.watch(), pytest.raises(gradsan.GradientContractError) as caught:
        gradsan.check(agent.losses(detached=False)[0], reaches=agent.policy, avoids=agent.critic)
    operations = [name for name, _ in caught.value.path]
    assert operations[:3] == ["MeanBackward0", "MulBackward0", "RsubBackward1"]
    assert operations[-1].endswith("AccumulateGrad")
    codes = [where.code for _, where in caught.value.path if where]
    assert any("# the weight" in code for code in codes)
    assert re.search(r"rsub  .*test_check.py:\d+  weight = 1.0", str(caught.value))


def test_without_a_watch_the_path_has_operations_only_and_says_so(agent: Agent) -> None:
    with pytest.raises(gradsan.GradientContractError, match="no source lines are known") as caught:
        gradsan.check(agent.losses(detached=False)[0], avoids=agent.critic)
    assert all(where is None for _, where in caught.value.path)


def test_anomaly_mode_gives_lines_without_a_watch(agent: Agent) -> None:
    with torch.autograd.set_detect_anomaly(True):
        loss = agent.losses(detached=False)[0]
    with pytest.raises(gradsan.GradientContractError, match="# the weight"):
        gradsan.check(loss, avoids=agent.critic)


@pytest.mark.parametrize(("loss", "reaches"), [(3.0, ()), (torch.ones(1), 5), (torch.ones(1), "policy")])
def test_wrong_types_are_refused(loss: object, reaches: object) -> None:
    with pytest.raises(TypeError, match="check"):
        gradsan.check(loss, reaches=reaches)
