"""PPO in shuffled minibatches: `done` ends the bootstrapped value and the running sum."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import SyncVectorEnv
from torch import nn

STEPS, COPIES, GAMMA, LAMBDA = 40, 4, 0.99, 0.95
torch.manual_seed(0)
rng = np.random.default_rng(0)
envs = SyncVectorEnv([lambda: gym.make("CartPole-v1")] * COPIES)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, obs, action=None):
        distribution = torch.distributions.Categorical(logits=self.actor(obs))
        action = distribution.sample() if action is None else action
        return action, distribution.log_prob(action), distribution.entropy(), self.critic(obs).flatten()


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
obs, _ = envs.reset(seed=1)
done = np.zeros(COPIES, dtype=bool)
for _ in range(2):
    seen, actions = torch.zeros(STEPS, COPIES, 4), torch.zeros(STEPS, COPIES, dtype=torch.long)
    log_probs, rewards, dones, values = (torch.zeros(STEPS, COPIES) for _ in range(4))
    for t in range(STEPS):
        seen[t], dones[t] = torch.as_tensor(obs), torch.as_tensor(done).float()
        with torch.no_grad():
            actions[t], log_probs[t], _, values[t] = agent(seen[t])
        obs, reward, terminated, truncated, _ = envs.step(actions[t].numpy())
        rewards[t], done = torch.as_tensor(reward), terminated | truncated
    with torch.no_grad():
        following, goes_on = agent(torch.as_tensor(obs))[3], 1.0 - torch.as_tensor(done).float()
        advantages, running = torch.zeros_like(rewards), torch.zeros(COPIES)
        for t in reversed(range(STEPS)):
            delta = rewards[t] + GAMMA * following * goes_on - values[t]
            running = delta + GAMMA * LAMBDA * goes_on * running
            advantages[t] = running
            following, goes_on = values[t], 1.0 - dones[t]
        returns = advantages + values
    for chosen in np.split(rng.permutation(STEPS * COPIES), 4):
        _, log_prob, entropy, value = agent(seen.reshape(-1, 4)[chosen], actions.reshape(-1)[chosen])
        advantage = advantages.reshape(-1)[chosen]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (log_prob - log_probs.reshape(-1)[chosen]).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        value_loss = (value - returns.reshape(-1)[chosen]).pow(2).mean()
        loss = -surrogate + 0.5 * value_loss - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
