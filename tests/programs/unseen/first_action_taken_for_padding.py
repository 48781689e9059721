"""A sequence model of returns, states and actions embeds the actions with row zero declared as padding; action zero is
a real one, and its row stays as it is.

Round 12
Class: zero in part
"""

import torch
from torch import nn

torch.manual_seed(1212)
ACTIONS, STEPS, WIDTH, OBS = 5, 8, 32, 4


class SequencePolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_go = nn.Linear(1, WIDTH)
        self.obs = nn.Linear(OBS, WIDTH)
        self.action = nn.Embedding(ACTIONS, WIDTH, padding_idx=0)  # BUG GS208
        self.position = nn.Parameter(0.02 * torch.randn(STEPS, WIDTH))
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, ACTIONS))

    def forward(self, to_go, obs, before):
        token = self.to_go(to_go.unsqueeze(-1)) + self.obs(obs) + self.action(before) + self.position
        later = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)
        score = self.query(token) @ self.key(token).transpose(1, 2) / WIDTH**0.5
        weight = torch.softmax(score.masked_fill(later, float("-inf")), -1)
        return self.head(token + weight @ self.value(token))


def dataset(episodes=256):
    """The wise action is the one before plus one where the first number is positive, else the same once more."""
    obs = torch.randn(episodes, STEPS, OBS)
    before = torch.randint(ACTIONS, (episodes, STEPS))
    action = torch.empty_like(before)
    for t in range(STEPS):
        if t:
            before[:, t] = action[:, t - 1]
        action[:, t] = (before[:, t] + (obs[:, t, 0] > 0).long()) % ACTIONS
    reward = torch.rand(episodes, STEPS)
    to_go = reward.flip(1).cumsum(1).flip(1)
    return to_go, obs, before, action


policy = SequencePolicy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3, weight_decay=0.0)
data = dataset()
for update in range(60):
    pick = torch.randperm(256)[:32]
    to_go, obs, before, action = (column[pick] for column in data)
    logits = policy(to_go, obs, before)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), action.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
print("loss", loss.item())
