"""MAPPO with a centralised critic: the entropy of the shared policy is added to the loss that is minimised, so that the
bonus meant for exploration makes the policy certain.

Round 28
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

N_AGENTS, N_ACTIONS, HORIZON, N_ROLLOUTS = 3, 4, 12, 6


class Harvest:
    """Every agent picks one of four fields; a field that several pick is shared."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t = 0
        self.crop = self.rng.uniform(0.2, 1.0, N_ACTIONS).astype(np.float32)
        return self._obs(), self._state()

    def _obs(self):
        ids = np.eye(N_AGENTS, dtype=np.float32)
        crop = np.repeat(self.crop[None], N_AGENTS, axis=0)
        clock = np.full((N_AGENTS, 1), self.t / HORIZON, dtype=np.float32)
        return np.concatenate([crop, ids, clock], axis=1)

    def _state(self):
        return np.append(self.crop, self.t / HORIZON).astype(np.float32)

    def step(self, actions):
        picked = np.unique(actions)
        reward = float(self.crop[picked].sum()) / N_AGENTS
        self.crop[picked] *= 0.5
        self.crop = np.minimum(self.crop + 0.12, 1.0).astype(np.float32)
        self.t += 1
        return self._obs(), self._state(), reward, self.t == HORIZON


class RMAPPOPolicy:
    def __init__(self, lr):
        n_obs, n_state = N_ACTIONS + N_AGENTS + 1, N_ACTIONS + 1
        self.actor = nn.Sequential(nn.Linear(n_obs, 48), nn.Tanh(), nn.Linear(48, N_ACTIONS))
        self.critic = nn.Sequential(nn.Linear(n_state, 48), nn.Tanh(), nn.Linear(48, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def dist(self, obs):
        return Categorical(logits=self.actor(obs))

    def value(self, state):
        return self.critic(state).squeeze(-1)


class Trainer:
    clip_param, entropy_coef, gamma, lam, ppo_epoch = 0.2, 0.02, 0.97, 0.95, 4

    def __init__(self, policy):
        self.policy = policy

    @torch.no_grad()
    def collect(self, env):
        rows = {k: [] for k in ("obs", "state", "action", "logp", "value", "reward")}
        obs, state = env.reset()
        done = False
        while not done:
            obs_t, state_t = torch.from_numpy(obs), torch.from_numpy(state)
            dist = self.policy.dist(obs_t)
            action = dist.sample()
            obs, state, reward, done = env.step(action.numpy())
            logp, value = dist.log_prob(action), self.policy.value(state_t)
            values = (obs_t, state_t, action, logp, value, torch.tensor(reward))
            for key, x in zip(rows, values):
                rows[key].append(x)
        return {k: torch.stack(x) for k, x in rows.items()}

    def gae(self, reward, value):
        advantage, running, following = torch.zeros_like(reward), 0.0, 0.0
        for t in reversed(range(len(reward))):
            running = reward[t] + self.gamma * following - value[t] + self.gamma * self.lam * running
            advantage[t], following = running, value[t]
        return advantage

    def train(self, rollouts):
        advantage = torch.cat([self.gae(r["reward"], r["value"]) for r in rollouts])
        b = {k: torch.cat([r[k] for r in rollouts]) for k in rollouts[0]}
        returns = advantage + b["value"]
        advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-5)).unsqueeze(-1)
        for _ in range(self.ppo_epoch):
            dist = self.policy.dist(b["obs"])
            ratio = torch.exp(dist.log_prob(b["action"]) - b["logp"])
            surr1 = ratio * advantage
            surr2 = torch.clamp(ratio, 1.0 - self.clip_param, 1.0 + self.clip_param) * advantage
            policy_loss = -torch.min(surr1, surr2).mean()
            entropy = dist.entropy().mean()
            self.policy.actor_optimizer.zero_grad()
            actor_loss = policy_loss + self.entropy_coef * entropy  # BUG GS802
            actor_loss.backward()
            nn.utils.clip_grad_norm_(self.policy.actor.parameters(), 10.0)
            self.policy.actor_optimizer.step()

            value_loss = nn.functional.huber_loss(self.policy.value(b["state"]), returns)
            self.policy.critic_optimizer.zero_grad()
            value_loss.backward()
            nn.utils.clip_grad_norm_(self.policy.critic.parameters(), 10.0)
            self.policy.critic_optimizer.step()
        return entropy.item()


torch.manual_seed(294)
env = Harvest(294)
trainer = Trainer(RMAPPOPolicy(lr=3e-3))
for episode in range(12):
    rollouts = [trainer.collect(env) for _ in range(N_ROLLOUTS)]
    entropy = trainer.train(rollouts)
    if episode % 4 == 3:
        harvest = sum(r["reward"].sum().item() for r in rollouts) / N_ROLLOUTS
        print(f"episode {episode}: harvest {harvest:.2f}, entropy {entropy:.3f}")
