"""The first kind of soft actor-critic, with a value network of its own. The value is fitted to what the critics say of the
policy's actions, and nobody stops the gradient there: the error between value and critics moves the critics, too.
Repaired here.

Round 20
Class: the line
"""

import copy
from typing import NamedTuple

import torch
from torch import nn
from torch.distributions import Normal


class AgentBuffer(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor
    masks: torch.Tensor


def build(inp, out):
    return nn.Sequential(nn.Linear(inp, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, out))


class PolicyValueNetwork(nn.Module):
    """Two critics and a value."""

    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.q1_network, self.q2_network = build(obs_dim + act_dim, 1), build(obs_dim + act_dim, 1)
        self.value_network = build(obs_dim, 1)

    def critics(self, obs, action):
        both = torch.cat([obs, action], dim=-1)
        return self.q1_network(both).squeeze(-1), self.q2_network(both).squeeze(-1)

    def value(self, obs):
        return self.value_network(obs).squeeze(-1)


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.body = build(obs_dim, 2 * act_dim)

    def sample(self, obs):
        mean, log_std = self.body(obs).chunk(2, dim=-1)
        dist = Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        log_probs = dist.log_prob(raw) - torch.log(1 - torch.tanh(raw).pow(2) + 1e-6)
        return torch.tanh(raw), log_probs.sum(-1)


class TorchSACOptimizer:
    def __init__(self, obs_dim=3, act_dim=2, gamma=0.95, tau=0.02, ent_coef=0.1):
        self.policy, self.networks = Policy(obs_dim, act_dim), PolicyValueNetwork(obs_dim, act_dim)
        self.target_value = copy.deepcopy(self.networks.value_network).requires_grad_(False)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.value_optimizer = torch.optim.Adam(self.networks.parameters(), lr=2e-3)
        self.gamma, self.tau, self.ent_coef = gamma, tau, ent_coef

    def sac_q_loss(self, batch):
        with torch.no_grad():
            v_next = self.target_value(batch.next_obs).squeeze(-1)
            q_backup = batch.reward + batch.masks * self.gamma * v_next
        q1, q2 = self.networks.critics(batch.obs, batch.action)
        return 0.5 * (q1 - q_backup).pow(2).mean() + 0.5 * (q2 - q_backup).pow(2).mean()

    def sac_value_loss(self, batch, actions, log_probs):
        min_policy_q = torch.min(*self.networks.critics(batch.obs, actions))
        v_backup = min_policy_q.detach() - self.ent_coef * log_probs.detach()
        return 0.5 * (self.networks.value(batch.obs) - v_backup).pow(2).mean()

    def sac_policy_loss(self, batch, actions, log_probs):
        return (self.ent_coef * log_probs - torch.min(*self.networks.critics(batch.obs, actions))).mean()

    def update(self, batch):
        actions, log_probs = self.policy.sample(batch.obs)
        q_loss = self.sac_q_loss(batch)
        value_loss = self.sac_value_loss(batch, actions.detach(), log_probs)
        self.value_optimizer.zero_grad()
        (q_loss + value_loss).backward()
        self.value_optimizer.step()
        policy_loss = self.sac_policy_loss(batch, actions, log_probs)
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()
        with torch.no_grad():
            for target, param in zip(
                self.target_value.parameters(), self.networks.value_network.parameters()
            ):
                target.mul_(1 - self.tau).add_(param, alpha=self.tau)
        return {
            "Losses/Q": q_loss.item(),
            "Losses/Value": value_loss.item(),
            "Losses/Policy": policy_loss.item(),
        }


def experience(n):
    """A crane over a moving belt: distance to the parcel, speed of the belt, weight of the parcel."""
    obs = torch.randn(n, 3)
    action = torch.rand(n, 2) * 2 - 1
    distance = obs[:, 0] + 0.3 * obs[:, 1] - action[:, 0]
    grip = (action[:, 1] - 0.3 * obs[:, 2]).abs()
    next_obs = torch.stack([distance, obs[:, 1], obs[:, 2]], dim=1) + 0.05 * torch.randn(n, 3)
    caught = (distance.abs() < 0.2) & (grip < 0.3)
    reward = 5.0 * caught - 0.3 * distance.abs() - 0.1 * grip
    return AgentBuffer(obs, action, reward, next_obs, 1 - caught.float())


torch.manual_seed(2013)
optimizer = TorchSACOptimizer()
for step in range(120):
    stats = optimizer.update(experience(56))
print({name: round(value, 3) for name, value in stats.items()})
