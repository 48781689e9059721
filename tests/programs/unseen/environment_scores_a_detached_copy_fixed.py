"""A flow network over a grid: the environment turns the policy's outputs into log-probabilities, on a copy that it
detaches so that the mask does not touch the original. Of all parameters only the partition constant learns.
Repaired here.

Round 16
Class: the line
"""

import torch
from torch import nn

torch.manual_seed(1604)
SIDE, BATCH = 6, 24


class Grid:
    """From the corner, one step right or up at a time; the third action ends the trajectory."""

    actions, features = 3, 2 * SIDE

    def reset(self):
        return torch.zeros(BATCH, 2, dtype=torch.long), torch.zeros(BATCH, dtype=torch.bool)

    def encode(self, cell):
        return nn.functional.one_hot(cell, SIDE).flatten(1).float()

    def forbidden(self, cell):
        return torch.cat([cell == SIDE - 1, torch.zeros(len(cell), 1, dtype=torch.bool)], -1)

    def log_probs(self, outputs, cell):
        logits = outputs.clone()
        logits[self.forbidden(cell)] = -1e9
        return logits.log_softmax(-1)

    def step(self, cell, action, done):
        move = nn.functional.one_hot(action, 3)[:, :2] * (~done).unsqueeze(-1)
        return cell + move, done | (action == 2)

    def log_parents(self, cell):
        """A uniform policy back: one over the number of ways into the cell."""
        return -(cell > 0).sum(-1).clamp(min=1).float().log()

    def log_reward(self, cell):
        x = (cell.float() / (SIDE - 1) - 0.5).abs()
        return (0.1 + (x > 0.25).all(-1) + 2.0 * ((x > 0.3) & (x < 0.45)).all(-1)).log()


class FlowAgent(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.env = env
        self.forward_policy = nn.Sequential(
            nn.Linear(env.features, 48), nn.LeakyReLU(), nn.Linear(48, env.actions)
        )
        self.log_z = nn.Parameter(torch.zeros(()))

    def trajectories(self):
        """The cells where each trajectory ended, and the log-probability of the ways there and back."""
        cell, done = self.env.reset()
        there, back = torch.zeros(BATCH), torch.zeros(BATCH)
        while not done.all():
            log_probs = self.env.log_probs(self.forward_policy(self.env.encode(cell)), cell)
            action = torch.distributions.Categorical(logits=log_probs.detach()).sample()
            taken = log_probs.gather(1, action.unsqueeze(1)).squeeze(1)
            there = there + torch.where(done, 0.0, taken)
            moved = ~done & (action != 2)
            cell, done = self.env.step(cell, action, done)
            back = back + torch.where(moved, self.env.log_parents(cell), 0.0)
        return cell, there, back

    def trajectory_balance(self):
        cell, there, back = self.trajectories()
        return (self.log_z + there - self.env.log_reward(cell) - back).pow(2).mean()


agent = FlowAgent(Grid())
optimizer = torch.optim.Adam(
    [
        {"params": agent.forward_policy.parameters(), "lr": 2e-3},
        {"params": [agent.log_z], "lr": 5e-2},
    ]
)
history = []
for update in range(60):
    loss = agent.trajectory_balance()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
print(f"balance {history[0]:.2f} → {history[-1]:.2f}, log Z {agent.log_z.item():.2f}")
