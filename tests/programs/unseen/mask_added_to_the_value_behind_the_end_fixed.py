"""The repaired twin of a program in which the following goes wrong.
Continuous Q-learning with normalised advantage functions: in the target the mask of the end is added where
it should multiply, and the value of the next state counts behind every end. After
ikostrikov/pytorch-ddpg-naf#16.

Round 36
Class: meaning
"""

import random
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
from torch.optim import Adam

Transition = namedtuple("Transition", ("state", "action", "mask", "next_state", "reward"))


class BallOnBeam:
    """Tilt the beam so that the ball stays on it; it ends when the ball falls off and is cut after 80 steps."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.tilt, self.t = self.rng.uniform(-0.5, 0.5), 0.0, 0.0, 0
        return self._state()

    def _state(self):
        return torch.tensor([[self.x, self.v, self.tilt]], dtype=torch.float32)

    def step(self, action):
        self.t += 1
        self.tilt = 0.7 * self.tilt + 0.3 * float(np.clip(action, -1, 1))
        self.v += 0.08 * self.tilt + self.rng.normal(0, 0.02)
        self.x += self.v
        fallen = abs(self.x) > 1.0
        reward = -1.0 if fallen else 0.2 - 0.2 * abs(self.x)
        return self._state(), reward, fallen, self.t >= 80


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity, self.memory, self.position = capacity, [], 0

    def push(self, *args):
        if len(self.memory) < self.capacity:
            self.memory.append(None)
        self.memory[self.position] = Transition(*args)
        self.position = (self.position + 1) % self.capacity

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class OUNoise:
    def __init__(self, scale=0.4, theta=0.15, sigma=0.3):
        self.scale, self.theta, self.sigma, self.state = scale, theta, sigma, 0.0

    def reset(self):
        self.state = 0.0

    def noise(self):
        self.state += -self.theta * self.state + self.sigma * np.random.randn()
        return self.scale * self.state


class Policy(nn.Module):
    def __init__(self, hidden_size, num_inputs, num_outputs):
        super().__init__()
        self.num_outputs = num_outputs
        self.linear1, self.linear2 = nn.Linear(num_inputs, hidden_size), nn.Linear(hidden_size, hidden_size)
        self.V, self.mu = nn.Linear(hidden_size, 1), nn.Linear(hidden_size, num_outputs)
        self.L = nn.Linear(hidden_size, num_outputs**2)
        self.register_buffer("tril_mask", torch.tril(torch.ones(num_outputs, num_outputs), diagonal=-1))
        self.register_buffer("diag_mask", torch.eye(num_outputs))

    def forward(self, state, action=None):
        x = torch.tanh(self.linear2(torch.tanh(self.linear1(state))))
        V, mu = self.V(x), torch.tanh(self.mu(x))
        if action is None:
            return mu, None, V
        raw = self.L(x).view(-1, self.num_outputs, self.num_outputs)
        L = raw * self.tril_mask + torch.exp(raw.clamp(-5, 3)) * self.diag_mask
        P = L @ L.transpose(2, 1)
        u_mu = (action - mu).unsqueeze(2)
        A = -0.5 * (u_mu.transpose(2, 1) @ P @ u_mu)[:, :, 0]
        return mu, A + V, V


class NAF:
    def __init__(self, gamma, tau, hidden_size, num_inputs, num_outputs):
        self.model = Policy(hidden_size, num_inputs, num_outputs)
        self.target_model = Policy(hidden_size, num_inputs, num_outputs)
        self.optimizer = Adam(self.model.parameters(), lr=2e-3)
        self.gamma, self.tau = gamma, tau
        self.target_model.load_state_dict(self.model.state_dict())

    def select_action(self, state, noise):
        with torch.no_grad():
            mu, _, _ = self.model(state)
        return (mu + noise.noise()).clamp(-1, 1)

    def update_parameters(self, batch):
        state_batch, action_batch = torch.cat(batch.state), torch.cat(batch.action)
        reward_batch, mask_batch = torch.cat(batch.reward), torch.cat(batch.mask)
        with torch.no_grad():
            _, _, next_state_values = self.target_model(torch.cat(batch.next_state))
            reward_batch, mask_batch = reward_batch.unsqueeze(1), mask_batch.unsqueeze(1)
            expected_values = reward_batch + self.gamma * mask_batch * next_state_values
        _, state_action_values, _ = self.model(state_batch, action_batch)
        loss = nn.functional.mse_loss(state_action_values, expected_values)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1)
        self.optimizer.step()
        with torch.no_grad():
            for target_param, param in zip(self.target_model.parameters(), self.model.parameters()):
                target_param.copy_(target_param * (1.0 - self.tau) + param * self.tau)
        return loss.item()


def main(seed=3627, num_episodes=12, batch_size=32):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    env, noise, memory = BallOnBeam(seed), OUNoise(), ReplayMemory(2000)
    agent = NAF(gamma=0.97, tau=0.02, hidden_size=48, num_inputs=3, num_outputs=1)
    for i_episode in range(num_episodes):
        state, total, loss = env.reset(), 0.0, float("nan")
        noise.reset()
        while True:
            action = agent.select_action(state, noise)
            next_state, reward, fallen, cut = env.step(action.item())
            total += reward
            memory.push(state, action, torch.tensor([float(not fallen)]), next_state, torch.tensor([reward]))
            state = next_state
            if len(memory) >= 2 * batch_size:
                loss = agent.update_parameters(Transition(*zip(*memory.sample(batch_size))))
            if fallen or cut:
                break
        if i_episode % 4 == 3:
            print(f"episode {i_episode}: reward {total:.2f}, loss {loss:.4f}")


main()
