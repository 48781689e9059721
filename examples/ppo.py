"""PPO with two networks and one optimizer. One line is wrong: the gradient is clipped after the step."""

from __future__ import annotations

import argparse

import torch
from chain import Chain
from torch import nn
from torch.distributions import Categorical

GAMMA, LAMBDA, CLIP, STEPS, EPOCHS = 0.95, 0.9, 0.2, 8, 3


def mlp(outputs: int, hidden: int = 32) -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                         nn.Linear(hidden, outputs))  # fmt: skip


class Agent:
    def __init__(self) -> None:
        self.policy, self.baseline = mlp(2), mlp(1)
        self.optimizer = torch.optim.Adam([*self.policy.parameters(), *self.baseline.parameters()], lr=1e-3)

    @torch.no_grad()
    def collect(self, world: Chain) -> tuple[torch.Tensor, ...]:
        states, actions, log_probs, values, rewards, dones = ([] for _ in range(6))
        state = world.observe()
        for _ in range(STEPS):
            policy = Categorical(logits=self.policy(state))
            actions.append(policy.sample())
            log_probs.append(policy.log_prob(actions[-1]))
            values.append(self.baseline(state).squeeze(-1))
            states.append(state)
            state, reward, done = world.step(actions[-1])
            rewards.append(reward)
            dones.append(done)
        advantages, advantage = [], torch.zeros(len(state))
        following = self.baseline(state).squeeze(-1)
        for t in reversed(range(STEPS)):
            delta = rewards[t] + GAMMA * (1.0 - dones[t]) * following - values[t]
            advantage = delta + GAMMA * LAMBDA * (1.0 - dones[t]) * advantage
            advantages.insert(0, advantage)
            following = values[t]
        returns = torch.cat(advantages) + torch.cat(values)
        return (torch.cat(states), torch.cat(actions), torch.cat(log_probs), torch.cat(advantages),
                returns, torch.cat(rewards))  # fmt: skip

    def update(self, states, actions, old_log_probs, advantages, returns) -> None:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(EPOCHS):
            policy = Categorical(logits=self.policy(states))
            ratio = (policy.log_prob(actions) - old_log_probs).exp()
            clipped = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
            policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
            value_loss = (self.baseline(states).squeeze(-1) - returns).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * policy.entropy().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            nn.utils.clip_grad_norm_([*self.policy.parameters(), *self.baseline.parameters()], 0.5)  # wrong


def train(updates: int) -> None:
    torch.manual_seed(0)
    world, agent, paid = Chain(), Agent(), 0.0
    for _ in range(updates):
        *batch, rewards = agent.collect(world)
        agent.update(*batch)
        paid += float(rewards.sum())
    print(f"paid {paid:.0f} times in {updates} updates")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=40)
    train(parser.parse_args().updates)
