"""A recurrent Q-network for a cue that has to be remembered: the values of the next steps come from the same unrolled
sequence as the predictions and are left attached in the target.

Round 29
Class: the line
"""

import torch
from torch import nn


class CueCorridor:
    """The cue is shown once; at the end of the corridor one turns left or right."""

    def __init__(self, length, batch):
        self.length, self.batch = length, batch

    def episodes(self, agent, epsilon):
        cue = torch.randint(2, (self.batch,))
        obs = torch.zeros(self.batch, self.length + 1, 3)
        obs[torch.arange(self.batch), 0, cue] = 1.0
        obs[:, :, 2] = torch.linspace(0, 1, self.length + 1)
        actions = torch.zeros(self.batch, self.length, dtype=torch.long)
        memory = None
        for t in range(self.length):
            q, memory = agent.act(obs[:, t : t + 1], memory)
            explore = torch.rand(self.batch) < epsilon
            actions[:, t] = torch.where(explore, torch.randint(2, (self.batch,)), q[:, 0].argmax(-1))
        rewards = torch.zeros(self.batch, self.length)
        rewards[:, -1] = torch.where(actions[:, -1] == cue, 1.0, -1.0)
        ended = torch.zeros(self.batch, self.length)
        ended[:, -1] = 1.0
        return obs, actions, rewards, ended


class RecurrentQ(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.embed = nn.Linear(3, hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.q = nn.Linear(hidden, 2)

    def forward(self, obs, memory=None):
        out, memory = self.lstm(torch.relu(self.embed(obs)), memory)
        return self.q(out), memory

    @torch.no_grad()
    def act(self, obs, memory):
        return self(obs, memory)


def td_loss(agent, obs, actions, rewards, ended, gamma=0.95):
    q, _ = agent(obs)
    predicted = q[:, :-1].gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    following = q[:, 1:].max(dim=-1).values  # BUG GS301
    target = rewards + gamma * (1 - ended) * following  # BUG GS301
    return nn.functional.huber_loss(predicted, target)


def main():
    torch.manual_seed(2906)
    corridor, agent = CueCorridor(length=6, batch=24), RecurrentQ()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
    for update in range(90):
        batch = corridor.episodes(agent, epsilon=max(0.1, 1 - update / 50))
        loss = td_loss(agent, *batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 5.0)
        optimizer.step()
        if update % 30 == 0:
            print(update, round(loss.item(), 4))


main()
