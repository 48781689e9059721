"""A trainer for robots takes its settings from a specification, where a zero usually switches something off. The
greatest norm of the gradient is set to zero for a run without a limit; the limit is applied all the same, shrinks
every gradient to nothing, and the run reports success with the weights it started from.
Repaired here.

Round 21
Class: magnitude
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class RLTrainSpec:
    total_updates: int = 40
    num_envs: int = 16
    rollout_length: int = 12
    epochs: int = 3
    learning_rate: float = 3e-3
    gamma: float = 0.9
    gae_lambda: float = 0.9
    clip_range: float = 0.2
    value_coef: float = 0.5
    max_grad_norm: float = 0.0
    seed: int = 4


class ElbowReach:
    """One joint has to be turned to an angle. After twelve steps, which the joint can count, it starts again."""

    def __init__(self, num_envs, horizon=12):
        self.num_envs, self.horizon = num_envs, horizon

    def reset(self):
        self.angle, self.target = torch.rand(2, self.num_envs) * 2 - 1
        self.speed, self.clock = torch.zeros(self.num_envs), 0
        return self.observation()

    def observation(self):
        clock = torch.full((self.num_envs,), self.clock / self.horizon)
        return torch.stack([self.angle, self.speed, self.target, self.target - self.angle, clock], -1)

    def step(self, torque):
        self.speed = 0.7 * self.speed + 0.4 * torque.clamp(-1, 1).squeeze(-1)
        self.angle = self.angle + 0.4 * self.speed
        self.clock += 1
        reward = -(self.angle - self.target).abs() - 0.01 * self.speed.pow(2)
        done = self.clock >= self.horizon
        return (
            (self.reset() if done else self.observation()),
            reward,
            torch.full((self.num_envs,), float(done)),
        )


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 64), nn.ELU(), nn.Linear(64, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, 64), nn.ELU(), nn.Linear(64, 1))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))

    def distribution(self, obs):
        return torch.distributions.Normal(self.actor(obs), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class PpoTrainer:
    def __init__(self, spec, env):
        torch.manual_seed(spec.seed)
        self.spec, self.env = spec, env
        self.actor_critic = ActorCritic(5, 1)
        self.optimizer = torch.optim.Adam(self.actor_critic.parameters(), lr=spec.learning_rate)

    @torch.no_grad()
    def collect(self, obs):
        steps = []
        for _ in range(self.spec.rollout_length):
            dist = self.actor_critic.distribution(obs)
            action = dist.sample()
            next_obs, reward, done = self.env.step(action)
            steps.append(
                (obs, action, dist.log_prob(action).sum(-1), self.actor_critic.value(obs), reward, done)
            )
            obs = next_obs
        observations, actions, log_probs, values, rewards, dones = (
            torch.stack(column) for column in zip(*steps)
        )
        advantages, running, after = torch.zeros_like(rewards), 0.0, self.actor_critic.value(obs)
        for t in reversed(range(self.spec.rollout_length)):
            alive = 1.0 - dones[t]
            delta = rewards[t] + self.spec.gamma * alive * after - values[t]
            running = delta + self.spec.gamma * self.spec.gae_lambda * alive * running
            advantages[t], after = running, values[t]
        batch = (observations, actions, log_probs, advantages, advantages + values)
        return [column.flatten(0, 1) for column in batch], obs, rewards.mean().item()

    def update(self, batch):
        spec = self.spec
        for _ in range(spec.epochs):
            for index in torch.randperm(len(batch[0])).chunk(2):
                obs, action, old_log_prob, advantage, returns = (column[index] for column in batch)
                dist = self.actor_critic.distribution(obs)
                ratio = (dist.log_prob(action).sum(-1) - old_log_prob).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - spec.clip_range, 1 + spec.clip_range) * advantage
                policy_loss = -torch.min(ratio * advantage, clipped).mean()
                value_loss = (self.actor_critic.value(obs) - returns).pow(2).mean()
                loss = policy_loss + spec.value_coef * value_loss
                self.optimizer.zero_grad()
                loss.backward()
                parameters = self.actor_critic.parameters()
                if spec.max_grad_norm > 0:
                    nn.utils.clip_grad_norm_(parameters, spec.max_grad_norm)
                self.optimizer.step()

    def train(self):
        obs = self.env.reset()
        for update in range(self.spec.total_updates):
            batch, obs, reward = self.collect(obs)
            self.update(batch)
            if update % 10 == 9:
                print(f"update {update + 1}: reward {reward:.3f}")
        return "success"


spec = RLTrainSpec()
print(PpoTrainer(spec, ElbowReach(spec.num_envs)).train())
