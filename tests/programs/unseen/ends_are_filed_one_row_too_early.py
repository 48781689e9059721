"""PPO on eight parallel courier routes with one long rollout buffer. The buffer keeps whether the row's
observation began an episode, but is filled with the flag of the step just taken, so the recursion cuts and
joins episodes in the wrong places.

Round 32
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

NUM_ENVS, NUM_STEPS, NUM_UPDATES, EPOCHS = 8, 24, 20, 3
GAMMA, GAE_LAMBDA, CLIP, ENT_COEF, VF_COEF = 0.95, 0.9, 0.2, 0.01, 0.5


class Routes:
    """A walk ends at the door (paid) or in the river and restarts by itself."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.pos = self.rng.uniform(-1, 1, NUM_ENVS)
        self.door = self.rng.uniform(-1, 1, NUM_ENVS)

    def observe(self):
        return torch.tensor(np.stack([self.pos, self.door, self.door - self.pos], -1), dtype=torch.float32)

    def step(self, action):
        self.pos = self.pos + 0.25 * (action - 1) + self.rng.normal(0, 0.05, NUM_ENVS)
        delivered, drowned = np.abs(self.pos - self.door) < 0.15, np.abs(self.pos) > 1.5
        reward = 1.0 * delivered - 1.0 * drowned - 0.02
        done = delivered | drowned
        self.pos = np.where(done, self.rng.uniform(-1, 1, NUM_ENVS), self.pos)
        self.door = np.where(done, self.rng.uniform(-1, 1, NUM_ENVS), self.door)
        return self.observe(), torch.tensor(reward).float(), torch.tensor(done).float()


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


class RolloutBuffer:
    def __init__(self):
        shape = (NUM_STEPS, NUM_ENVS)
        self.obs = torch.zeros(*shape, 3)
        self.actions = torch.zeros(shape, dtype=torch.long)
        self.log_probs, self.rewards, self.values = (torch.zeros(shape) for _ in range(3))
        self.dones = torch.zeros(shape)

    def advantages(self, next_value, next_done):
        advantages, last = torch.zeros_like(self.rewards), 0.0
        for t in reversed(range(NUM_STEPS)):
            if t == NUM_STEPS - 1:
                nonterminal, next_values = 1.0 - next_done, next_value
            else:
                nonterminal, next_values = 1.0 - self.dones[t + 1], self.values[t + 1]  # BUG GS806 GS805
            delta = self.rewards[t] + GAMMA * next_values * nonterminal - self.values[t]  # BUG GS806 GS805
            last = delta + GAMMA * GAE_LAMBDA * nonterminal * last  # BUG GS806 GS805
            advantages[t] = last
        return advantages


def update(agent, optimizer, buffer, advantages):
    obs, actions = buffer.obs.flatten(0, 1), buffer.actions.flatten()
    old_log_probs, adv = buffer.log_probs.flatten(), advantages.flatten()
    returns = (advantages + buffer.values).flatten()
    for _ in range(EPOCHS):
        for mb in torch.randperm(len(obs)).split(64):
            dist = Categorical(logits=agent.actor(obs[mb]))
            ratio = (dist.log_prob(actions[mb]) - old_log_probs[mb]).exp()
            mb_adv = (adv[mb] - adv[mb].mean()) / (adv[mb].std() + 1e-8)
            pg_loss = -torch.min(ratio * mb_adv, ratio.clamp(1 - CLIP, 1 + CLIP) * mb_adv).mean()
            v_loss = 0.5 * (agent.value(obs[mb]) - returns[mb]).pow(2).mean()
            loss = pg_loss + VF_COEF * v_loss - ENT_COEF * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def main():
    torch.manual_seed(41)
    envs, agent, buffer = Routes(41), Agent(), RolloutBuffer()
    optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
    obs, done = envs.observe(), torch.zeros(NUM_ENVS)
    for iteration in range(NUM_UPDATES):
        for step in range(NUM_STEPS):
            buffer.obs[step] = obs
            with torch.no_grad():
                dist = Categorical(logits=agent.actor(obs))
                action = dist.sample()
                buffer.values[step] = agent.value(obs)
            buffer.actions[step] = action
            buffer.log_probs[step] = dist.log_prob(action)
            obs, reward, done = envs.step(action.numpy())
            buffer.rewards[step] = reward
            buffer.dones[step] = done  # BUG GS806 GS805
        with torch.no_grad():
            advantages = buffer.advantages(agent.value(obs), done)
        update(agent, optimizer, buffer, advantages)
        if iteration % 5 == 4:
            print(f"iteration {iteration + 1}: reward per step {buffer.rewards.mean():.3f}")


if __name__ == "__main__":
    main()
