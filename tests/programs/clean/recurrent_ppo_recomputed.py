"""Recurrent PPO: states and log-probabilities are stored without a graph and recomputed with one."""

import torch
from torch import nn

torch.manual_seed(0)
N, T = 4, 6


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 16)
        self.pi, self.v = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, obs, state, done):
        outputs = []
        for x, d in zip(obs, done):
            state = state * (1 - d)[None, :, None]
            out, state = self.gru(x[None], state)
            outputs.append(out)
        hidden = torch.cat(outputs)
        return torch.distributions.Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1), state


agent = Recurrent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
state = torch.zeros(1, N, 16)
for _ in range(6):
    first = state.clone()
    store = {k: [] for k in ("obs", "action", "log_prob", "value", "done", "reward")}
    with torch.no_grad():
        for _ in range(T):
            obs, done = torch.randn(N, 3), (torch.rand(N) < 0.1).float()
            dist, value, state = agent(obs[None], state, done[None])
            action = dist.sample()
            for k, x in zip(
                store, (obs, action[0], dist.log_prob(action)[0], value[0], done, torch.randn(N))
            ):
                store[k].append(x)
    data = {k: torch.stack(v) for k, v in store.items()}
    advantage, last = torch.zeros(T, N), torch.zeros(N)
    for t in reversed(range(T - 1)):
        delta = data["reward"][t] + 0.99 * data["value"][t + 1] * (1 - data["done"][t + 1]) - data["value"][t]
        last = delta + 0.95 * 0.99 * (1 - data["done"][t + 1]) * last
        advantage[t] = last
    returns = advantage + data["value"]
    for _ in range(2):
        dist, value, _ = agent(data["obs"], first, data["done"])
        ratio = (dist.log_prob(data["action"]) - data["log_prob"]).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = loss + 0.5 * (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
