"""Advantage actor-critic on CartPole: the advantage is the value minus the return, so the policy turns away from
what went better than expected; the squared error of the critic does not notice the sign. After
natolambert/rlhf-book#125 and KanishJebaMathewM/Truxify#11885 (signs of policy losses).

Round 26
Class: meaning
"""

import gymnasium as gym
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.distributions import Categorical

GAMMA, EPISODES, SEED = 0.99, 80, 2621


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))
        self.critic = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


def run_episode(env, model, seed=None):
    obs, _ = env.reset(seed=seed)
    log_probs, values, rewards = [], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        dist, value = model(torch.as_tensor(obs, dtype=torch.float32))
        action = dist.sample()
        obs, reward, terminated, truncated, _ = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        values.append(value)
        rewards.append(reward)
    tail = 0.0
    if truncated and not terminated:
        with torch.no_grad():
            tail = model(torch.as_tensor(obs, dtype=torch.float32))[1].item()
    return torch.stack(log_probs), torch.stack(values), rewards, tail


def calculate_returns(rewards, tail):
    returns, running = [], tail
    for reward in reversed(rewards):
        running = reward + GAMMA * running
        returns.insert(0, running)
    return torch.tensor(returns, dtype=torch.float32)


def calculate_advantages(returns, values):
    advantages = values.detach() - returns  # BUG GS801
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def update(model, optimizer, log_probs, values, returns):
    advantages = calculate_advantages(returns, values)
    policy_loss = -(advantages * log_probs).mean()  # BUG GS801
    value_loss = F.smooth_l1_loss(values, returns)
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()


def main():
    torch.manual_seed(SEED)
    env = gym.make("CartPole-v1")
    model = ActorCritic(env.observation_space.shape[0], env.action_space.n)
    optimizer = optim.Adam(model.parameters(), lr=5e-3)
    lengths = []
    for episode in range(EPISODES):
        log_probs, values, rewards, tail = run_episode(env, model, SEED if episode == 0 else None)
        update(model, optimizer, log_probs, values, calculate_returns(rewards, tail))
        lengths.append(len(rewards))
        if episode % 20 == 19:
            print(episode + 1, sum(lengths[-20:]) / 20)


main()
