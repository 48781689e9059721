"""The reference of the ratio is computed inside the loop over minibatches, from the weights of that moment: over all
epochs it is exactly one.
Repaired here.

Round 22
Class: meaning
"""

import torch
from torch import nn


class Memory:
    def __init__(self):
        self.states, self.actions, self.rewards, self.terminal = [], [], [], []

    def __len__(self):
        return len(self.states)

    def add(self, state, action, reward, terminal):
        self.states.append(state)
        self.actions.append(action)
        self.rewards.append(reward)
        self.terminal.append(terminal)

    def retrieve(self):
        return (
            torch.stack(self.states),
            torch.stack(self.actions),
            torch.tensor(self.rewards),
            torch.tensor(self.terminal),
        )


class Model:
    likelihood_ratio_clipping = 0.2

    def __init__(self, size, actions):
        self.network = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, actions))
        self.baseline = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=3e-3)
        self.baseline_optimizer = torch.optim.Adam(self.baseline.parameters(), lr=3e-3)

    def log_likelihood(self, states, actions):
        return torch.log_softmax(self.network(states), dim=1).gather(1, actions.view(-1, 1)).squeeze(1)

    def act(self, state):
        with torch.no_grad():
            return torch.multinomial(torch.softmax(self.network(state), dim=0), 1).squeeze()

    def update(self, states, actions, returns):
        with torch.no_grad():
            reward = returns - self.baseline(states).squeeze(1)
            reward = (reward - reward.mean()) / (reward.std() + 1e-6)
            reference = self.log_likelihood(states, actions)
        for _ in range(5):
            for rows in torch.randperm(len(states)).chunk(2):
                log_likelihood = self.log_likelihood(states[rows], actions[rows])
                prob_ratio = torch.exp(log_likelihood - reference[rows])
                clipped = prob_ratio.clamp(
                    1 - self.likelihood_ratio_clipping, 1 + self.likelihood_ratio_clipping
                )
                loss = -torch.minimum(prob_ratio * reward[rows], clipped * reward[rows]).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            error = (self.baseline(states).squeeze(1) - returns).pow(2).mean()
            self.baseline_optimizer.zero_grad()
            error.backward()
            self.baseline_optimizer.step()


def bandit_walk(state, action):
    """A state of three numbers; the action names the largest, for which it is paid."""
    reward = 1.0 if int(action) == int(state.argmax()) else 0.0
    return torch.roll(state, 1) * 0.6 + 0.8 * torch.randn(3), reward, bool(torch.rand(()) < 0.15)


torch.manual_seed(2225)
model = Model(3, 3)
for _ in range(8):
    memory, state = Memory(), torch.randn(3)
    while len(memory) < 60:
        action = model.act(state)
        following, reward, terminal = bandit_walk(state, action)
        memory.add(state, action, reward, terminal)
        state = torch.randn(3) if terminal else following
    states, actions, rewards, terminal = memory.retrieve()
    returns, running = torch.zeros(len(memory)), 0.0
    for t in reversed(range(len(memory))):
        running = rewards[t] + 0.8 * running * (not terminal[t])
        returns[t] = running
    model.update(states, actions, returns)
    print(round(rewards.mean().item(), 3))
