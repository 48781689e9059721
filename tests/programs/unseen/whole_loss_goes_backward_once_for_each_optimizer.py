"""The surrogate and the value loss are summed, and the sum goes backward once for the critic's optimizer and, after that
one has stepped, once more for the actor's: the second pass meets weights that have moved. As in
reinforcement-learning-kr/pg_travel#22 and alexis-jacq/Pytorch-DPPO#9.

Round 25
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2501)
np.random.seed(2501)
GAMMA, LAM, CLIP, EPOCHS, BATCH, HORIZON = 0.95, 0.95, 0.2, 3, 64, 128


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(obs_dim, 64), nn.Linear(64, 64)
        self.mu = nn.Linear(64, act_dim)
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def forward(self, x):
        x = torch.tanh(self.fc2(torch.tanh(self.fc1(x))))
        return Normal(self.mu(x), self.log_std.exp())


class Critic(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.fc1, self.fc2, self.out = nn.Linear(obs_dim, 64), nn.Linear(64, 64), nn.Linear(64, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.fc2(torch.tanh(self.fc1(x))))).squeeze(-1)


def get_gae(memory, critic):
    obs, _, _, rewards, next_obs, terminated, ended = memory
    with torch.no_grad():
        values, next_values = critic(obs), critic(next_obs)
    delta = rewards + GAMMA * next_values * (1 - terminated) - values
    advantage, running = torch.zeros_like(delta), 0.0
    for t in reversed(range(len(delta))):
        running = delta[t] + GAMMA * LAM * (1 - ended[t]) * running
        advantage[t] = running
    return advantage, advantage + values


def train_model(actor, critic, memory, actor_optim, critic_optim):
    obs, actions, old_log_prob = memory[:3]
    advantages, returns = get_gae(memory, critic)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(EPOCHS):
        order = np.random.permutation(len(obs))
        for start in range(0, len(obs), BATCH):
            index = torch.from_numpy(order[start : start + BATCH])
            log_prob = actor(obs[index]).log_prob(actions[index]).sum(-1)
            ratio = torch.exp(log_prob - old_log_prob[index])
            surrogate = ratio * advantages[index]
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[index]
            actor_loss = -torch.min(surrogate, clipped).mean()
            critic_loss = (critic(obs[index]) - returns[index]).pow(2).mean()
            loss = actor_loss + 0.5 * critic_loss

            critic_optim.zero_grad()
            loss.backward(retain_graph=True)
            critic_optim.step()  # BUG GS102

            actor_optim.zero_grad()
            loss.backward()  # BUG GS102
            actor_optim.step()


def main():
    env = gym.make("Pendulum-v1")
    actor, critic = Actor(3, 1), Critic(3)
    actor_optim = torch.optim.Adam(actor.parameters(), lr=3e-4)
    critic_optim = torch.optim.Adam(critic.parameters(), lr=1e-3, weight_decay=1e-3)
    obs, _ = env.reset(seed=2501)
    for _ in range(8):
        rows = []
        for _ in range(HORIZON):
            with torch.no_grad():
                dist = actor(torch.from_numpy(obs))
                action = dist.sample()
                log_prob = dist.log_prob(action).sum(-1)
            next_obs, reward, terminated, truncated, _ = env.step(np.clip(2 * action.numpy(), -2, 2))
            done = terminated or truncated
            rows.append((obs, action.numpy(), log_prob.numpy(), reward / 10, next_obs, terminated, done))
            obs = env.reset()[0] if done else next_obs
        memory = [torch.from_numpy(np.asarray(column, dtype=np.float32)) for column in zip(*rows)]
        train_model(actor, critic, memory, actor_optim, critic_optim)


main()
