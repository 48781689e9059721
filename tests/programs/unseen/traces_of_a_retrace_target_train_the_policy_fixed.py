"""Retrace: the target values are constants, the truncated traces between them are made of the live policy.
Repaired here.

Round 12
Class: weights
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1206)
ENVS, STEPS, ACTIONS, GAMMA = 12, 7, 3, 0.95


class PolicyAndValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 32), nn.Tanh())
        self.logits = nn.Linear(32, ACTIONS)
        self.q = nn.Linear(32, ACTIONS)

    def forward(self, obs):
        x = self.body(obs)
        return self.logits(x).softmax(-1), self.q(x)


def pick(table, action):
    return table.gather(-1, action.unsqueeze(-1)).squeeze(-1)


def retrace(reward, value, taken_value, trace):
    """Targets [STEPS - 1, ENVS], from the end: what follows counts as far as the traces reach."""
    target, targets = value[-1], []
    for t in reversed(range(STEPS - 1)):
        correction = trace[t + 1] * (target - taken_value[t + 1]) if t + 1 < STEPS - 1 else 0.0
        target = reward[t] + GAMMA * (value[t + 1] + correction)
        targets.append(target)
    return torch.stack(targets[::-1])


def learn(net, slow, optimizer, obs, action, reward, behaviour):
    probs, q = net(obs)
    with torch.no_grad():
        slow_q = slow(obs)[1]
        value = (probs * slow_q).sum(-1)
        taken_value = pick(slow_q, action)
    trace = (pick(probs.detach(), action) / behaviour).clamp(max=1.0)
    target = retrace(reward, value, taken_value, trace)
    critic_loss = F.mse_loss(pick(q, action)[:-1], target)
    gain = (q - (probs * q).sum(-1, keepdim=True)).detach()
    actor_loss = -(probs * gain).sum(-1).mean()
    entropy = -(probs * probs.clamp_min(1e-8).log()).sum(-1).mean()
    loss = critic_loss + actor_loss - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


net = PolicyAndValues()
slow = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for update in range(60):
    obs = torch.randn(STEPS, ENVS, 5)
    mixed = 0.5 * torch.rand(STEPS, ENVS, ACTIONS).softmax(-1) + 0.5 / ACTIONS
    action = torch.distributions.Categorical(mixed).sample()
    reward = (action == (obs[..., 0] > 0).long()).float()
    learn(net, slow, optimizer, obs, action, reward, pick(mixed, action))
    if update % 10 == 9:
        slow.load_state_dict(net.state_dict())
