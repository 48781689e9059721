"""PPO with a second network for the old policy, which takes over the weights at every epoch, not at every rollout.

Round 12
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1220)
EPOCHS, EPISODES, LENGTH = 4, 6, 15


def make_policy():
    return nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 3))


class Ppo:
    def __init__(self, clip=0.1):
        self.policy, self.old, self.clip = make_policy(), make_policy(), clip
        self.baseline = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
        groups = [{"params": self.policy.parameters(), "lr": 3e-3}, {"params": self.baseline.parameters()}]
        self.optimizer = torch.optim.Adam(groups, lr=5e-3)
        self.remember()

    def remember(self):
        self.old.load_state_dict(self.policy.state_dict())

    def act(self, obs):
        with torch.no_grad():
            return Categorical(logits=self.policy(obs)).sample()

    def surrogate(self, obs, action, advantage):
        with torch.no_grad():
            before = Categorical(logits=self.old(obs)).log_prob(action)  # BUG GS804
        dist = Categorical(logits=self.policy(obs))
        ratio = (dist.log_prob(action) - before).exp()
        limited = ratio.clamp(1 - self.clip, 1 + self.clip)
        return torch.min(ratio * advantage, limited * advantage).mean() + 0.01 * dist.entropy().mean()

    def update(self, obs, action, returns):
        with torch.no_grad():
            advantage = returns - self.baseline(obs).squeeze(-1)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for _ in range(EPOCHS):
            self.remember()  # BUG GS804
            error = (self.baseline(obs).squeeze(-1) - returns).pow(2).mean()
            loss = error - self.surrogate(obs, action, advantage)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def rollout(agent):
    """Boats on a river: steer left, straight or right, and keep off the banks."""
    boats, seen, taken, paid = torch.randn(EPISODES, 3), [], [], []
    for _ in range(LENGTH):
        action = agent.act(boats)
        seen.append(boats)
        taken.append(action)
        turn = (action - 1.0).unsqueeze(1) * torch.tensor([[0.3, 0.1, 0.0]])
        boats = boats + turn + 0.1 * torch.randn(EPISODES, 3)
        paid.append(1.0 - boats[:, 0].abs())
    returns, ahead = [], torch.zeros(EPISODES)
    for reward in reversed(paid):
        ahead = reward + 0.9 * ahead
        returns.append(ahead)
    return torch.cat(seen), torch.cat(taken), torch.cat(returns[::-1])


agent = Ppo()
for iteration in range(15):
    agent.update(*rollout(agent))
