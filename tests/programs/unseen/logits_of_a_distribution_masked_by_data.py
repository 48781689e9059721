"""Invalid actions are masked by writing to the data of the logits that a distribution keeps, after its
entropy was taken.

Class: hidden writes
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(211)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)


def masked(obs, allowed):
    dist = Categorical(logits=policy(obs))
    entropy = dist.entropy()
    dist.logits.data[~allowed] = -1e9  # BUG GS104
    return dist, entropy


for update in range(150):
    obs = torch.randn(32, 6)
    allowed = torch.rand(32, 5) < 0.7
    allowed[:, 0] = True
    dist, entropy = masked(obs, allowed)
    action = torch.multinomial(dist.logits.detach().softmax(-1), 1).squeeze(-1)
    reward = obs.gather(1, action.unsqueeze(1)).squeeze(1)
    advantage = reward - reward.mean()
    loss = -(advantage * dist.log_prob(action)).mean() - 0.05 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
