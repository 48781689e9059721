"""Every fortieth update the policy is pulled to the demonstrations, with the log-probs of the method that acts.

Round 2
Class: late and rare
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(223)


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-3)

    @torch.no_grad()
    def act(self, obs, action=None):
        dist = Categorical(logits=self.net(obs))
        action = dist.sample() if action is None else action
        return action, dist.log_prob(action)  # BUG GS201 GS202

    def evaluate(self, obs, action):
        return action, Categorical(logits=self.net(obs)).log_prob(action)

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
demo_obs = torch.randn(200, 4)
demo_action = demo_obs[:, :3].argmax(1)
for update in range(1, 101):
    obs = torch.randn(48, 4)
    action, _ = agent.act(obs)
    reward = (action == obs[:, :3].argmax(1)).float()
    agent.step(-(agent.evaluate(obs, action)[1] * (reward - reward.mean())).mean())
    if update % 40 == 0:
        rows = torch.randint(200, (64,))
        _, log_prob = agent.act(demo_obs[rows], demo_action[rows])  # BUG GS201 GS202
        agent.step(-log_prob.mean())
