"""Deep Q-learning on CartPole with a network that plays and a network that makes the targets. Before every
backward the gradients of the target network are cleared, which has none; those of the network that is
trained pile up from update to update.

Round 33
Class: the line
"""

import random
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "terminated"))

BATCH_SIZE = 48
GAMMA = 0.98
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 300
SYNC_EVERY = 40

random.seed(41)
torch.manual_seed(41)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        x = torch.relu(self.layer2(x))
        return self.layer3(x)


env = gym.make("CartPole-v1")
policy_net, target_net = DQN(4, 2), DQN(4, 2)
target_net.load_state_dict(policy_net.state_dict())
optimizer = torch.optim.RMSprop(policy_net.parameters(), lr=5e-4)
memory = deque(maxlen=4000)


def select_action(state, step):
    eps = EPS_END + (EPS_START - EPS_END) * np.exp(-step / EPS_DECAY)
    if random.random() < eps:
        return random.randrange(2)
    with torch.no_grad():
        return policy_net(torch.from_numpy(state)).argmax().item()


def optimize_model():
    batch = Transition(*zip(*random.sample(memory, BATCH_SIZE)))
    state = torch.from_numpy(np.stack(batch.state))
    action = torch.tensor(batch.action).unsqueeze(1)
    reward = torch.tensor(batch.reward)
    next_state = torch.from_numpy(np.stack(batch.next_state))
    terminated = torch.tensor(batch.terminated)

    q = policy_net(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        q_next = target_net(next_state).max(1).values
        q_next[terminated] = 0.0
    loss = nn.functional.smooth_l1_loss(q, reward + GAMMA * q_next)

    target_net.zero_grad()  # BUG GS401
    loss.backward()  # BUG GS401
    optimizer.step()  # BUG GS401
    return loss.item()


state, _ = env.reset(seed=41)
length, lengths, updates = 0, [], 0
for step in range(500):
    action = select_action(state, step)
    next_state, reward, terminated, truncated, _ = env.step(action)
    memory.append(Transition(state, action, float(reward), next_state, terminated))
    state, length = next_state, length + 1
    if terminated or truncated:
        state, _ = env.reset()
        lengths.append(length)
        length = 0
    if len(memory) >= 2 * BATCH_SIZE:
        loss = optimize_model()
        updates += 1
        if updates % SYNC_EVERY == 0:
            target_net.load_state_dict(policy_net.state_dict())
            print(f"{step + 1}: loss {loss:.4f}, length {np.mean(lengths[-8:]):.1f}")
env.close()
