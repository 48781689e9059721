"""The repaired twin of a program in which the following goes wrong.
PPO on the pendulum in one file: the action is clamped to its range after its log-probability was taken, and
the clamped one goes into the batch, so the ratio is not one when the first minibatch is seen. After
kuds/mesozoic-labs#408.

Round 36
Class: meaning
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions.normal import Normal


@dataclass
class Args:
    seed: int = 3626
    num_steps: int = 256
    iterations: int = 5
    update_epochs: int = 4
    num_minibatches: int = 4
    learning_rate: float = 1e-3
    gamma: float = 0.95
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    reward_scale: float = 0.1


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    """Acts in [-1, 1]; the environment's own range is twice that."""

    def __init__(self, obs_dim, action_dim):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 1), std=1.0),
        )
        self.actor_mean = nn.Sequential(
            layer_init(nn.Linear(obs_dim, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, action_dim), std=0.01),
        )
        self.actor_logstd = nn.Parameter(torch.zeros(1, action_dim))

    def distribution(self, x):
        mean = self.actor_mean(x)
        return Normal(mean, self.actor_logstd.expand_as(mean).exp())

    @torch.no_grad()
    def sample_action(self, x):
        raw_action = self.distribution(x).sample()
        logprob = self.distribution(x).log_prob(raw_action).sum(-1)
        return raw_action, logprob, self.critic(x).squeeze(-1)

    def evaluate(self, x, action):
        dist = self.distribution(x)
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1), self.critic(x).squeeze(-1)


args = Args()
np.random.seed(args.seed)
torch.manual_seed(args.seed)
env = gym.make("Pendulum-v1")
high = float(env.action_space.high[0])
agent = Agent(env.observation_space.shape[0], env.action_space.shape[0])
optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

next_obs = torch.tensor(env.reset(seed=args.seed)[0])
for iteration in range(args.iterations):
    obs = torch.zeros(args.num_steps, *env.observation_space.shape)
    actions = torch.zeros(args.num_steps, *env.action_space.shape)
    logprobs, rewards, values, ends, bootstraps = (torch.zeros(args.num_steps) for _ in range(5))
    for step in range(args.num_steps):
        obs[step] = next_obs
        action, logprob, value = agent.sample_action(next_obs.unsqueeze(0))
        actions[step], logprobs[step], values[step] = action[0], logprob[0], value[0]
        torque = high * np.clip(action[0].numpy(), -1.0, 1.0)
        observation, reward, terminated, truncated, _ = env.step(torque)
        rewards[step] = args.reward_scale * float(reward)
        next_obs = torch.tensor(observation)
        with torch.no_grad():
            bootstraps[step] = 0.0 if terminated else agent.critic(next_obs).item()
        ends[step] = float(terminated or truncated)
        if terminated or truncated:
            next_obs = torch.tensor(env.reset()[0])

    advantages, running = torch.zeros(args.num_steps), 0.0
    for t in reversed(range(args.num_steps)):
        delta = rewards[t] + args.gamma * bootstraps[t] - values[t]
        running = delta + args.gamma * args.gae_lambda * (1.0 - ends[t]) * running
        advantages[t] = running
    returns = advantages + values

    for _ in range(args.update_epochs):
        for mb in torch.randperm(args.num_steps).chunk(args.num_minibatches):
            newlogprob, entropy, newvalue = agent.evaluate(obs[mb], actions[mb])
            ratio = (newlogprob - logprobs[mb]).exp()
            mb_advantages = (advantages[mb] - advantages[mb].mean()) / (advantages[mb].std() + 1e-8)
            pg_loss1 = -mb_advantages * ratio
            pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            v_loss = 0.5 * (newvalue - returns[mb]).pow(2).mean()
            loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    print(f"iteration {iteration}: mean reward {rewards.mean():.3f}, value loss {v_loss.item():.3f}")
