"""A2C with an LSTM: the state at the end of a rollout is the start of the next, and is never detached.

Round 2
Class: stays alive
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(219)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(4, 16)
        self.pi, self.v = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, obs, state):
        state = self.lstm(obs, state)
        return Categorical(logits=self.pi(state[0])), self.v(state[0]).squeeze(-1), state


class Worker:
    def __init__(self, net, envs=6):
        self.net = net
        self.state = (torch.zeros(envs, 16), torch.zeros(envs, 16))
        self.obs = torch.randn(envs, 4)

    def rollout(self, length=5):
        logs, values, rewards = [], [], []
        state = self.state
        for _ in range(length):
            dist, value, state = self.net(self.obs, state)
            action = dist.sample()
            logs.append(dist.log_prob(action))
            values.append(value)
            rewards.append((action == (self.obs[:, 0] > 0)).float())
            self.obs = torch.randn_like(self.obs)
        self.state = state  # BUG GS305 GS402
        return torch.stack(logs), torch.stack(values), torch.stack(rewards)


net = Recurrent()
worker = Worker(net)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for update in range(30):
    log_probs, values, rewards = worker.rollout()  # BUG GS402 GS305
    returns = rewards.flip(0).cumsum(0).flip(0)
    advantage = returns - values
    loss = -(log_probs * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # BUG GS402
    optimizer.step()
