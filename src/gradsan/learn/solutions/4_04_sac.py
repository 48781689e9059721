import copy

import torch
from torch import nn


class SAC:
    """Soft actor-critic with one critic, for actions on the whole real line."""

    def __init__(self, observations: int, actions: int, lr: float, gamma: float) -> None:
        self.actor = nn.Linear(observations, 2 * actions)
        self.critic = nn.Sequential(nn.Linear(observations + actions, 8), nn.Tanh(), nn.Linear(8, 1))
        self.target = copy.deepcopy(self.critic)
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.actor_optimizer = torch.optim.SGD(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.SGD(self.critic.parameters(), lr=lr)
        self.alpha_optimizer = torch.optim.SGD([self.log_alpha], lr=lr)
        self.gamma, self.wanted_entropy = gamma, float(actions)

    def act(self, states, noise):
        """Actions for `noise` drawn from a standard normal, and their log-probabilities."""
        mean, log_std = self.actor(states).chunk(2, dim=-1)
        log_std = log_std.clamp(-5.0, 2.0)
        log_prob = (-0.5 * noise.pow(2) - log_std - 0.9189).sum(dim=-1)  # 0.9189 is log √(2π)
        return mean + log_std.exp() * noise, log_prob

    def q(self, critic: nn.Module, states, actions) -> torch.Tensor:
        """What `critic` thinks of `actions`."""
        return critic(torch.cat([states, actions], dim=-1)).squeeze(-1)

    def update_critic(self, states, actions, rewards, next_states, noise) -> None:
        with torch.no_grad():
            next_actions, next_log_prob = self.act(next_states, noise)
            soft = self.q(self.target, next_states, next_actions) - self.log_alpha.exp() * next_log_prob
            goal = rewards + self.gamma * soft
        loss = (self.q(self.critic, states, actions) - goal).pow(2).mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()

    def update_actor(self, states, noise) -> None:
        self.alpha_optimizer.zero_grad()
        actions, log_prob = self.act(states, noise)
        alpha = self.log_alpha.exp().detach()
        actor_loss = (alpha * log_prob - self.q(self.critic, states, actions)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        alpha_loss = -(self.log_alpha * (log_prob.detach() + self.wanted_entropy)).mean()
        alpha_loss.backward()
        self.alpha_optimizer.step()

    def update(self, states, actions, rewards, next_states, noise, next_noise) -> None:
        """One step of the critic, then one of the actor and the temperature."""
        self.update_critic(states, actions, rewards, next_states, next_noise)
        self.update_actor(states, noise)
