"""A soft actor-critic limits the logarithm of its spread with a helper whose upper limit comes first; the policy hands
it the lower one first. Every value lands on one limit, and the layer behind it gets a gradient of zero.

Round 16
Class: zero in part
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1613)
OBS, ACT, GAMMA, LOG_LOW, LOG_HIGH = 4, 2, 0.95, -3.0, 0.5


def limited(x, high, low):
    return torch.clamp(x, min=low, max=high)  # BUG GS208


def mlp(inputs, outputs):
    return nn.Sequential(
        nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, outputs)
    )


class SquashedPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 32), nn.ReLU())
        self.mean, self.log_std = nn.Linear(32, ACT), nn.Linear(32, ACT)

    def forward(self, obs):
        x = self.body(obs)
        log_std = limited(self.log_std(x), LOG_LOW, LOG_HIGH)  # BUG GS208
        return Normal(self.mean(x), log_std.exp())

    def sample(self, obs):
        dist = self(obs)
        raw = dist.rsample()
        correction = 2 * (math.log(2) - raw - F.softplus(-2 * raw))
        return torch.tanh(raw), (dist.log_prob(raw) - correction).sum(-1)


class SoftActorCritic:
    def __init__(self):
        self.policy = SquashedPolicy()
        self.critics = nn.ModuleList(mlp(OBS + ACT, 1) for _ in range(2))
        self.slow = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_alpha = torch.tensor(-2.0, requires_grad=True)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=1e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    @staticmethod
    def smallest(critics, obs, action):
        x = torch.cat([obs, action], -1)
        return torch.stack([critic(x).squeeze(-1) for critic in critics]).amin(0)

    def update(self, obs, action, reward, after):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            ahead, density = self.policy.sample(after)
            target = reward + GAMMA * (self.smallest(self.slow, after, ahead) - alpha * density)
        taken = torch.cat([obs, action], -1)
        critic_loss = sum(F.mse_loss(critic(taken).squeeze(-1), target) for critic in self.critics)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        proposed, density = self.policy.sample(obs)
        policy_loss = (alpha * density - self.smallest(self.critics, obs, proposed)).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()

        alpha_loss = -(self.log_alpha * (density.detach() - ACT)).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()
        with torch.no_grad():
            for target_weight, weight in zip(self.slow.parameters(), self.critics.parameters()):
                target_weight.lerp_(weight, 0.01)
        return critic_loss.item(), -density.mean().item()


agent, obs = SoftActorCritic(), torch.randn(40, OBS)
for update in range(60):
    with torch.no_grad():
        action, _ = agent.policy.sample(obs)
    after = 0.9 * obs + 0.1 * torch.randn(40, OBS)
    after[:, :ACT] += 0.3 * action
    reward = -after.pow(2).sum(-1) - 0.1 * action.pow(2).sum(-1)
    error, entropy = agent.update(obs, action, reward, after)
    obs = after
print(f"error {error:.3f}, entropy {entropy:.3f}")
