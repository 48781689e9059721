"""A notebook with a deep Q-network after the tutorial. The line that clears the gradients names the method and does not
call it: every step takes the sum of all gradients since the first.
Repaired here.

Round 19
Class: the line
"""

# %% imports
import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

random.seed(1905)
torch.manual_seed(1905)

# %% hyperparameters
BATCH_SIZE = 32
GAMMA = 0.97
EPS_START, EPS_END, EPS_DECAY = 0.9, 0.05, 120
TAU = 0.01
LR = 1e-3


# %% the environment: a boat on a river, seven landings, the third one pays
def reset():
    return [random.randrange(7), random.choice([-1, 1])]


def step(state, action):
    place, current = state
    place = max(0, min(6, place + action - 1 + (current if random.random() < 0.3 else 0)))
    return [place, current], (1.0 if place == 2 else -0.1), place == 2


def encode(state):
    return F.one_hot(torch.tensor(state[0]), 7).float() + 0.1 * state[1]


# %% networks
class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


policy_net = DQN(7, 3)
target_net = DQN(7, 3)
target_net.load_state_dict(policy_net.state_dict())
optimizer = optim.AdamW(policy_net.parameters(), lr=LR, amsgrad=True)
memory = deque(maxlen=1000)
steps_done = 0


# %% acting
def select_action(state):
    global steps_done
    eps = EPS_END + (EPS_START - EPS_END) * math.exp(-steps_done / EPS_DECAY)
    steps_done += 1
    if random.random() < eps:
        return random.randrange(3)
    with torch.no_grad():
        return policy_net(state.unsqueeze(0)).max(1).indices.item()


# %% learning
def optimize_model():
    if len(memory) < BATCH_SIZE:
        return
    state, action, reward, next_state, done = zip(*random.sample(memory, BATCH_SIZE))
    state_batch, action_batch = torch.stack(state), torch.tensor(action).unsqueeze(1)
    reward_batch, going_on = torch.tensor(reward), 1 - torch.tensor(done).float()

    state_action_values = policy_net(state_batch).gather(1, action_batch)
    with torch.no_grad():
        next_state_values = target_net(torch.stack(next_state)).max(1).values * going_on
    expected_state_action_values = next_state_values * GAMMA + reward_batch
    loss = F.smooth_l1_loss(state_action_values, expected_state_action_values.unsqueeze(1))

    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()


# %% the main loop
episode_durations = []
for i_episode in range(20):
    state, done, t = reset(), False, 0
    while not done and t < 15:
        action = select_action(encode(state))
        observation, reward, done = step(state, action)
        memory.append((encode(state), action, reward, encode(observation), done))
        state, t = observation, t + 1
        optimize_model()
        weights = target_net.state_dict()
        for key, value in policy_net.state_dict().items():
            weights[key] = value * TAU + weights[key] * (1 - TAU)
        target_net.load_state_dict(weights)
    episode_durations.append(t)
print("durations", episode_durations)
