"""The log-probability of a squashed action is summed over everything that is there, not over the joints: one
number for the whole batch.
Repaired here.

Round 22
Class: axes
"""

import torch
import torch.nn.functional as F
from torch import nn

STATE, JOINTS, CAPACITY = 4, 2, 512


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE, 32), nn.ReLU(), nn.Linear(32, 2 * JOINTS))

    def sample(self, state):
        mean, raw = self.net(state).chunk(2, dim=-1)
        std = F.softplus(raw) + 1e-3
        noise = torch.randn_like(mean)
        before = mean + std * noise
        action = torch.tanh(before)
        logp = -0.5 * noise.pow(2) - std.log() - 0.9189
        correction = torch.log(1.0 - action.pow(2) + 1e-6)
        return action, torch.sum(logp - correction, dim=1, keepdim=True)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE + JOINTS, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, state, action):
        return self.net(torch.cat((state, action), dim=1))


class ReplayBuffer:
    def __init__(self):
        self.data = {
            "state": torch.zeros(CAPACITY, STATE),
            "action": torch.zeros(CAPACITY, JOINTS),
            "reward": torch.zeros(CAPACITY, 1),
            "next_state": torch.zeros(CAPACITY, STATE),
            "done": torch.zeros(CAPACITY, 1),
        }
        self.count = 0

    def store(self, **row):
        for name, value in row.items():
            self.data[name][self.count % CAPACITY] = torch.as_tensor(value)
        self.count += 1

    def sample(self, size):
        rows = torch.randint(min(self.count, CAPACITY), (size,))
        return {name: column[rows] for name, column in self.data.items()}


def arm(state, action):
    """Two joints pull the first two numbers towards the last two."""
    moved = torch.cat((state[:JOINTS] + 0.4 * action, state[JOINTS:]))
    distance = (moved[:JOINTS] - moved[JOINTS:]).norm()
    return moved, -distance.item(), bool(distance < 0.1)


torch.manual_seed(2207)
policy, critic, target = Policy(), Critic(), Critic()
target.load_state_dict(critic.state_dict())
policy_optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
buffer, state, clock = ReplayBuffer(), torch.randn(STATE), 0
for step in range(260):
    with torch.no_grad():
        action, _ = policy.sample(state.unsqueeze(0))
    next_state, reward, done = arm(state, action[0])
    buffer.store(state=state, action=action[0], reward=reward, next_state=next_state, done=float(done))
    clock += 1
    state, clock = (torch.randn(STATE), 0) if done or clock == 20 else (next_state, clock)
    if step < 64 or step % 5:
        continue
    batch = buffer.sample(32)
    with torch.no_grad():
        next_action, next_logp = policy.sample(batch["next_state"])
        soft = target(batch["next_state"], next_action) - 0.05 * next_logp
        y = batch["reward"] + 0.95 * (1 - batch["done"]) * soft
    critic_optimizer.zero_grad()
    F.mse_loss(critic(batch["state"], batch["action"]), y).backward()
    critic_optimizer.step()
    fresh, logp = policy.sample(batch["state"])
    policy_optimizer.zero_grad()
    (0.05 * logp - critic(batch["state"], fresh)).mean().backward()
    policy_optimizer.step()
    for old, new in zip(target.parameters(), critic.parameters()):
        old.data.lerp_(new.data, 0.02)
print(round(y.mean().item(), 3))
