"""A2C, actor and critic on one trunk. One line is wrong: the advantage carries gradient into the critic."""

from __future__ import annotations

import argparse

import torch
from chain import Chain
from torch import nn
from torch.distributions import Categorical

GAMMA, STEPS = 0.95, 5


class ActorCritic(nn.Module):
    def __init__(self, hidden: int = 32) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.logits = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, state: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        features = self.trunk(state)
        return Categorical(logits=self.logits(features)), self.value(features).squeeze(-1)


def train(updates: int) -> None:
    torch.manual_seed(0)
    world, model = Chain(), ActorCritic()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    state, paid = world.observe(), 0.0
    for _ in range(updates):
        states, actions, rewards, dones = [], [], [], []
        for _ in range(STEPS):
            with torch.no_grad():
                action = model(state)[0].sample()
            states.append(state)
            actions.append(action)
            state, reward, done = world.step(action)
            rewards.append(reward)
            dones.append(done)
            paid += float(reward.sum())
        with torch.no_grad():
            following = model(state)[1]
        returns = []
        for reward, done in zip(reversed(rewards), reversed(dones), strict=True):
            following = reward + GAMMA * (1.0 - done) * following
            returns.insert(0, following)

        policy, values = model(torch.cat(states))
        advantage = torch.cat(returns) - values  # wrong: not detached
        policy_loss = -(policy.log_prob(torch.cat(actions)) * advantage).mean()
        value_loss = (torch.cat(returns) - values).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
    print(f"paid {paid:.0f} times in {updates} updates")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=80)
    train(parser.parse_args().updates)
