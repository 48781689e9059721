"""REINFORCE with a recurrent policy. One line is wrong: it cuts the encoder off."""

from __future__ import annotations

import argparse

import torch
from chain import Chain
from torch import nn
from torch.distributions import Categorical

GAMMA, STEPS, HIDDEN = 0.95, 12, 24


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, HIDDEN), nn.ReLU())
        self.memory = nn.GRUCell(HIDDEN, HIDDEN)
        self.logits = nn.Linear(HIDDEN, 2)

    def forward(self, state: torch.Tensor, hidden: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        features = self.encoder(state).detach()  # wrong: the encoder never learns
        hidden = self.memory(features, hidden)
        return Categorical(logits=self.logits(hidden)), hidden


def train(updates: int) -> None:
    torch.manual_seed(0)
    world, policy = Chain(size=1), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    paid = 0.0
    for _ in range(updates):
        state, hidden = world.observe(), torch.zeros(1, HIDDEN)
        log_probs, entropies, rewards = [], [], []
        for _ in range(STEPS):
            choice, hidden = policy(state, hidden)
            action = choice.sample()
            log_probs.append(choice.log_prob(action))
            entropies.append(choice.entropy())
            state, reward, _ = world.step(action)
            rewards.append(float(reward))
        returns, total = [], 0.0
        for reward in reversed(rewards):
            total = reward + GAMMA * total
            returns.insert(0, total)
        policy_loss = -(torch.cat(log_probs) * torch.tensor(returns)).mean()
        loss = policy_loss - 0.01 * torch.cat(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        paid += sum(rewards)
    print(f"paid {paid:.0f} times in {updates} updates")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=60)
    train(parser.parse_args().updates)
