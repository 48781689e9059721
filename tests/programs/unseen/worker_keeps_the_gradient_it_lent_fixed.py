"""Asynchronous actor-critic on CartPole, its workers taking turns: each copies the shared weights,
backpropagates through its own copy and lends the gradients to the shared model. Both are cleared before
every backward.

Round 32
Class: gradients by hand
"""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(num_inputs, 48), nn.Tanh())
        self.critic_linear = nn.Linear(48, 1)
        self.actor_linear = nn.Linear(48, num_actions)

    def forward(self, x):
        x = self.body(x)
        return self.critic_linear(x).squeeze(-1), self.actor_linear(x)


def ensure_shared_grads(model, shared_model):
    for param, shared_param in zip(model.parameters(), shared_model.parameters()):
        if shared_param.grad is not None:
            return
        shared_param._grad = param.grad


class Worker:
    def __init__(self, rank, shared_model, optimizer, seed=1, num_steps=20, gamma=0.98, tau=0.95):
        self.env = gym.make("CartPole-v1")
        self.state, _ = self.env.reset(seed=seed + rank)
        self.shared_model, self.optimizer = shared_model, optimizer
        self.model = ActorCritic(4, 2)
        self.num_steps, self.gamma, self.tau = num_steps, gamma, tau
        self.episode_length, self.lengths = 0, []

    def rollout(self):
        values, log_probs, rewards, entropies = [], [], [], []
        for _ in range(self.num_steps):
            value, logit = self.model(torch.from_numpy(self.state))
            dist = Categorical(logits=logit)
            action = dist.sample()
            self.state, reward, terminated, truncated, _ = self.env.step(action.item())
            self.episode_length += 1
            values.append(value)
            log_probs.append(dist.log_prob(action))
            entropies.append(dist.entropy())
            rewards.append(0.1 * reward)
            if terminated or truncated:
                break
        with torch.no_grad():
            last = torch.zeros(()) if terminated else self.model(torch.from_numpy(self.state))[0]
        if terminated or truncated:
            self.lengths.append(self.episode_length)
            self.episode_length = 0
            self.state, _ = self.env.reset()
        return [*values, last], log_probs, rewards, entropies

    def train_once(self):
        self.model.load_state_dict(self.shared_model.state_dict())
        values, log_probs, rewards, entropies = self.rollout()

        policy_loss, value_loss = 0, 0
        gae, R = torch.zeros(()), values[-1]
        for i in reversed(range(len(rewards))):
            R = self.gamma * R + rewards[i]
            value_loss = value_loss + 0.5 * (R - values[i]).pow(2)
            delta = rewards[i] + self.gamma * values[i + 1].detach() - values[i].detach()
            gae = gae * self.gamma * self.tau + delta
            policy_loss = policy_loss - log_probs[i] * gae - 0.01 * entropies[i]

        self.optimizer.zero_grad()
        self.model.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 40)
        ensure_shared_grads(self.model, self.shared_model)
        self.optimizer.step()


def main(num_workers=3, rounds=30):
    torch.manual_seed(1)
    shared_model = ActorCritic(4, 2)
    optimizer = torch.optim.Adam(shared_model.parameters(), lr=2e-3)
    workers = [Worker(rank, shared_model, optimizer) for rank in range(num_workers)]
    for _ in range(rounds):
        for worker in workers:
            worker.train_once()
    lengths = [length for worker in workers for length in worker.lengths]
    print(f"{len(lengths)} episodes, mean length {sum(lengths) / len(lengths):.1f}")


if __name__ == "__main__":
    main()
