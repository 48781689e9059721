"""Curiosity: the encoded states are detached where they are made, not where the forward model uses them, so that the
inverse model cannot train the encoder either and its features stay what chance made them. After
rll-research/url_benchmark#3 (the inverse model does not shape the features).

Round 27
Class: zero in part
"""

import torch
from torch import nn, optim
from torch.nn import functional as F


class Maze:
    def __init__(self, width=5, copies=6):
        self.width, self.copies = width, copies
        self.moves = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])

    def reset(self):
        self.pos = torch.zeros(self.copies, 2, dtype=torch.long)
        return self.picture()

    def picture(self):
        flat = self.pos[:, 0] * self.width + self.pos[:, 1]
        return F.one_hot(flat, self.width**2).float() + 0.1 * torch.rand(self.copies, self.width**2)

    def step(self, action):
        self.pos = (self.pos + self.moves[action]).clamp(0, self.width - 1)
        goal = (self.pos == self.width - 1).all(1)
        arrived = self.picture()
        self.pos[goal] = 0
        return arrived, self.picture(), goal.float(), goal.float()


class ICM(nn.Module):
    def __init__(self, n_in, n_actions, n_feat=16):
        super().__init__()
        self.n_actions = n_actions
        self.encoder = nn.Sequential(nn.Linear(n_in, 32), nn.ELU(), nn.Linear(32, n_feat))
        self.inverse = nn.Sequential(nn.Linear(2 * n_feat, 32), nn.ReLU(), nn.Linear(32, n_actions))
        self.forward_model = nn.Sequential(
            nn.Linear(n_feat + n_actions, 32), nn.ReLU(), nn.Linear(32, n_feat)
        )

    def forward(self, state, next_state, action):
        phi = self.encoder(state).detach()  # BUG GS202
        phi_next = self.encoder(next_state).detach()  # BUG GS202
        guess = self.inverse(torch.cat([phi, phi_next], dim=1))
        one_hot = F.one_hot(action, self.n_actions).float()
        predicted = self.forward_model(torch.cat([phi.detach(), one_hot], dim=1))
        error = 0.5 * (predicted - phi_next.detach()).pow(2).sum(1)
        return guess, error


class Agent(nn.Module):
    def __init__(self, n_in, n_actions):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, n_actions))
        self.v = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return F.log_softmax(self.pi(x), dim=1), self.v(x).squeeze(1)


def train(updates=50, horizon=6, gamma=0.95, eta=0.1, beta=0.2):
    torch.manual_seed(2706)
    env = Maze()
    n_in = env.width**2
    agent, icm = Agent(n_in, 4), ICM(n_in, 4)
    agent_optim = optim.Adam(agent.parameters(), lr=2e-3)
    icm_optim = optim.Adam(icm.parameters(), lr=2e-3)
    state = env.reset()
    for update in range(updates):
        states, actions, rewards, ends, nexts = [], [], [], [], []
        for _ in range(horizon):
            with torch.no_grad():
                log_pi, _ = agent(state)
            action = torch.multinomial(log_pi.exp(), 1).squeeze(1)
            arrived, next_state, reward, end = env.step(action)
            for box, x in zip((states, actions, rewards, ends, nexts), (state, action, reward, end, arrived)):
                box.append(x)
            state = next_state
        s, a, s2 = torch.cat(states), torch.cat(actions), torch.cat(nexts)
        guess, error = icm(s, s2, a)
        icm_loss = (1 - beta) * F.cross_entropy(guess, a) + beta * error.mean()
        icm_optim.zero_grad()
        icm_loss.backward()
        icm_optim.step()

        bonus = eta * error.detach().view(horizon, -1)
        with torch.no_grad():
            ret = agent(state)[1]
        returns = []
        for t in reversed(range(horizon)):
            ret = rewards[t] + bonus[t] + gamma * (1 - ends[t]) * ret
            returns.insert(0, ret)
        returns = torch.cat(returns)
        log_pi, value = agent(s)
        advantage = returns - value.detach()
        chosen = log_pi.gather(1, a.unsqueeze(1)).squeeze(1)
        entropy = -(log_pi.exp() * log_pi).sum(1).mean()
        loss = -(chosen * advantage).mean() + 0.5 * F.mse_loss(value, returns) - 0.01 * entropy
        agent_optim.zero_grad()
        loss.backward()
        agent_optim.step()
        if update % 10 == 0:
            print(update, "icm", icm_loss.item(), "goals", torch.stack(rewards).sum().item())


if __name__ == "__main__":
    train()
