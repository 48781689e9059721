import torch
from torch import nn


class DQN:
    """Q-learning with a target network."""

    def __init__(self, observations: int, actions: int, lr: float, gamma: float) -> None:
        self.online = nn.Sequential(nn.Linear(observations, 8), nn.Tanh(), nn.Linear(8, actions))
        self.target = nn.Sequential(nn.Linear(observations, 8), nn.Tanh(), nn.Linear(8, actions))
        self.optimizer = torch.optim.SGD(self.online.parameters(), lr=lr)
        self.gamma = gamma
        self.sync()

    def sync(self) -> None:
        """Let the target network catch up."""
        self.target.load_state_dict(self.online.state_dict())

    def update(self, states, actions, rewards, next_states, ended) -> None:
        """One step on a batch: `actions` are indices, `ended` is 1.0 where the episode was over."""
        q = self.online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.target(next_states).max(dim=1).values
            target = rewards + self.gamma * (1 - ended) * best
        loss = (q - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
