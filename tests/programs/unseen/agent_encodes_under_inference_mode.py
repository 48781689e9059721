"""The agent caches the encoding of its map with a method that is decorated for inference; the learner puts the
cached encoding into its loss.

Round 2
Class: forward errors
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(201)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.map_encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU())
        self.body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    @torch.inference_mode()  # BUG GS202 GS201
    def encode_map(self, level):
        return self.map_encoder(level)

    def policy(self, obs, encoded):
        return Categorical(logits=self.head(self.body(obs) * encoded))  # BUG GS202 GS201


class Learner:
    def __init__(self, agent):
        self.agent = agent
        self.optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)

    def update(self, level, obs, action, advantage):
        encoded = self.agent.encode_map(level)  # BUG GS202 GS201
        log_prob = self.agent.policy(obs, encoded).log_prob(action)
        loss = -(log_prob * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


agent = Agent()
learner = Learner(agent)
level = torch.rand(12)
for update in range(30):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        action = agent.policy(obs, agent.encode_map(level)).sample()
    reward = (action == obs[:, :3].argmax(1)).float()
    learner.update(level, obs, action, reward - reward.mean())
