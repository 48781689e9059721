"""An ensemble of dynamics models whose limits of the log-variance are pushed together by the loss, as the algorithm
asks, but are made as parameters that do not require a gradient: the term is a constant and the limits stay.

Round 24
Class: zero in part
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Swish(nn.Module):
    def __init__(self):
        super().__init__()
        self.beta = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return x * torch.sigmoid(self.beta * x)


class FCLayer(nn.Module):
    """One linear layer for every member of the ensemble."""

    def __init__(self, input_dim, output_dim, ensemble_size, activation):
        super().__init__()
        self.weight = nn.Parameter(
            torch.randn(ensemble_size, input_dim, output_dim) / (2 * np.sqrt(input_dim))
        )
        self.bias = nn.Parameter(torch.zeros(ensemble_size, 1, output_dim))
        self.activation = activation

    def forward(self, x):
        return self.activation(torch.bmm(x, self.weight) + self.bias)


class EnsembleModel(nn.Module):
    def __init__(self, state_dim, action_dim, ensemble_size=4, learning_rate=4e-3):
        super().__init__()
        self.ensemble_size = ensemble_size
        highest, lowest = torch.full((1, state_dim + 1), 0.5), torch.full((1, state_dim + 1), -10.0)
        self._max_logvar = nn.Parameter(highest, requires_grad=False)  # BUG GS207
        self._min_logvar = nn.Parameter(lowest, requires_grad=False)  # BUG GS207
        self.layer1 = FCLayer(state_dim + action_dim, 40, ensemble_size, Swish())
        self.layer2 = FCLayer(40, 40, ensemble_size, Swish())
        self.layer3 = FCLayer(40, 2 * (state_dim + 1), ensemble_size, nn.Identity())
        self.optimizer = torch.optim.Adam(self.parameters(), lr=learning_rate)  # BUG GS207

    def forward(self, x):
        mean, logvar = self.layer3(self.layer2(self.layer1(x))).chunk(2, dim=-1)
        logvar = self._max_logvar - F.softplus(self._max_logvar - logvar)
        logvar = self._min_logvar + F.softplus(logvar - self._min_logvar)
        return mean, logvar

    def loss(self, mean, logvar, labels):
        fit = ((mean - labels).pow(2) * torch.exp(-logvar)).mean(dim=(1, 2)).sum()
        return fit + logvar.mean(dim=(1, 2)).sum()

    def train_on(self, loss):
        self.optimizer.zero_grad()
        loss = loss + 0.01 * torch.sum(self._max_logvar) - 0.01 * torch.sum(self._min_logvar)
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Cart:
    """Push the cart to the middle of its rail, with friction and a little noise."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = self.rng.uniform(-1, 1, 2)
        return self.state.astype(np.float32)

    def step(self, action):
        x, v = self.state
        v = 0.9 * v + 0.2 * float(np.clip(action, -1, 1)) + self.rng.normal(scale=0.01)
        self.state = np.array([x + 0.3 * v, v])
        return self.state.astype(np.float32), -abs(self.state[0]) - 0.1 * abs(v)


class MPC:
    """Random shooting: the best first action of forty plans that the models dream to the end."""

    def __init__(self, model, rng, horizon=5, plans=40):
        self.model, self.rng, self.horizon, self.plans = model, rng, horizon, plans

    @torch.no_grad()
    def plan(self, state):
        actions = torch.tensor(self.rng.uniform(-1, 1, (self.horizon, self.plans, 1)), dtype=torch.float32)
        states = torch.as_tensor(state).expand(self.model.ensemble_size, self.plans, -1)
        gain = torch.zeros(self.plans)
        for action in actions:
            mean, _ = self.model(torch.cat([states, action.expand(self.model.ensemble_size, -1, -1)], dim=-1))
            states, gain = states + mean[..., 1:], gain + mean[..., 0].mean(dim=0)
        return actions[0, gain.argmax()].numpy()


torch.manual_seed(2418)
rng = np.random.default_rng(18)
env, model = Cart(rng), EnsembleModel(state_dim=2, action_dim=1)
controller, inputs, labels = MPC(model, rng), [], []
for episode in range(6):
    state, total = env.reset(), 0.0
    for _ in range(25):
        action = rng.uniform(-1, 1, 1).astype(np.float32) if episode == 0 else controller.plan(state)
        next_state, reward = env.step(action[0])
        inputs.append(np.concatenate([state, action]))
        labels.append(np.concatenate([[reward], next_state - state]))
        state, total = next_state, total + reward
    for _ in range(12):
        rows = rng.integers(len(inputs), size=(model.ensemble_size, 32))
        x = torch.tensor(np.array(inputs)[rows], dtype=torch.float32)
        y = torch.tensor(np.array(labels)[rows], dtype=torch.float32)
        loss = model.train_on(model.loss(*model(x), y))
    print(f"episode {episode}: return {total:.2f}, loss of the models {loss:.2f}")
