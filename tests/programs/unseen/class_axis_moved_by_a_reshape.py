"""A decision transformer over discrete actions: to bring the classes to the second axis, the logits are reshaped.

Round 12
Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1201)
BATCH, STEPS, STATE, ACTIONS, WIDTH = 24, 10, 5, 6, 32


class DecisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.goal = nn.Linear(1, WIDTH)
        self.state = nn.Linear(STATE, WIDTH)
        self.last = nn.Embedding(ACTIONS + 1, WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn(STEPS, WIDTH))
        self.attend = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, ACTIONS)

    def forward(self, goal, state, last):
        x = self.goal(goal.unsqueeze(-1)) + self.state(state) + self.last(last) + self.place
        future = torch.ones(STEPS, STEPS, dtype=torch.bool).triu(1)
        mixed, _ = self.attend(x, x, x, attn_mask=future, need_weights=False)
        return self.head(self.norm(x + mixed))


def trajectories():
    """Trajectories of a decent player: the best action is the quadrant of the state, most of the time."""
    state = torch.randn(BATCH, STEPS, STATE)
    best = (state[..., 0] > 0).long() + 2 * (state[..., 1] > 0).long()
    action = torch.where(torch.rand(BATCH, STEPS) < 0.2, torch.randint(ACTIONS, (BATCH, STEPS)), best)
    reward = (action == best).float()
    goal = reward.flip(1).cumsum(1).flip(1)
    last = torch.cat([torch.full((BATCH, 1), ACTIONS), action[:, :-1]], 1)
    return goal, state, last, action


def imitation_loss(logits, action):
    by_class = logits.reshape(BATCH, ACTIONS, STEPS)  # BUG GS604
    return F.cross_entropy(by_class, action)


model = DecisionTransformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for update in range(60):
    goal, state, last, action = trajectories()
    loss = imitation_loss(model(goal, state, last), action)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print("loss", loss.item())
