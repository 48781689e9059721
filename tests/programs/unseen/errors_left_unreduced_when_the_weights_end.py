"""Prioritised replay gives way to uniform replay late in the run; the mean was taken where the weights were multiplied in.

Round 12
Class: late and rare
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1212)
rng = np.random.default_rng(1212)
SIZE, BATCH, UPDATES, PRIORITISED_UNTIL = 400, 32, 90, 60


class Replay:
    def __init__(self):
        self.obs = rng.normal(size=(SIZE, 4)).astype(np.float32)
        self.action = rng.integers(3, size=SIZE)
        self.after = (0.9 * self.obs + 0.1 * rng.normal(size=(SIZE, 4))).astype(np.float32)
        self.reward = (self.after[:, 0] * (self.action - 1)).astype(np.float32)
        self.priority = np.ones(SIZE)

    def sample(self, prioritised, beta=0.5):
        odds = self.priority / self.priority.sum() if prioritised else None
        rows = rng.choice(SIZE, BATCH, p=odds)
        batch = [torch.from_numpy(x[rows]) for x in (self.obs, self.action, self.reward, self.after)]
        if not prioritised:
            return rows, batch, None
        weights = (SIZE * odds[rows]) ** -beta
        return rows, batch, torch.as_tensor(weights / weights.max(), dtype=torch.float32)


def td_losses(net, slow, batch):
    obs, action, reward, after = batch
    with torch.no_grad():
        best = net(after).argmax(1, keepdim=True)
        goal = reward + 0.9 * slow(after).gather(1, best).squeeze(1)
    chosen = net(obs).gather(1, action[:, None]).squeeze(1)
    return F.smooth_l1_loss(chosen, goal, reduction="none")


net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
slow = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
replay = Replay()
for update in range(UPDATES):
    rows, batch, weights = replay.sample(prioritised=update < PRIORITISED_UNTIL)
    loss = td_losses(net, slow, batch)  # BUG GS403
    if weights is not None:
        replay.priority[rows] = loss.detach().numpy() + 1e-3
        loss = (weights * loss).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS403
    optimizer.step()
    if update % 15 == 14:
        slow.load_state_dict(net.state_dict())
