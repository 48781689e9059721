"""QMIX: GRU agents, masked actions by a fill that makes a new tensor, hyper-networks, double Q."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
N, A, B, T = 3, 4, 6, 5


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.cell, self.out = nn.Linear(5, 16), nn.GRUCell(16, 16), nn.Linear(16, A)

    def unroll(self, obs):
        state, qs = torch.zeros(B * N, 16), []
        for t in range(obs.shape[1]):
            state = self.cell(torch.relu(self.inp(obs[:, t].reshape(B * N, 5))), state)
            qs.append(self.out(state).view(B, N, A))
        return torch.stack(qs, 1)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = nn.Linear(7, N * 8), nn.Linear(7, 8)
        self.w2, self.b2 = nn.Linear(7, 8), nn.Sequential(nn.Linear(7, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, qs, state):
        w1 = self.w1(state).abs().view(*qs.shape[:2], N, 8)
        hidden = nn.functional.elu((qs.unsqueeze(-2) @ w1).squeeze(-2) + self.b1(state))
        return (hidden * self.w2(state).abs()).sum(-1) + self.b2(state).squeeze(-1)


agent, mixer = Agent(), Mixer()
agent_target, mixer_target = copy.deepcopy(agent), copy.deepcopy(mixer)
params = [*agent.parameters(), *mixer.parameters()]
optimizer = torch.optim.RMSprop(params, lr=5e-4)
for step in range(8):
    obs, state = torch.randn(B, T + 1, N, 5), torch.randn(B, T + 1, 7)
    available = torch.rand(B, T + 1, N, A) > 0.2
    available[..., 0] = True
    action, reward = torch.randint(A, (B, T, N, 1)), torch.randn(B, T)
    mask = (torch.arange(T) < torch.randint(1, T + 1, (B, 1))).float()
    q = agent.unroll(obs)
    chosen = q[:, :-1].gather(-1, action).squeeze(-1)
    with torch.no_grad():
        after = agent_target.unroll(obs)
        best = q.masked_fill(~available, -1e9)[:, 1:].argmax(-1, keepdim=True)
        after = after[:, 1:].gather(-1, best).squeeze(-1)
        wanted = reward + 0.99 * mixer_target(after, state[:, 1:])
    error = (mixer(chosen, state[:, :-1]) - wanted) * mask
    loss = error.pow(2).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 10)
    optimizer.step()
    if step % 3 == 2:
        agent_target.load_state_dict(agent.state_dict())
        mixer_target.load_state_dict(mixer.state_dict())
