"""PPO asks an old policy for the old log-probabilities in every pass over the data and copies the new weights into it
afterwards; the old policy is a copy. See alexis-jacq/Pytorch-DPPO and tensorforce/tensorforce#312.

Round 25
Class: meaning
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import MultivariateNormal


class ActorCritic(nn.Module):
    def __init__(self, state_dim, action_dim, action_std):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, action_dim), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, 1))
        self.register_buffer("action_var", torch.full((action_dim,), action_std * action_std))

    def dist(self, state):
        mean = self.actor(state)
        return MultivariateNormal(mean, torch.diag(self.action_var))

    def evaluate(self, state, action):
        dist = self.dist(state)
        return dist.log_prob(action), self.critic(state).squeeze(-1)


class Memory:
    def __init__(self):
        self.states, self.actions, self.rewards = [], [], []
        self.next_states, self.is_terminals, self.is_ends = [], [], []

    def clear(self):
        for column in vars(self).values():
            column.clear()


class PPO:
    def __init__(self, state_dim, action_dim, action_std=0.5, lr=1e-3, gamma=0.95, k_epochs=5, eps_clip=0.2):
        self.gamma, self.k_epochs, self.eps_clip = gamma, k_epochs, eps_clip
        self.policy = ActorCritic(state_dim, action_dim, action_std)
        self.policy_old = copy.deepcopy(self.policy)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.mse_loss = nn.MSELoss()

    @torch.no_grad()
    def select_action(self, state):
        return self.policy_old.dist(torch.from_numpy(state)).sample()

    def advantages(self, memory, lam=0.9):
        states = torch.from_numpy(np.array(memory.states))
        next_states = torch.from_numpy(np.array(memory.next_states))
        rewards = torch.tensor(memory.rewards, dtype=torch.float32)
        terminal = torch.tensor(memory.is_terminals, dtype=torch.float32)
        with torch.no_grad():
            values = self.policy.critic(states).squeeze(-1)
            next_values = self.policy.critic(next_states).squeeze(-1)
        delta = rewards + self.gamma * (1 - terminal) * next_values - values
        out, running = torch.zeros_like(delta), 0.0
        for t in reversed(range(len(delta))):
            running = delta[t] + self.gamma * lam * (1.0 - memory.is_ends[t]) * running
            out[t] = running
        return states, out, out + values

    def update(self, memory):
        states, advantages, returns = self.advantages(memory)
        actions = torch.stack(memory.actions)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-7)
        for _ in range(self.k_epochs):
            logprobs, state_values = self.policy.evaluate(states, actions)
            with torch.no_grad():
                old_logprobs, _ = self.policy_old.evaluate(states, actions)
            ratios = torch.exp(logprobs - old_logprobs)
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 1 - self.eps_clip, 1 + self.eps_clip) * advantages
            loss = -torch.min(surr1, surr2).mean() + 0.5 * self.mse_loss(state_values, returns)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.policy_old.load_state_dict(self.policy.state_dict())


def main(seed=2530, update_timestep=64, max_updates=12):
    torch.manual_seed(seed)
    env = gym.make("Pendulum-v1")
    ppo, memory = PPO(3, 1), Memory()
    state, _ = env.reset(seed=seed)
    for _ in range(max_updates):
        for _ in range(update_timestep):
            action = ppo.select_action(state)
            next_state, reward, terminated, truncated, _ = env.step(2 * np.clip(action.numpy(), -1, 1))
            memory.states.append(state)
            memory.actions.append(action)
            memory.rewards.append(reward / 8)
            memory.next_states.append(next_state)
            memory.is_terminals.append(float(terminated))
            memory.is_ends.append(float(terminated or truncated))
            state = env.reset()[0] if terminated or truncated else next_state
        ppo.update(memory)
        memory.clear()


if __name__ == "__main__":
    main()
