"""A2C on four CartPoles at once, with generalised advantage estimation, a network and an optimizer for the actor and
another pair for the critic.

Round 31
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

N_ENVS, N_STEPS, N_UPDATES = 4, 20, 70


class A2C(nn.Module):
    def __init__(self, n_features, n_actions, actor_lr=1e-3, critic_lr=5e-3):
        super().__init__()
        self.critic = nn.Sequential(
            nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)
        )
        self.actor = nn.Sequential(
            nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, n_actions)
        )
        self.critic_optim = torch.optim.RMSprop(self.critic.parameters(), lr=critic_lr)
        self.actor_optim = torch.optim.RMSprop(self.actor.parameters(), lr=actor_lr)

    def forward(self, x):
        x = torch.as_tensor(x, dtype=torch.float32)
        return self.critic(x).squeeze(-1), self.actor(x)

    def select_action(self, x):
        state_values, logits = self.forward(x)
        dist = Categorical(logits=logits)
        actions = dist.sample()
        return actions, dist.log_prob(actions), state_values, dist.entropy()

    def get_losses(self, rewards, action_log_probs, value_preds, entropy, masks, gamma, lam, ent_coef):
        """value_preds has one row more than the others: the values of the states behind the last step."""
        steps = len(rewards)
        advantages = torch.zeros(steps, N_ENVS)
        values = value_preds.detach()
        gae = 0.0
        for t in reversed(range(steps)):
            td_error = rewards[t] + gamma * masks[t] * values[t + 1] - values[t]
            gae = td_error + gamma * lam * masks[t] * gae
            advantages[t] = gae
        critic_loss = (advantages + values[:-1] - value_preds[:-1]).pow(2).mean()
        actor_loss = -(advantages.detach() * action_log_probs).mean() - ent_coef * entropy.mean()
        return critic_loss, actor_loss

    def update_parameters(self, critic_loss, actor_loss):
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()


class Poles:
    """Several CartPoles that begin anew by themselves; where the clock ran out, the rest is paid as the critic
    sees it."""

    def __init__(self, agent, gamma, seed):
        self.envs = [gym.make("CartPole-v1") for _ in range(N_ENVS)]
        self.agent, self.gamma = agent, gamma
        self.states = np.stack([env.reset(seed=seed + i)[0] for i, env in enumerate(self.envs)])
        self.lengths, self.finished = [0] * N_ENVS, []

    def step(self, actions):
        rewards, masks = torch.zeros(N_ENVS), torch.ones(N_ENVS)
        for i, env in enumerate(self.envs):
            state, reward, terminated, truncated, _ = env.step(actions[i].item())
            self.lengths[i] += 1
            rewards[i] = reward
            if truncated and not terminated:
                with torch.no_grad():
                    rewards[i] += self.gamma * self.agent(state)[0]
            if terminated or truncated:
                masks[i] = 0.0
                self.finished.append(self.lengths[i])
                self.lengths[i] = 0
                state, _ = env.reset()
            self.states[i] = state
        return self.states.copy(), rewards, masks


def main(gamma=0.99, lam=0.95, ent_coef=0.01):
    torch.manual_seed(3107)
    agent = A2C(n_features=4, n_actions=2)
    poles = Poles(agent, gamma, seed=3107)
    states = poles.states.copy()
    for update in range(N_UPDATES):
        rewards, log_probs, values, entropies, masks = [], [], [], [], []
        for _ in range(N_STEPS):
            actions, log_prob, value, entropy = agent.select_action(states)
            states, reward, mask = poles.step(actions)
            rewards.append(reward)
            log_probs.append(log_prob)
            values.append(value)
            entropies.append(entropy)
            masks.append(mask)
        values.append(agent(states)[0])
        critic_loss, actor_loss = agent.get_losses(
            torch.stack(rewards),
            torch.stack(log_probs),
            torch.stack(values),
            torch.stack(entropies),
            torch.stack(masks),
            gamma,
            lam,
            ent_coef,
        )
        agent.update_parameters(critic_loss, actor_loss)
        if update % 20 == 0:
            length = np.mean(poles.finished[-20:]) if poles.finished else 0.0
            print(f"update {update}: length {length:.1f}, critic {critic_loss.item():.3f}")
    for env in poles.envs:
        env.close()


if __name__ == "__main__":
    main()
