"""Double DQN in a class: every few steps the online network is loaded from its target, and forgets."""

import torch
from torch import nn

torch.manual_seed(0)


class DoubleDQN:
    def __init__(self, every=4):
        self.online, self.frozen = self.network(), self.network()
        self.frozen.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.every, self.steps = every, 0

    @staticmethod
    def network():
        return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))

    def learn(self, obs, action, reward, after):
        with torch.no_grad():
            best = self.online(after).argmax(1, keepdim=True)
            wanted = reward + 0.99 * self.frozen(after).gather(1, best)
        loss = nn.functional.mse_loss(self.online(obs).gather(1, action), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        if self.steps % self.every == 0:
            self.frozen.load_state_dict(self.online.state_dict())


agent = DoubleDQN()
for _ in range(40):
    agent.learn(torch.randn(32, 4), torch.randint(2, (32, 1)), torch.randn(32, 1), torch.randn(32, 4))
