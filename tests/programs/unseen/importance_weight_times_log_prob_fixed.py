"""Off-policy actor-critic multiplies the log-probability by a live importance weight of the same policy.
Repaired here.

Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(181)


class OffPolicyAgent:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.value = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam([*self.policy.parameters(), *self.value.parameters()], lr=3e-3)

    def importance(self, log_prob, behaviour):
        return (log_prob.detach() - behaviour).exp().clamp(max=3.0)

    def update(self, obs, action, reward, behaviour):
        log_prob = Categorical(logits=self.policy(obs)).log_prob(action)
        value = self.value(obs).squeeze(-1)
        weight = self.importance(log_prob, behaviour)
        advantage = (reward - value).detach()
        policy_loss = -(weight * advantage * log_prob).mean()
        value_loss = (weight.detach() * (value - reward).pow(2)).mean()
        self.optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        self.optimizer.step()
        return weight.mean().item()


agent = OffPolicyAgent()
for step in range(150):
    obs = torch.randn(64, 4)
    action = torch.randint(0, 3, (64,))
    reward = (action == obs[:, :3].argmax(-1)).float()
    behaviour = torch.full((64,), 1 / 3).log()
    agent.update(obs, action, reward, behaviour)
with torch.no_grad():
    print("right", (agent.policy(obs).argmax(-1) == obs[:, :3].argmax(-1)).float().mean().item())
