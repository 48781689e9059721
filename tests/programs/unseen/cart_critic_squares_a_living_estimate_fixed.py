"""The repaired twin of a program in which the following goes wrong.
Advantage actor-critic with several carts in the manner of a tutorial: the critic's loss is the square of
generalised advantages that are made of its own live values, so it runs back through the whole bootstrapped
chain. After Farama-Foundation/Gymnasium#1494.

Round 36
Class: stays alive
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

N_ENVS, N_STEPS, N_UPDATES = 4, 16, 60
GAMMA, LAM, ENT_COEF = 0.99, 0.95, 0.01
SEED = 3611


class A2C(nn.Module):
    """An actor and a critic, each with its own optimizer."""

    def __init__(self, n_features, n_actions, critic_lr, actor_lr):
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
        return self.critic(x), self.actor(x)

    def select_action(self, x):
        state_values, action_logits = self.forward(x)
        action_pd = torch.distributions.Categorical(logits=action_logits)
        actions = action_pd.sample()
        return actions, action_pd.log_prob(actions), state_values, action_pd.entropy()

    def get_losses(self, rewards, action_log_probs, value_preds, last_value, entropy, masks):
        """`masks[t]` is zero where the cart fell at step t; all are of shape (steps, carts)."""
        following = torch.cat([value_preds[1:], last_value.unsqueeze(0)])
        advantages, gae = [], torch.zeros(N_ENVS)
        for t in reversed(range(N_STEPS)):
            td_error = rewards[t] + GAMMA * masks[t] * following[t] - value_preds[t]
            gae = td_error + GAMMA * LAM * masks[t] * gae
            advantages.insert(0, gae)
        advantages = torch.stack(advantages)

        returns = (advantages + value_preds).detach()
        critic_loss = (returns - value_preds).pow(2).mean()
        actor_loss = -(advantages.detach() * action_log_probs).mean() - ENT_COEF * entropy.mean()
        return critic_loss, actor_loss

    def update_parameters(self, critic_loss, actor_loss):
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()


torch.manual_seed(SEED)
np.random.seed(SEED)
envs = [gym.make("CartPole-v1") for _ in range(N_ENVS)]
states = np.stack([env.reset(seed=SEED + i)[0] for i, env in enumerate(envs)])
agent = A2C(4, 2, critic_lr=5e-3, actor_lr=1e-3)
lengths, lived = [], [0] * N_ENVS

for update in range(N_UPDATES):
    ep_rewards, ep_masks = torch.zeros(N_STEPS, N_ENVS), torch.zeros(N_STEPS, N_ENVS)
    ep_log_probs, ep_values, ep_entropy = [], [], []
    for step in range(N_STEPS):
        actions, log_probs, values, entropy = agent.select_action(states)
        ep_log_probs.append(log_probs)
        ep_values.append(values.squeeze(-1))
        ep_entropy.append(entropy)
        states = np.empty_like(states)
        for i, env in enumerate(envs):
            states[i], reward, terminated, truncated, _ = env.step(actions[i].item())
            assert not truncated, "far longer than this script runs"
            lived[i] += 1
            ep_rewards[step, i] = float(reward)
            ep_masks[step, i] = float(not terminated)
            if terminated:
                lengths.append(lived[i])
                states[i], lived[i] = env.reset()[0], 0

    with torch.no_grad():
        last_value = agent.critic(torch.as_tensor(states)).squeeze(-1)
    critic_loss, actor_loss = agent.get_losses(
        ep_rewards,
        torch.stack(ep_log_probs),
        torch.stack(ep_values),
        last_value,
        torch.stack(ep_entropy),
        ep_masks,
    )
    agent.update_parameters(critic_loss, actor_loss)

print(f"critic {critic_loss.item():.3f}, mean length {np.mean(lengths[-20:]):.1f}")
