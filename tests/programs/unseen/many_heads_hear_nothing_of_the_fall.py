"""A bootstrapped Q-network with several heads on the pole: the memory does not keep whether the pole had fallen, and
every head's target takes the value of the state behind the fall.

Round 30
Class: meaning
"""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

SEED, HEADS, GAMMA = 3008, 4, 0.98
CAPACITY, WARM_UP, STEPS, BATCH = 600, 100, 500, 48


class HeadedQNet(nn.Module):
    def __init__(self, n_state=4, n_action=2):
        super().__init__()
        self.core = nn.Sequential(nn.Linear(n_state, 48), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(48, n_action) for _ in range(HEADS))

    def forward(self, state):
        core = self.core(state)
        return torch.stack([head(core) for head in self.heads], dim=1)


class BootstrappedDQN:
    def __init__(self, rng):
        self.rng = rng
        self.eval_net = HeadedQNet()
        self.target_net = copy.deepcopy(self.eval_net)
        self.optimizer = torch.optim.RMSprop(self.eval_net.parameters(), lr=5e-4)
        self.learn_step = self.memory_counter = 0
        self.memory = np.zeros((CAPACITY, 4 * 2 + 2 + HEADS), dtype=np.float32)

    def choose_action(self, state, head):
        if self.rng.random() < 0.1:
            return int(self.rng.integers(2))
        with torch.no_grad():
            q = self.eval_net(torch.from_numpy(state).unsqueeze(0))
        return q[0, head].argmax().item()

    def store(self, state, action, reward, state_):
        heads = self.rng.random(HEADS) < 0.7
        row = np.hstack([state, [action, reward], state_, heads])  # BUG GS805
        self.memory[self.memory_counter % CAPACITY] = row
        self.memory_counter += 1

    def learn(self):
        if self.learn_step % 40 == 0:
            self.target_net.load_state_dict(self.eval_net.state_dict())
        self.learn_step += 1
        rows = self.rng.integers(min(self.memory_counter, CAPACITY), size=BATCH)
        sample = torch.from_numpy(self.memory[rows])
        state, action, reward = sample[:, :4], sample[:, 4].long(), sample[:, 5:6]
        state_, heads = sample[:, 6:10], sample[:, 10 : 10 + HEADS]

        index = action.view(-1, 1, 1).expand(-1, HEADS, 1)
        q_eval = self.eval_net(state).gather(2, index).squeeze(2)
        with torch.no_grad():
            q_next = self.target_net(state_).amax(dim=2)
            q_target = reward + GAMMA * q_next  # BUG GS805
        loss = (heads * (q_eval - q_target).pow(2)).sum() / heads.sum().clamp(min=1)

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    env = gym.make("CartPole-v1")
    dqn = BootstrappedDQN(rng)
    state, _ = env.reset(seed=SEED)
    head = 0
    for step in range(STEPS):
        action = dqn.choose_action(state, head)
        state_, reward, terminated, truncated, _ = env.step(action)
        dqn.store(state, action, reward, state_)  # BUG GS805
        state = state_
        if terminated or truncated:
            state, _ = env.reset()
            head = int(rng.integers(HEADS))
        if step >= WARM_UP and step % 3 == 0:
            dqn.learn()
    env.close()


run()
