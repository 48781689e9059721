# 4.03  An actor-critic with one bug
#
# The critic estimates how good a state is. The advantage says how much better
# things went than the critic thought; the actor makes actions with a positive
# advantage more likely. Both share one optimizer and one backward(): that is
# fine, as long as each term of the loss trains only what it is meant to train.
#
# The actor's term contains the advantage, and the advantage contains the
# critic. If the gradient flows there, the actor's loss finds an easy way out: it
# raises the critic's opinion of every state, whatever was earned there, because
# a smaller advantage makes a smaller loss. Ask of each factor: is it to be
# trained by this term, or is it a weight?

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
        # TODO: one line below lets a gradient through that it should stop
        values = self.critic(states).squeeze(-1)
        with torch.no_grad():
            next_values = self.critic(next_states).squeeze(-1)
        targets = rewards + self.gamma * (1 - ended) * next_values
        advantages = targets - values
        log_probs = Categorical(logits=self.actor(states)).log_prob(actions)
        actor_loss = -(log_probs * advantages).mean()
        critic_loss = (values - targets).pow(2).mean()
        loss = actor_loss + 0.5 * critic_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
