"""For every argument of every loss: does gradient reach it, is a graph refused, or does it only select?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from gradsan.rl import losses
from gradsan.rl.errors import GraphError

B, A = 5, 3


@dataclass
class Flow:
    """`trained` receive gradient, `refused` must be constant, `selects` may carry a graph without effect."""

    make: Callable[[torch.Generator], dict[str, Any]]
    trained: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    selects: set[str] = field(default_factory=set)


def v(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(shape or (B,), generator=generator)


ACTION = torch.tensor([0, 2, 1, 1, 0])
ENDED = torch.tensor([False, True, False, False, True])

FLOWS = {
    "td_target": Flow(
        lambda g: {"reward": v(g), "terminated": ENDED, "next_value": v(g), "discount": v(g).abs()},
        refused={"reward", "next_value", "discount"},
    ),
    "q_learning_target": Flow(
        lambda g: {"reward": v(g), "terminated": ENDED, "next_q": v(g, B, A), "discount": 0.9},
        refused={"reward", "next_q"},
    ),
    "double_q_target": Flow(
        lambda g: {
            "reward": v(g),
            "terminated": ENDED,
            "next_q_online": v(g, B, A),
            "next_q_target": v(g, B, A),
            "discount": 0.9,
        },
        refused={"reward", "next_q_target"},
        selects={"next_q_online"},
    ),
    "squared_td_loss": Flow(
        lambda g: {"q": v(g, B, A), "action": ACTION, "target": v(g)}, trained={"q"}, refused={"target"}
    ),
    "huber_td_loss": Flow(
        lambda g: {"q": v(g, B, A), "action": ACTION, "target": v(g), "threshold": 1.0},
        trained={"q"},
        refused={"target"},
    ),
    "value_loss": Flow(lambda g: {"value": v(g), "returns": v(g)}, trained={"value"}, refused={"returns"}),
    "categorical_log_prob": Flow(lambda g: {"logits": v(g, B, A), "action": ACTION}, trained={"logits"}),
    "categorical_entropy": Flow(lambda g: {"logits": v(g, B, A)}, trained={"logits"}),
    "gaussian_log_prob": Flow(
        lambda g: {"mean": v(g, B, A), "log_std": v(g, B, A), "action": v(g, B, A)},
        trained={"mean", "log_std"},
        refused={"action"},
    ),
    "gaussian_entropy": Flow(lambda g: {"log_std": v(g, B, A)}, trained={"log_std"}),
    "reinforce_loss": Flow(
        lambda g: {"log_prob": v(g), "returns": v(g), "baseline": v(g)},
        trained={"log_prob"},
        refused={"returns", "baseline"},
    ),
    "a2c_loss": Flow(
        lambda g: {"log_prob": v(g), "advantage": v(g)}, trained={"log_prob"}, refused={"advantage"}
    ),
    "ppo_clip_loss": Flow(
        lambda g: {"log_prob": v(g), "old_log_prob": v(g), "advantage": v(g), "clip": 0.2},
        trained={"log_prob"},
        refused={"old_log_prob", "advantage"},
    ),
    "ppo_value_loss": Flow(
        lambda g: {"value": v(g), "old_value": v(g), "returns": v(g), "clip": 0.2},
        trained={"value"},
        refused={"old_value", "returns"},
    ),
    "tanh_gaussian_sample": Flow(
        lambda g: {"mean": v(g, B, A), "log_std": v(g, B, A), "noise": v(g, B, A)},
        trained={"mean", "log_std"},
        refused={"noise"},
    ),
    "sac_target": Flow(
        lambda g: {
            "reward": v(g),
            "terminated": ENDED,
            "next_q": (v(g), v(g)),
            "next_log_prob": v(g),
            "temperature": torch.tensor(0.3),
            "discount": 0.9,
        },
        refused={"reward", "next_q", "next_log_prob", "temperature"},
    ),
    "twin_critic_loss": Flow(
        lambda g: {"q": (v(g), v(g)), "target": v(g)}, trained={"q"}, refused={"target"}
    ),
    "sac_actor_loss": Flow(
        lambda g: {"log_prob": v(g), "q": (v(g), v(g)), "temperature": torch.tensor(0.3)},
        trained={"log_prob", "q"},
        refused={"temperature"},
    ),
    "sac_temperature_loss": Flow(
        lambda g: {"log_temperature": torch.tensor(-0.5), "log_prob": v(g), "target_entropy": -1.0},
        trained={"log_temperature"},
        refused={"log_prob"},
    ),
    "smoothed_action": Flow(
        lambda g: {"action": v(g, B, A), "noise": v(g, B, A), "noise_clip": 0.5},
        refused={"action", "noise"},
    ),
    "td3_target": Flow(
        lambda g: {"reward": v(g), "terminated": ENDED, "next_q": (v(g), v(g)), "discount": 0.9},
        refused={"reward", "next_q"},
    ),
    "td3_actor_loss": Flow(lambda g: {"q": v(g)}, trained={"q"}),
}
CONSTANTS = {"terminated", "action", "discount", "threshold", "clip", "noise_clip", "target_entropy"}


def arguments_of(name: str) -> dict[str, Any]:
    return FLOWS[name].make(torch.Generator().manual_seed(7))


def tensors_in(value: Any) -> list[Tensor]:
    return list(value) if isinstance(value, tuple) else [value]


def scalar(result: Tensor | tuple[Tensor, ...]) -> Tensor:
    return sum((part.double().pow(2).sum() for part in tensors_in(result)), torch.zeros(()).double())


def pairs(kind: str) -> list[tuple[str, str]]:
    return [(name, argument) for name, flow in FLOWS.items() for argument in sorted(getattr(flow, kind))]


def test_every_torch_loss_and_every_argument_is_in_the_table() -> None:
    assert set(FLOWS) == set(losses.__all__) - {"gae", "n_step_returns"}
    for name, flow in FLOWS.items():
        named = set(inspect.signature(getattr(losses, name)).parameters)
        assert named == flow.trained | flow.refused | flow.selects | (CONSTANTS & named), name


@pytest.mark.parametrize(("name", "argument"), pairs("trained"))
def test_gradient_reaches(name: str, argument: str) -> None:
    arguments = arguments_of(name)
    leaves = [tensor.requires_grad_() for tensor in tensors_in(arguments[argument])]
    scalar(getattr(losses, name)(**arguments)).backward()
    for leaf in leaves:
        assert leaf.grad is not None
        assert leaf.grad.abs().sum() > 0


@pytest.mark.parametrize(("name", "argument"), pairs("refused"))
def test_a_graph_is_refused_with_a_sentence_that_names_the_argument(name: str, argument: str) -> None:
    for index in range(len(tensors_in(arguments_of(name)[argument]))):
        arguments = arguments_of(name)
        tensors_in(arguments[argument])[index].requires_grad_()
        with pytest.raises(GraphError, match=rf"{argument}\d? must be a constant.*detach\(\)"):
            getattr(losses, name)(**arguments)


@pytest.mark.parametrize(("name", "argument"), pairs("selects"))
def test_a_selecting_argument_may_carry_a_graph_and_passes_none_on(name: str, argument: str) -> None:
    arguments = arguments_of(name)
    arguments[argument].requires_grad_()
    assert not getattr(losses, name)(**arguments).requires_grad


@pytest.mark.parametrize(("name", "argument"), pairs("trained"))
def test_gradient_equals_finite_differences(name: str, argument: str) -> None:
    arguments = {
        key: tuple(part.double() for part in value)
        if isinstance(value, tuple)
        else value.double()
        if isinstance(value, Tensor) and value.is_floating_point()
        else value
        for key, value in arguments_of(name).items()
    }
    leaves = tuple(tensor.requires_grad_() for tensor in tensors_in(arguments[argument]))

    def of(*values: Tensor) -> Tensor | tuple[Tensor, ...]:
        replaced = values if isinstance(arguments[argument], tuple) else values[0]
        result: Tensor | tuple[Tensor, ...] = getattr(losses, name)(**{**arguments, argument: replaced})
        return result

    assert torch.autograd.gradcheck(of, leaves)
