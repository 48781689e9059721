"""Part 4, last: soft actor-critic, three losses that must not touch each other's parameters."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.checks.agents import GAMMA, SIZES
from gradsan.learn.checks.intact import LR, UPDATES
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.checks.views import transitions
from gradsan.learn.probe import gradients, same, sgd_moved


def continuous() -> tuple[Tensor, ...]:
    states, _, rewards, next_states = transitions()
    return states, torch.randn(6, 3), rewards, next_states, torch.randn(6, 3), torch.randn(6, 3)


@values("sac")
def _(attempt: Attempt) -> None:
    agent = attempt.SAC(*SIZES)
    with torch.no_grad():
        agent.log_alpha += 0.3 * torch.randn(())
    for _ in range(2):  # in the second round, whatever the first left in .grad would show
        before = copy.deepcopy([agent.actor, agent.critic, agent.target, agent.log_alpha])
        batch = continuous()
        agent.update(*batch)
        _sac_moved(agent, before, *batch)
        with torch.no_grad():
            for old, new in zip(agent.target.parameters(), agent.critic.parameters(), strict=True):
                old.lerp_(new, 0.5)


def _sac_moved(agent: Any, before: list[Any], *batch: Tensor) -> None:
    actor, critic, target, log_alpha = before
    states, actions, rewards, next_states, noise, next_noise = batch
    with torch.no_grad():
        next_actions, next_log_prob = _act(actor, next_states, next_noise)
        soft = _q(target, next_states, next_actions) - log_alpha.exp() * next_log_prob
        goal = rewards + GAMMA * soft
    sgd_moved(
        agent.critic,
        critic,
        lambda: torch.mean((_q(critic, states, actions) - goal) ** 2),
        LR,
        "update_critic",
    )
    moved, alpha = copy.deepcopy(agent.critic), log_alpha.exp().detach()

    def actor_loss() -> Tensor:
        drawn, log_prob = _act(actor, states, noise)
        return torch.mean(alpha * log_prob - _q(moved, states, drawn))

    sgd_moved(agent.actor, actor, actor_loss, LR, "update_actor")
    missing = (_act(actor, states, noise)[1] + 3.0).detach()
    (slope,) = gradients(lambda: -torch.mean(log_alpha * missing), [log_alpha])
    if not agent.log_alpha.requires_grad:
        raise Wrong("autograd no longer follows `log_alpha`: the temperature cannot be trained.")
    why = "Which losses does its step consume?"
    same(agent.log_alpha, (log_alpha - LR * slope).detach(), "After update_actor, `log_alpha`", why)


def _act(actor: nn.Module, states: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    mean, log_std = actor(states).chunk(2, dim=-1)
    log_std = log_std.clamp(-5.0, 2.0)
    return mean + log_std.exp() * noise, (-0.5 * noise**2 - log_std - 0.9189).sum(dim=-1)


def _q(critic: nn.Module, states: Tensor, actions: Tensor) -> Tensor:
    answer: Tensor = critic(torch.cat([states, actions], dim=-1))
    return answer.squeeze(-1)


@drive("sac")
def _(attempt: Attempt) -> None:
    agent = attempt.SAC(3, 3, 0.01, GAMMA)  # small steps: the planted bug should leak, not blow up as well
    for _ in range(UPDATES):
        agent.update(*continuous())
        with torch.no_grad():
            for old, new in zip(agent.target.parameters(), agent.critic.parameters(), strict=True):
                old.lerp_(new, 0.5)
