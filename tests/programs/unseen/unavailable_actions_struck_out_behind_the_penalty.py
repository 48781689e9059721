"""Conservative Q-learning offline: the values of unavailable actions are overwritten through `.data` for the greedy
choice, after the penalty has saved them.

Round 8
Class: hidden writes
"""

import torch
from torch import nn

torch.manual_seed(816)
dataset = {
    "obs": torch.randn(500, 6),
    "action": torch.randint(4, (500, 1)),
    "mask": torch.rand(500, 4) > 0.3,
}
dataset["reward"] = dataset["obs"][:, 0] * dataset["action"].squeeze(1)
q_net = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
agreement = 0.0
for step in range(60):
    pick = torch.randint(500, (64,))
    obs, action = dataset["obs"][pick], dataset["action"][pick]
    q = q_net(obs)
    chosen = q.gather(1, action).squeeze(1)
    penalty = q.logsumexp(1) - chosen
    q.data[~dataset["mask"][pick]] = -1e4  # BUG GS104
    greedy = q.argmax(1)
    agreement = 0.9 * agreement + 0.1 * (greedy == action.squeeze(1)).float().mean().item()
    loss = (chosen - dataset["reward"][pick]).pow(2).mean() + 0.5 * penalty.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
