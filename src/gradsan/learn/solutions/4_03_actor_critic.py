import torch
from torch import nn
from torch.distributions import Categorical


class ActorCritic:
    """One-step advantage actor-critic."""

    def __init__(self, observations: int, actions: int, lr: float, gamma: float) -> None:
        self.actor = nn.Linear(observations, actions)
        self.critic = nn.Linear(observations, 1)
        parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.SGD(parameters, lr=lr)
        self.gamma = gamma

    def update(self, states, actions, rewards, next_states, ended) -> None:
        """One step on a batch: `actions` are indices, `ended` is 1.0 where the episode was over."""
        values = self.critic(states).squeeze(-1)
        with torch.no_grad():
            next_values = self.critic(next_states).squeeze(-1)
        targets = rewards + self.gamma * (1 - ended) * next_values
        advantages = (targets - values).detach()
        log_probs = Categorical(logits=self.actor(states)).log_prob(actions)
        actor_loss = -(log_probs * advantages).mean()
        critic_loss = (values - targets).pow(2).mean()
        loss = actor_loss + 0.5 * critic_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
