"""COMA: the counterfactual advantage of each agent is computed from the central critic without cutting it off.
Repaired here.

Round 2
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(227)
AGENTS, OBS, ACTIONS = 3, 4, 3
policies = nn.ModuleList(nn.Linear(OBS, ACTIONS) for _ in range(AGENTS))
central = nn.Sequential(nn.Linear(AGENTS * OBS, 48), nn.ReLU(), nn.Linear(48, AGENTS * ACTIONS))
optimizer = torch.optim.Adam([*policies.parameters(), *central.parameters()], lr=1e-3)


def coma_loss(obs, actions, team_reward):
    q = central(obs.flatten(1)).view(-1, AGENTS, ACTIONS)
    taken = q.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    critic_loss = (taken - team_reward.unsqueeze(-1)).pow(2).mean()
    policy_loss = 0.0
    for i, policy in enumerate(policies):
        dist = Categorical(logits=policy(obs[:, i]))
        baseline = (dist.probs.detach() * q[:, i]).sum(-1)
        advantage = (taken[:, i] - baseline).detach()
        policy_loss = policy_loss - (dist.log_prob(actions[:, i]) * advantage).mean()
    return policy_loss / AGENTS + critic_loss


for update in range(60):
    obs = torch.randn(48, AGENTS, OBS)
    with torch.no_grad():
        logits = torch.stack([p(obs[:, i]) for i, p in enumerate(policies)], 1)
        actions = Categorical(logits=logits).sample()
    team_reward = (actions == obs[..., :ACTIONS].argmax(-1)).float().mean(-1)
    loss = coma_loss(obs, actions, team_reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
