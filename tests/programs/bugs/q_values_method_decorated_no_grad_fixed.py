"""The helper that the greedy policy uses is decorated with no_grad, and so is the loss that calls it."""

import torch
from torch import nn

torch.manual_seed(0)


class DQN:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def q_values(self, obs):
        return self.online(obs)

    def act(self, obs):
        with torch.no_grad():
            return self.q_values(obs).argmax(-1)

    def learn(self, obs, action, reward, next_obs):
        predicted = self.q_values(obs).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            wanted = reward + 0.97 * self.target(next_obs).amax(1)
        loss = nn.functional.huber_loss(predicted, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = DQN()
for step in range(12):
    obs = torch.randn(16, 4)
    agent.learn(obs, agent.act(obs), torch.randn(16), torch.randn(16, 4))
    if step % 4 == 3:
        agent.target.load_state_dict(agent.online.state_dict())
