"""A dueling Q-learner whose control object holds a moving network and a target. At a sync the weights are copied, and
then the target's name is given to the moving network: from the first sync on there is only one network.
Repaired here.

Round 18
Class: late and rare
"""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class DuelingDQN(nn.Module):
    def __init__(self, inputs, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU())
        self.advantage, self.value = nn.Linear(32, n_actions), nn.Linear(32, 1)

    def forward(self, x):
        x = self.body(x)
        adv = self.advantage(x)
        return self.value(x) + adv - adv.mean(dim=1, keepdim=True)


class CentralControl:
    def __init__(self, inputs, n_actions, gamma, learning_rate):
        self.moving_nn = DuelingDQN(inputs, n_actions)
        self.target_nn = DuelingDQN(inputs, n_actions)
        self.target_nn.load_state_dict(self.moving_nn.state_dict())
        self.optimizer = optim.Adam(self.moving_nn.parameters(), lr=learning_rate)
        self.gamma = gamma

    def get_max_action(self, obs):
        with torch.no_grad():
            return self.moving_nn(torch.tensor(obs)[None]).argmax(dim=1).item()

    def optimize(self, mini_batch):
        states, actions, rewards, next_states, dones = (torch.tensor(np.array(x)) for x in zip(*mini_batch))
        loss = self._calulate_loss(states, actions, rewards.float(), next_states, dones.float())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def update_target(self):
        self.target_nn.load_state_dict(self.moving_nn.state_dict())

    def _calulate_loss(self, states, actions, rewards, next_states, dones):
        state_action_values = self.moving_nn(states).gather(1, actions[:, None]).squeeze(-1)
        with torch.no_grad():
            best = self.moving_nn(next_states).argmax(dim=1, keepdim=True)
            next_values = self.target_nn(next_states).gather(1, best).squeeze(-1)
        expected = rewards + self.gamma * next_values * (1 - dones)
        return nn.functional.mse_loss(state_action_values, expected)


class Elevator:
    """Passengers wait on some floor; going there pays, every step costs."""

    floors = 6

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.floor, self.call, self.t = 0, int(self.rng.integers(1, self.floors)), 0
        return self.view()

    def view(self):
        return np.array([self.floor, self.call, self.call - self.floor], dtype=np.float32) / self.floors

    def step(self, action):
        self.floor = min(max(self.floor + (-1, 0, 1)[action], 0), self.floors - 1)
        self.t += 1
        arrived = self.floor == self.call
        return self.view(), 1.0 if arrived else -0.1, arrived, self.t >= 25


class AgentControl:
    def __init__(self, control, env, sync_every=40):
        self.control, self.env, self.sync_every = control, env, sync_every
        self.memory, self.epsilon, self.updates = [], 1.0, 0

    def run(self, episodes):
        for _ in range(episodes):
            obs, done, late = self.env.reset(), False, False
            while not (done or late):
                explore = self.env.rng.random() < self.epsilon
                action = int(self.env.rng.integers(3)) if explore else self.control.get_max_action(obs)
                after, reward, done, late = self.env.step(action)
                self.memory.append((obs, action, reward, after, done))
                obs = after
                if len(self.memory) > 64:
                    self.learn()
            self.epsilon = max(0.05, 0.93 * self.epsilon)

    def learn(self):
        rows = self.env.rng.integers(len(self.memory), size=32)
        self.control.optimize([self.memory[i] for i in rows])
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.control.update_target()


torch.manual_seed(1812)
agent = AgentControl(CentralControl(3, 3, gamma=0.95, learning_rate=2e-3), Elevator(1812))
agent.run(70)
print(agent.updates, "updates")
