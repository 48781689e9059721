"""Part 4: DQN, REINFORCE, actor-critic. Each update must land where the paper's update lands."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradsan.learn.attempt import Attempt
from gradsan.learn.checks.intact import LR, UPDATES
from gradsan.learn.checks.registry import drive, values
from gradsan.learn.checks.views import transitions
from gradsan.learn.probe import same, sgd_moved

GAMMA = 0.9
SIZES = (3, 3, LR, GAMMA)  # observations, actions, learning rate, discount


def discrete() -> tuple[Tensor, ...]:
    batch = transitions()
    ended = torch.tensor([0.0, 1.0]).repeat(len(batch[0]) // 2)
    return *batch, ended


@values("dqn")
def _(attempt: Attempt) -> None:
    agent = attempt.DQN(*SIZES)
    for p in agent.target.parameters():
        p.data += 0.1 * torch.randn_like(p)  # a target that equals the online network could stand in for it
    before, frozen = copy.deepcopy(agent.online), copy.deepcopy(agent.target)
    states, actions, rewards, next_states, ended = batch = discrete()
    agent.update(*batch)
    with torch.no_grad():
        goal = rewards + GAMMA * (1 - ended) * frozen(next_states).amax(dim=1)
    chosen = torch.arange(len(actions)), actions
    sgd_moved(agent.online, before, lambda: torch.mean((before(states)[chosen] - goal) ** 2), LR, "update")
    for name, p in frozen.named_parameters():
        same(agent.target.get_parameter(name), p, f"`{name}` of the target network after update")
    agent.sync()
    same(agent.target(states), agent.online(states), "What the target network says after sync")


@values("reinforce")
def _(attempt: Attempt) -> None:
    agent = attempt.Reinforce(*SIZES)
    for number in ("first", "second", "third"):
        before, states = copy.deepcopy(agent.policy), torch.randn(4, 3)
        rewards, actions = torch.randn(4), []
        for state, reward in zip(states, rewards.tolist(), strict=True):
            actions.append(agent.act(state))
            agent.reward(reward)
        agent.finish_episode()
        ahead = torch.arange(4) - torch.arange(4).unsqueeze(1)
        returns = torch.where(ahead >= 0, GAMMA ** ahead.clamp(min=0), 0.0) @ rewards

        def loss() -> Tensor:
            picked = torch.tensor(actions)  # noqa: B023
            return torch.sum(F.cross_entropy(before(states), picked, reduction="none") * returns)  # noqa: B023

        sgd_moved(
            agent.policy, before, loss, LR, f"the {number} episode", "Is it made of this episode alone?"
        )


@values("actor_critic")
def _(attempt: Attempt) -> None:
    agent = attempt.ActorCritic(*SIZES)
    before = nn.ModuleDict({"actor": copy.deepcopy(agent.actor), "critic": copy.deepcopy(agent.critic)})
    states, actions, rewards, next_states, ended = batch = discrete()
    agent.update(*batch)
    goal = (rewards + GAMMA * (1 - ended) * before["critic"](next_states).squeeze(-1)).detach()
    advantage = goal - before["critic"](states).squeeze(-1).detach()

    def loss() -> Tensor:
        actor = F.cross_entropy(before["actor"](states), actions, reduction="none") * advantage
        critic = (before["critic"](states).squeeze(-1) - goal) ** 2
        return torch.mean(actor) + 0.5 * torch.mean(critic)

    after = nn.ModuleDict({"actor": agent.actor, "critic": agent.critic})
    sgd_moved(after, before, loss, LR, "update", "Which terms of the loss train it?")


@drive("dqn")
def _(attempt: Attempt) -> None:
    agent = attempt.DQN(*SIZES)
    for _ in range(UPDATES):
        agent.update(*discrete())
        agent.sync()


@drive("reinforce")
def _(attempt: Attempt) -> None:
    agent = attempt.Reinforce(*SIZES)
    for _ in range(UPDATES):
        for state in torch.randn(4, 3):
            agent.act(state)
            agent.reward(float(torch.randn(())))
        agent.finish_episode()


@drive("actor_critic")
def _(attempt: Attempt) -> None:
    agent = attempt.ActorCritic(*SIZES)
    for _ in range(UPDATES):
        agent.update(*discrete())
