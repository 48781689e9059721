"""Part 3, first half: gradients that are cut off, or flow where they must not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.backward import history
from gradsan.learn.checks.intact import LR, UPDATES, sgd
from gradsan.learn.checks.parameters import mse
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.probe import same, sgd_moved


def value_net() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def td_batch(rows: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    return torch.randn(rows, 3), torch.randn(rows), torch.randn(rows, 3)


def episode(steps: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """States, actions, returns."""
    return torch.randn(steps, 3), torch.randint(4, (steps,)), torch.randn(steps)


def critic(states: Tensor, actions: Tensor) -> Tensor:
    """A smooth opinion on continuous actions, best where the action follows the state."""
    return torch.sin(states[:, :2]).sum(-1) - (actions - states[:, :2]).pow(2).sum(-1)


def _td(attempt: Attempt) -> None:
    net, (states, rewards, next_states) = value_net(), td_batch()
    before = copy.deepcopy(net)
    target = (rewards + 0.9 * before(next_states).squeeze(-1)).detach()
    attempt.update(net, sgd(net), (states, rewards, next_states), 0.9)
    why = "Does the gradient reach the value of the present state, and only that?"
    sgd_moved(net, before, lambda: mse(before, states, target), LR, "update", why)


values("detached_target")(_td)
values("no_grad")(_td)


@values("item")
def _(attempt: Attempt) -> None:
    net, (states, returns) = value_net(), history()
    before = copy.deepcopy(net)
    logged = attempt.update(net, sgd(net), states, returns)
    sgd_moved(net, before, lambda: mse(before, states, returns), LR, "update")
    same(logged, mse(before, states, returns), "The loss that update returns for the log")


@values("sampling")
def _(attempt: Attempt) -> None:
    policy, states, table = nn.Linear(3, 4), torch.randn(8, 3), torch.randn(4)
    before, drawn = copy.deepcopy(policy), []

    def reward_of(actions: Tensor) -> Tensor:
        drawn.append(actions.detach().clone())
        return table[actions]

    attempt.update(policy, sgd(policy), states, reward_of)
    if len(drawn) != 1 or drawn[0].shape != (8,):
        raise Wrong("update should draw one action per state and ask for their rewards once.")
    actions, rewards = drawn[0], table[drawn[0]]

    def loss() -> Tensor:
        logits = before(states)
        return _surrogate(logits, actions, rewards) - 0.01 * torch.mean(_entropy(logits))

    why = "Is the loss the mean of -(log-probability · reward), less the entropy bonus?"
    sgd_moved(policy, before, loss, LR, "update", why)


@values("log_prob_tensor")
def _(attempt: Attempt) -> None:
    policy, (states, actions, returns) = nn.Linear(3, 4), episode()
    before = copy.deepcopy(policy)
    attempt.update(policy, sgd(policy), states, actions, returns)
    why = "Do the log-probs still carry their history?"
    sgd_moved(policy, before, lambda: _surrogate(before(states), actions, returns), LR, "update", why)


def _surrogate(logits: Tensor, actions: Tensor, weights: Tensor) -> Tensor:
    chosen = torch.log_softmax(logits, dim=-1)[torch.arange(len(actions)), actions]
    return -torch.mean(chosen * weights)


def _entropy(logits: Tensor) -> Tensor:
    log_probs = torch.log_softmax(logits, dim=-1)
    return -(log_probs.exp() * log_probs).sum(dim=-1)


@values("rsample")
def _(attempt: Attempt) -> None:
    policy, states = nn.Linear(3, 4), torch.randn(6, 3)
    before, seen = copy.deepcopy(policy), []

    def judge(states: Tensor, actions: Tensor) -> Tensor:
        seen.append(actions.detach().clone())
        return critic(states, actions)

    attempt.update(policy, sgd(policy), states, judge)
    if len(seen) != 1 or seen[0].shape != (6, 2):
        raise Wrong("update should ask the critic once, about one action per state.")
    mean, log_std = before(states).detach().chunk(2, dim=-1)
    noise = (seen[0] - mean) / log_std.exp()
    if noise.abs().max() < 1e-9:
        raise Wrong("The actions are the means themselves: nothing was drawn.")

    def loss() -> Tensor:
        mean, log_std = before(states).chunk(2, dim=-1)
        return -torch.mean(critic(states, mean + log_std.exp() * noise)) + 0.01 * torch.mean(mean**2)

    sgd_moved(policy, before, loss, LR, "update", "Does the critic's gradient reach the policy?")


def repeat(net: Callable[[], nn.Module], *draw: Callable[[], tuple[Any, ...]]) -> Callable[[Attempt], None]:
    """Several updates on fresh data: what a short training script looks like from outside."""

    def run(attempt: Attempt) -> None:
        trained = net()
        optimizer = sgd(trained)
        for _ in range(UPDATES):
            attempt.update(trained, optimizer, *(item for make in draw for item in make()))

    return run


def policy_net() -> nn.Module:
    return nn.Linear(3, 4)


drive("detached_target")(repeat(value_net, lambda: (td_batch(), 0.9)))
drive("no_grad")(repeat(value_net, lambda: (td_batch(), 0.9)))
drive("item")(repeat(value_net, history))
drive("sampling")(repeat(policy_net, lambda: (torch.randn(8, 3), lambda actions: torch.randn(4)[actions])))
drive("log_prob_tensor")(repeat(policy_net, episode))
drive("rsample")(repeat(policy_net, lambda: (torch.randn(6, 3), critic)))
