"""REINFORCE as people write it: from the end with both lists reversed, with the discount of the step in front, with the
return of the whole episode for every step, with episodes of one step (a bandit), with several episodes in a batch."""

import gymnasium as gym
import torch
from torch import nn

GAMMA = 0.95


class Bandit:
    def reset(self):
        return torch.ones(4), {}

    def step(self, action):
        return torch.ones(4), 1.0 + 0.5 * action, True, False, {}


def episode(env, policy, seed, reset):
    log_probs, rewards, over = [], [], False
    obs, _ = reset(seed)
    while not over:
        distribution = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs)))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(reward)
        over = terminated or truncated
    return log_probs, rewards


def backwards(log_probs, rewards):
    running, loss = 0.0, 0.0
    for log_prob, reward in zip(reversed(log_probs), reversed(rewards), strict=True):
        running = reward + GAMMA * running
        loss = loss - log_prob * running
    return loss


def returns_of(rewards):
    running, returns = 0.0, []
    for reward in reversed(rewards):
        running = reward + GAMMA * running
        returns.append(running)
    return returns[::-1]


def both_reversed(log_probs, rewards):
    return -(torch.stack(log_probs[::-1]) * torch.tensor(returns_of(rewards)[::-1])).sum()


def discounted_objective(log_probs, rewards):
    weights = [GAMMA**t * value for t, value in enumerate(returns_of(rewards))]
    return -(torch.stack(log_probs) * torch.tensor(weights)).sum()


def whole_episode(log_probs, rewards):
    return -(torch.stack(log_probs) * sum(rewards)).sum()


def whole_episode_in_a_tensor(log_probs, rewards):
    return -(torch.stack(log_probs) * torch.full((len(rewards),), float(sum(rewards)))).sum()


def own_reward_only(log_probs, rewards):
    return -(torch.stack(log_probs) * torch.tensor(rewards)).sum()


def train(env, how, reset, batch=1):
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for number in range(3):
        losses = [how(*episode(env, policy, batch * number + k, reset)) for k in range(batch)]
        optimizer.zero_grad()
        torch.stack(losses).mean().backward()
        optimizer.step()


torch.manual_seed(0)
cart_pole, bandit = gym.make("CartPole-v1", max_episode_steps=20), Bandit()
for how in (backwards, both_reversed, discounted_objective, whole_episode, whole_episode_in_a_tensor):
    train(cart_pole, how, lambda seed: cart_pole.reset(seed=seed))
train(cart_pole, both_reversed, lambda seed: cart_pole.reset(seed=seed), batch=3)
train(bandit, own_reward_only, lambda seed: bandit.reset(), batch=8)
