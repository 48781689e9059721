"""SAC in the style of a policy object: learn() builds the actor's loss from both critics, steps the critics and only
then runs the actor's backward, through weights that are no longer there. After thu-ml/tianshou#37.

Round 35
Class: forward errors
"""

import random
from collections import deque
from copy import deepcopy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal

SEED = 3509


def mlp(n_in, n_out, hidden=48):
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_out)
    )


class ActorProb(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.net = mlp(state_dim, 2 * action_dim)
        self.max_action = max_action

    def forward(self, obs):
        mu, log_sigma = self.net(obs).chunk(2, dim=-1)
        dist = Independent(Normal(mu, log_sigma.clamp(-5, 2).exp()), 1)
        raw = dist.rsample()
        log_prob = dist.log_prob(raw) - (2 * (np.log(2) - raw - F.softplus(-2 * raw))).sum(-1)
        return torch.tanh(raw) * self.max_action, log_prob


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.net = mlp(state_dim + action_dim, 1)

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], dim=-1)).squeeze(-1)


class SACPolicy:
    def __init__(self, state_dim, action_dim, max_action, tau=0.005, gamma=0.99, alpha=0.2):
        self.actor = ActorProb(state_dim, action_dim, max_action)
        self.critic1, self.critic2 = Critic(state_dim, action_dim), Critic(state_dim, action_dim)
        self.critic1_old, self.critic2_old = deepcopy(self.critic1), deepcopy(self.critic2)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic1_optim = torch.optim.Adam(self.critic1.parameters(), lr=1e-3)
        self.critic2_optim = torch.optim.Adam(self.critic2.parameters(), lr=1e-3)
        self._tau, self._gamma, self._alpha = tau, gamma, alpha

    def sync_weight(self):
        pairs = ((self.critic1_old, self.critic1), (self.critic2_old, self.critic2))
        with torch.no_grad():
            for old, new in pairs:
                for o, n in zip(old.parameters(), new.parameters()):
                    o.lerp_(n, self._tau)

    def learn(self, obs, act, rew, obs_next, terminated):
        with torch.no_grad():
            act_next, log_prob_next = self.actor(obs_next)
            q_next = torch.min(self.critic1_old(obs_next, act_next), self.critic2_old(obs_next, act_next))
            target_q = rew + self._gamma * (1 - terminated) * (q_next - self._alpha * log_prob_next)

        # actor
        act_new, log_prob = self.actor(obs)
        current_q1a, current_q2a = self.critic1(obs, act_new), self.critic2(obs, act_new)  # BUG GS102
        actor_loss = (self._alpha * log_prob - torch.min(current_q1a, current_q2a)).mean()

        # critic 1
        critic1_loss = F.mse_loss(self.critic1(obs, act), target_q)
        self.critic1_optim.zero_grad()
        critic1_loss.backward()
        self.critic1_optim.step()  # BUG GS102
        # critic 2
        critic2_loss = F.mse_loss(self.critic2(obs, act), target_q)
        self.critic2_optim.zero_grad()
        critic2_loss.backward()
        self.critic2_optim.step()  # BUG GS102

        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
        self.sync_weight()
        return actor_loss.item(), critic1_loss.item(), critic2_loss.item()


def sample(buffer, n):
    obs, act, rew, obs_next, terminated = zip(*random.sample(buffer, n))
    return [torch.tensor(np.array(x), dtype=torch.float32) for x in (obs, act, rew, obs_next, terminated)]


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env = gym.make("Pendulum-v1")
    env.action_space.seed(SEED)
    policy = SACPolicy(3, 1, float(env.action_space.high[0]))
    buffer, result = deque(maxlen=2000), None
    obs, _ = env.reset(seed=SEED)
    for step in range(220):
        if step < 100:
            act = env.action_space.sample()
        else:
            with torch.no_grad():
                act = policy.actor(torch.from_numpy(obs).unsqueeze(0))[0][0].numpy()
        obs_next, rew, terminated, truncated, _ = env.step(act)
        buffer.append((obs, act, rew / 8.0, obs_next, float(terminated)))
        obs = env.reset()[0] if terminated or truncated else obs_next
        if step >= 100:
            result = policy.learn(*sample(buffer, 64))
    print("losses", result)


if __name__ == "__main__":
    main()
