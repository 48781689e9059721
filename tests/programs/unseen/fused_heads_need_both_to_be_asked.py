"""A policy with an auxiliary value, both out of one fused function. Where the loss asks for one of the two only, the
function's backward gives up: the policy phase, which has no use for the auxiliary value, trains nothing.

Round 16
Class: custom functions
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, kl_divergence

torch.manual_seed(1612)
OBS, ACTIONS, BATCH = 6, 4, 48


class FusedHeads(torch.autograd.Function):
    """Logits and value from the same features, without keeping the concatenated weights."""

    @staticmethod
    def forward(ctx, features, policy, value):
        ctx.set_materialize_grads(False)  # BUG GS211
        ctx.save_for_backward(features, policy, value)
        return features @ policy.t(), features @ value

    @staticmethod
    def backward(ctx, grad_logits, grad_value):  # BUG GS211
        features, policy, value = ctx.saved_tensors
        if grad_logits is None or grad_value is None:  # BUG GS211 GS202
            return None, None, None  # BUG GS211 GS202
        return (
            grad_logits @ policy + grad_value.unsqueeze(1) * value,
            grad_logits.t() @ features,
            grad_value @ features,
        )


class PolicyWithAuxiliary(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh())
        self.policy = nn.Parameter(0.1 * torch.randn(ACTIONS, 32))
        self.value = nn.Parameter(0.1 * torch.randn(32))

    def forward(self, obs):
        logits, auxiliary = FusedHeads.apply(self.trunk(obs), self.policy, self.value)
        return Categorical(logits=logits), auxiliary


class PhasicAgent:
    def __init__(self):
        self.policy = PolicyWithAuxiliary()
        self.critic = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, 1))
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)
        self.kept = []

    def collect(self):
        obs = torch.randn(BATCH, OBS)
        with torch.no_grad():
            dist, _ = self.policy(obs)
            action = dist.sample()
            reward = (action == obs[:, :ACTIONS].argmax(1)).float()
            return obs, action, dist.log_prob(action), reward

    def policy_phase(self, epochs=3):
        obs, action, old, reward = self.collect()
        advantage = reward - self.critic(obs).squeeze(-1).detach()
        for _ in range(epochs):
            dist, _ = self.policy(obs)
            ratio = (dist.log_prob(action) - old).exp()
            gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            loss = -gain.mean() - 0.01 * dist.entropy().mean()
            self.step(self.policy_optimizer, loss)
            self.step(self.critic_optimizer, F.mse_loss(self.critic(obs).squeeze(-1), reward))
        self.kept.append((obs, reward))
        return reward.mean().item()

    def auxiliary_phase(self, epochs=2):
        before = copy.deepcopy(self.policy).requires_grad_(False)
        for _ in range(epochs):
            for obs, reward in self.kept:
                dist, auxiliary = self.policy(obs)
                drift = kl_divergence(before(obs)[0], dist).mean()
                self.step(self.policy_optimizer, 0.5 * F.mse_loss(auxiliary, reward) + drift)
        self.kept.clear()

    @staticmethod
    def step(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


agent, scores = PhasicAgent(), []
for iteration in range(24):
    scores.append(agent.policy_phase())
    if iteration % 6 == 5:
        agent.auxiliary_phase()
print([round(score, 2) for score in scores])
