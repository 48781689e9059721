"""Advantage actor-critic after a tutorial, with several carts. The generalised advantages are made of the critic's
live values, and their square is the critic's loss: it is differentiated through every later value of the rollout, and
the values are moved towards each other in both directions instead of towards a fixed target.

Round 21
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim


class A2C(nn.Module):
    def __init__(self, n_features, n_actions, critic_lr, actor_lr, n_envs):
        super().__init__()
        self.n_envs = n_envs
        self.critic = nn.Sequential(
            nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)
        )
        self.actor = nn.Sequential(nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, n_actions))
        self.critic_optim = optim.RMSprop(self.critic.parameters(), lr=critic_lr)
        self.actor_optim = optim.RMSprop(self.actor.parameters(), lr=actor_lr)

    def select_action(self, x):
        x = torch.as_tensor(x, dtype=torch.float32)
        pd = torch.distributions.Categorical(logits=self.actor(x))
        actions = pd.sample()
        return actions, pd.log_prob(actions), self.critic(x).squeeze(-1), pd.entropy()

    def get_losses(self, rewards, log_probs, value_preds, last_value, entropy, masks, gamma, lam, ent_coef):
        T = len(rewards)
        advantages = torch.zeros(T, self.n_envs)
        gae = torch.zeros(self.n_envs)
        for t in reversed(range(T)):
            next_value = value_preds[t + 1] if t + 1 < T else last_value
            td_error = rewards[t] + gamma * masks[t] * next_value - value_preds[t]  # BUG GS301
            gae = td_error + gamma * lam * masks[t] * gae
            advantages[t] = gae
        critic_loss = advantages.pow(2).mean()  # BUG GS301
        actor_loss = -(advantages.detach() * log_probs).mean() - ent_coef * entropy.mean()
        return critic_loss, actor_loss

    def update_parameters(self, critic_loss, actor_loss):
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()


n_envs, n_updates, n_steps_per_update = 6, 100, 16
gamma, lam, ent_coef = 0.98, 0.95, 0.01
torch.manual_seed(42)
envs = [gym.make("CartPole-v1") for _ in range(n_envs)]
agent = A2C(4, 2, critic_lr=5e-3, actor_lr=1e-3, n_envs=n_envs)
states = np.stack([env.reset(seed=i)[0] for i, env in enumerate(envs)])
lengths, finished = np.zeros(n_envs), []

for sample_phase in range(n_updates):
    ep_value_preds, ep_log_probs, ep_entropy = [], [], []
    ep_rewards = torch.zeros(n_steps_per_update, n_envs)
    masks = torch.zeros(n_steps_per_update, n_envs)
    for step in range(n_steps_per_update):
        actions, log_probs, value_preds, entropy = agent.select_action(states)
        next_states = []
        for i, env in enumerate(envs):
            state, reward, terminated, truncated, _ = env.step(int(actions[i]))
            lengths[i] += 1
            if (
                truncated and not terminated
            ):  # what would still have come is worth the value of the last state
                with torch.no_grad():
                    reward += gamma * agent.critic(torch.as_tensor(state)).item()
            if terminated or truncated:
                finished.append(lengths[i])
                lengths[i] = 0
                state, _ = env.reset()
            ep_rewards[step, i] = reward
            masks[step, i] = 0.0 if terminated or truncated else 1.0
            next_states.append(state)
        ep_value_preds.append(value_preds)
        ep_log_probs.append(log_probs)
        ep_entropy.append(entropy)
        states = np.stack(next_states)
    with torch.no_grad():
        last_value = agent.critic(torch.as_tensor(states)).squeeze(-1)
    critic_loss, actor_loss = agent.get_losses(
        ep_rewards,
        torch.stack(ep_log_probs),
        torch.stack(ep_value_preds),
        last_value,
        torch.stack(ep_entropy),
        masks,
        gamma,
        lam,
        ent_coef,
    )
    agent.update_parameters(critic_loss, actor_loss)
print(
    "length of an episode at first",
    np.mean(finished[:20]).round(1),
    "and at last",
    np.mean(finished[-20:]).round(1),
)
