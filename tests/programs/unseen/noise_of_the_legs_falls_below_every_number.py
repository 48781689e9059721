"""PPO for a legged robot whose network also gives the logarithm of the noise for each state, without
bounds; where the feet strike hard the noise is so small that its square is zero, the log-probability is not
a number and soon no action can be drawn. After leggedrobotics/rsl_rl#190.

Round 37
Class: magnitude
"""

import torch
import torch.nn as nn
from torch.distributions import Normal

NUM_ENVS, NUM_OBS, NUM_ACTIONS, STEPS = 32, 10, 2, 12


class LeggedGym:
    """Joint angles, a wish, and the force at the feet, now and then in hundreds of newtons."""

    def __init__(self, num_envs):
        self.num_envs = num_envs
        self.t = torch.randint(0, 30, (num_envs,))
        self.joints = torch.zeros(num_envs, NUM_ACTIONS)
        self.command = torch.rand(num_envs, NUM_ACTIONS) * 2 - 1

    def get_observations(self):
        strike = (torch.rand(self.num_envs, 4) < 0.25).float()
        self.force = strike * (150 + 450 * torch.rand(self.num_envs, 4))
        wave = torch.stack([torch.sin(self.t / 5), torch.cos(self.t / 5)], 1)
        return torch.cat([self.joints, self.command, wave, self.force], 1)

    def step(self, actions):
        self.joints = self.joints + 0.3 * (actions.clamp(-3, 3) - self.joints)
        error = (self.joints - self.command).pow(2).sum(1)
        reward = -error - 0.5 * (actions - self.command).pow(2).sum(1)
        self.t += 1
        fallen = self.joints.abs().amax(1) > 1.8
        time_outs = self.t >= 30
        return reward, fallen, time_outs

    def reset(self, who):
        self.t[who] = 0
        self.joints[who] = 0.0
        self.command[who] = torch.rand(int(who.sum()), NUM_ACTIONS) * 2 - 1


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(NUM_OBS, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU())
        self.mean, self.log_std = nn.Linear(hidden, NUM_ACTIONS), nn.Linear(hidden, NUM_ACTIONS)
        self.critic = nn.Sequential(nn.Linear(NUM_OBS, hidden), nn.ELU(), nn.Linear(hidden, 1))
        nn.init.orthogonal_(self.mean.weight, 0.01)
        nn.init.zeros_(self.log_std.bias)
        Normal.set_default_validate_args(False)

    def update_distribution(self, obs):
        features = self.actor(obs)
        std = torch.exp(self.log_std(features))  # BUG GS503
        self.distribution = Normal(torch.tanh(self.mean(features)), std)

    def act(self, obs):
        self.update_distribution(obs)
        return self.distribution.sample()

    def log_prob(self, actions):
        return self.distribution.log_prob(actions).sum(-1)  # BUG GS503

    def evaluate(self, obs):
        return self.critic(obs / obs.new_tensor([1.0] * 6 + [300.0] * 4)).squeeze(-1)


class PPO:
    def __init__(self, policy, learning_rate=1e-3, clip_param=0.2, gamma=0.95, lam=0.95):
        self.policy, self.clip_param, self.gamma, self.lam = policy, clip_param, gamma, lam
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)

    def compute_returns(self, values, rewards, dones, last_values):
        advantage, returns, following = 0, torch.zeros_like(values), last_values
        for step in reversed(range(len(values))):
            alive = 1.0 - dones[step]
            delta = rewards[step] + alive * self.gamma * following - values[step]
            advantage = delta + alive * self.gamma * self.lam * advantage
            returns[step] = advantage + values[step]
            following = values[step]
        return returns

    def update(self, obs, actions, old_logp, values, returns):
        advantages = returns - values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(3):
            for rows in torch.randperm(len(obs)).chunk(4):
                self.policy.update_distribution(obs[rows])
                ratio = torch.exp(self.policy.log_prob(actions[rows]) - old_logp[rows])
                clipped = ratio.clamp(1.0 - self.clip_param, 1.0 + self.clip_param)
                surrogate_loss = torch.max(-advantages[rows] * ratio, -advantages[rows] * clipped).mean()
                value_loss = (returns[rows] - self.policy.evaluate(obs[rows])).pow(2).mean()
                entropy = self.policy.distribution.entropy().sum(-1).mean()
                loss = surrogate_loss + value_loss - 0.005 * entropy
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
                self.optimizer.step()
        return surrogate_loss.item()


torch.manual_seed(3742)
env, alg = LeggedGym(NUM_ENVS), PPO(ActorCritic())
obs = env.get_observations()
for iteration in range(20):
    rows = []
    with torch.no_grad():
        for _ in range(STEPS):
            actions = alg.policy.act(obs)
            logp, value = alg.policy.log_prob(actions), alg.policy.evaluate(obs)
            reward, fallen, time_outs = env.step(actions)
            ended = fallen | time_outs
            reached = env.get_observations()
            reward = reward + alg.gamma * alg.policy.evaluate(reached) * (time_outs & ~fallen)
            env.reset(ended)
            rows.append((obs, actions, logp, value, reward, ended.float()))
            obs = env.get_observations()
        obs_b, actions_b, logp_b, values_b, rewards_b, dones_b = (torch.stack(c) for c in zip(*rows))
        returns_b = alg.compute_returns(values_b, rewards_b, dones_b, alg.policy.evaluate(obs))
    loss = alg.update(*(x.flatten(0, 1) for x in (obs_b, actions_b, logp_b, values_b, returns_b)))
print("reward", round(rewards_b.mean().item(), 3))
