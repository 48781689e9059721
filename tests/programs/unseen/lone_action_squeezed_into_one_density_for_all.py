"""PPO for continuous actions, run in an environment with a single action. The mean is squeezed before the covariance is
built: the rollout's steps become the dimensions of one Gaussian, and the whole rollout has one log-probability.

Round 17
Class: axes
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import MultivariateNormal

torch.manual_seed(1708)
rng = np.random.default_rng(1708)


class Cart:
    """Bring the cart to the middle and hold it there; over after fifteen steps."""

    obs_dim, act_dim = 3, 1

    def reset(self):
        self.x, self.v, self.t = rng.uniform(-2, 2), 0.0, 0
        return self.observe()

    def observe(self):
        return np.array([self.x, self.v, self.t / 15], np.float32)

    def step(self, action):
        self.v = 0.8 * self.v + 0.4 * float(np.clip(action[0], -2, 2))
        self.x += 0.5 * self.v
        self.t += 1
        return self.observe(), -abs(self.x) - 0.1 * self.v**2, self.t == 15


class Memory:
    def __init__(self):
        self.clear()

    def clear(self):
        self.states, self.actions, self.log_probs, self.rewards, self.ends = [], [], [], [], []


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim))
        self.critic = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.5))

    def dist(self, mean):
        variance = (2 * self.log_std).exp().expand_as(mean)
        return MultivariateNormal(mean, torch.diag_embed(variance))

    @torch.no_grad()
    def act(self, state, memory):
        state = torch.from_numpy(state).unsqueeze(0)
        dist = self.dist(self.actor(state))
        action = dist.sample()
        memory.states.append(state)
        memory.actions.append(action)
        memory.log_probs.append(dist.log_prob(action))
        return action.squeeze(0).numpy()

    def evaluate(self, states, actions):
        mean = torch.squeeze(self.actor(states))  # BUG GS603 GS604 GS601 GS803
        dist = self.dist(mean)  # BUG GS603 GS604 GS601 GS803
        log_probs = dist.log_prob(torch.squeeze(actions))  # BUG GS603 GS604 GS601 GS803
        return log_probs, self.critic(states).squeeze(-1), dist.entropy()


class PPO:
    def __init__(self, env, gamma=0.95, epochs=4, clip=0.2):
        self.policy = ActorCritic(env.obs_dim, env.act_dim)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.gamma, self.epochs, self.clip = gamma, epochs, clip

    def returns(self, memory):
        total, returns = 0.0, []
        for reward, end in zip(reversed(memory.rewards), reversed(memory.ends)):
            total = reward + self.gamma * total * (not end)
            returns.insert(0, total)
        return torch.tensor(returns, dtype=torch.float32)

    def update(self, memory):
        states, actions = torch.cat(memory.states), torch.cat(memory.actions)
        old, returns = torch.cat(memory.log_probs), self.returns(memory)
        returns = (returns - returns.mean()) / (returns.std() + 1e-5)
        for _ in range(self.epochs):
            log_probs, values, entropy = self.policy.evaluate(states, actions)
            ratio = (log_probs - old).exp()
            advantage = returns - values.detach()
            surrogate = torch.min(ratio * advantage, ratio.clamp(1 - self.clip, 1 + self.clip) * advantage)
            loss = -surrogate.mean() + 0.5 * (values - returns).pow(2).mean() - 0.005 * entropy.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


env, memory = Cart(), Memory()
agent, scores = PPO(env), []
for episode in range(60):
    state, end = env.reset(), False
    while not end:
        action = agent.policy.act(state, memory)
        state, reward, end = env.step(action)
        memory.rewards.append(reward)
        memory.ends.append(end)
    scores.append(sum(memory.rewards[-15:]))
    if episode % 4 == 3:
        agent.update(memory)
        memory.clear()
print(f"{np.mean(scores[:12]):.2f} → {np.mean(scores[-12:]):.2f}")
