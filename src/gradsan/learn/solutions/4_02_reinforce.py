import torch
from torch import nn
from torch.distributions import Categorical


class Reinforce:
    """The Monte-Carlo policy gradient."""

    def __init__(self, observations: int, actions: int, lr: float, gamma: float) -> None:
        self.policy = nn.Linear(observations, actions)
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.log_probs: list[torch.Tensor] = []
        self.rewards: list[float] = []

    def act(self, observation: torch.Tensor) -> int:
        """Draw an action and remember how likely it was."""
        dist = Categorical(logits=self.policy(observation))
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        return int(action)

    def reward(self, value: float) -> None:
        """Remember what the last action earned."""
        self.rewards.append(value)

    def returns(self) -> torch.Tensor:
        """The discounted return from each step to the end."""
        total, backwards = 0.0, []
        for reward in reversed(self.rewards):
            total = reward + self.gamma * total
            backwards.append(total)
        return torch.tensor(backwards[::-1])

    def finish_episode(self) -> None:
        """Learn from the episode that has just ended (sum over its steps)."""
        loss = -(torch.stack(self.log_probs) * self.returns()).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs.clear()
        self.rewards.clear()
