"""Independent learners: each agent's loss is put into a list as a small function. The functions look their agent up when
they are called, and find the last one: the first two are stepped and never taught.

Round 16
Class: weights
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1608)
rng = np.random.default_rng(1608)
AGENTS, OBS, ACTIONS, ROUNDS = 3, 4, 3, 48


class Agent(nn.Module):
    """An actor-critic for one player of a repeated game."""

    def __init__(self, index, width=24):
        super().__init__()
        self.index = index
        self.body = nn.Sequential(nn.Linear(OBS, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, ACTIONS), nn.Linear(width, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)

    def act(self, obs):
        with torch.no_grad():
            return self(obs)[0].sample()

    def loss(self, batch, entropy=0.01):
        dist, value = self(batch["obs"][:, self.index])
        reward = batch["reward"][:, self.index]
        gain = (reward - value).detach()
        policy_term = -(dist.log_prob(batch["action"][:, self.index]) * gain).mean()
        return policy_term + 0.5 * (value - reward).pow(2).mean() - entropy * dist.entropy().mean()


class Crossing:
    """Three cars choose a lane; sharing one costs, the lane that a car prefers pays."""

    def play(self, agents):
        obs = rng.normal(size=(ROUNDS, AGENTS, OBS)).astype(np.float32)
        seen = torch.from_numpy(obs)
        action = torch.stack([agent.act(seen[:, i]) for i, agent in enumerate(agents)], 1)
        lanes = action.numpy()
        crowd = (lanes[:, :, None] == lanes[:, None, :]).sum(-1) - 1
        wanted = obs[:, :, :ACTIONS].argmax(-1) == lanes
        reward = wanted.astype(np.float32) - 0.5 * crowd
        return {"obs": seen, "action": action, "reward": torch.from_numpy(reward.astype(np.float32))}


class Trainer:
    def __init__(self, agents, lr=5e-3):
        self.agents = agents
        self.optimizers = [torch.optim.Adam(agent.parameters(), lr=lr) for agent in agents]
        self.losses = []
        for agent in agents:
            self.losses.append(lambda batch: agent.loss(batch))  # noqa: B023  # BUG GS204 GS404
        self.history = []

    def update(self, batch):
        report = []
        for optimizer, loss_of in zip(self.optimizers, self.losses):
            loss = loss_of(batch)  # BUG GS204 GS404
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            report.append(loss.item())
        self.history.append(report)


trainer = Trainer([Agent(index) for index in range(AGENTS)])
game = Crossing()
for update in range(60):
    batch = game.play(trainer.agents)
    trainer.update(batch)
    if update % 20 == 0:
        print(update, batch["reward"].mean(0).tolist(), trainer.history[-1])
