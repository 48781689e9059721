"""Synchronous advantage actor-critic on four poles with one network and one optimizer: the advantage is live in the value
loss and a constant in the policy loss. See RoboEden/Luxai-s2-Baseline#5 and hijkzzz/pymarl2#46.

Round 25
Class: the line
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions.categorical import Categorical


@dataclass
class Args:
    seed: int = 2513
    num_envs: int = 4
    num_steps: int = 8
    num_updates: int = 50
    learning_rate: float = 2e-3
    gamma: float = 0.99
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


def layer_init(layer, std=1.414, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Linear(4, 64)), nn.Tanh(), layer_init(nn.Linear(64, 64)), nn.Tanh()
        )
        self.actor = layer_init(nn.Linear(64, 2), std=0.01)
        self.critic = layer_init(nn.Linear(64, 1), std=1)

    def get_value(self, x):
        return self.critic(self.network(x)).squeeze(-1)

    def get_action_and_value(self, x, action=None):
        hidden = self.network(x)
        probs = Categorical(logits=self.actor(hidden))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden).squeeze(-1)


if __name__ == "__main__":
    args = Args()
    torch.manual_seed(args.seed)
    envs = [gym.make("CartPole-v1") for _ in range(args.num_envs)]
    agent = Agent()
    optimizer = torch.optim.RMSprop(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, 4))
    final_obs = torch.zeros((*shape, 4))
    actions = torch.zeros(shape, dtype=torch.long)
    rewards, terminations, ends = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
    next_obs = torch.tensor(np.stack([e.reset(seed=args.seed + i)[0] for i, e in enumerate(envs)]))

    for _ in range(args.num_updates):
        for step in range(args.num_steps):
            obs[step] = next_obs
            with torch.no_grad():
                actions[step] = agent.get_action_and_value(next_obs)[0]
            following = []
            for i, env in enumerate(envs):
                new, reward, terminated, truncated, _ = env.step(actions[step, i].item())
                rewards[step, i], terminations[step, i] = reward, float(terminated)
                ends[step, i] = float(terminated or truncated)
                final_obs[step, i] = torch.from_numpy(new)
                following.append(env.reset()[0] if terminated or truncated else new)
            next_obs = torch.tensor(np.stack(following))

        with torch.no_grad():
            next_values = agent.get_value(final_obs)
            returns = torch.zeros(shape)
            running = next_values[-1]
            for t in reversed(range(args.num_steps)):
                after = torch.where(ends[t] > 0, next_values[t], running)
                running = rewards[t] + args.gamma * (1 - terminations[t]) * after
                returns[t] = running

        _, logprob, entropy, value = agent.get_action_and_value(obs, actions)
        advantage = returns - value
        v_loss = advantage.pow(2).mean()
        pg_loss = -(logprob * advantage.detach()).mean()
        loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
        optimizer.step()
