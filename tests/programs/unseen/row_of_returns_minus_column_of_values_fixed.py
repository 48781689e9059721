"""A2C with a policy object that collects from four environments: returns come as a row, the critic answers with a
column, and their difference is a square. After thu-ml/tianshou#155.
Repaired here.

Round 35
Class: axes
"""

import random
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SEED = 3503
N_ENVS, N_STEP = 4, 16


class Net(nn.Module):
    def __init__(self, state_dim, hidden=48):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(state_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )

    def forward(self, s):
        return self.model(s)


class A2CPolicy(nn.Module):
    def __init__(self, preprocess, actor, critic, gamma=0.98, vf_coef=0.5, ent_coef=0.01):
        super().__init__()
        self.preprocess, self.actor, self.critic = preprocess, actor, critic
        self.gamma, self.w_vf, self.w_ent = gamma, vf_coef, ent_coef
        self.optim = torch.optim.Adam(self.parameters(), lr=2e-3)

    def forward(self, obs):
        features = self.preprocess(torch.as_tensor(obs, dtype=torch.float32))
        return Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)

    def process_fn(self, batch):
        """Returns of every environment, bootstrapped where its steps were cut off."""
        with torch.no_grad():
            later = self(batch.obs_next.reshape(-1, 4))[1].flatten().numpy().reshape(N_STEP, N_ENVS)
        later = later * (1.0 - batch.terminated)
        returns = np.zeros((N_STEP, N_ENVS), dtype=np.float32)
        running = later[-1]
        for t in reversed(range(N_STEP)):
            running = np.where(batch.done[t] > 0, later[t], running)
            running = batch.rew[t] + self.gamma * running
            returns[t] = running
        batch.returns = torch.from_numpy(returns.reshape(-1))
        return batch

    def learn(self, batch):
        dist, value = self(batch.obs.reshape(-1, 4))
        act = torch.from_numpy(batch.act.reshape(-1))
        advantage = batch.returns - value
        actor_loss = -(dist.log_prob(act) * advantage.detach()).mean()
        vf_loss = advantage.pow(2).mean()
        ent_loss = dist.entropy().mean()
        loss = actor_loss + self.w_vf * vf_loss - self.w_ent * ent_loss
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 0.5)
        self.optim.step()
        return {"loss": loss.item(), "vf": vf_loss.item(), "ent": ent_loss.item()}


class Collector:
    def __init__(self, policy, envs):
        self.policy, self.envs = policy, envs
        self.obs = np.stack([env.reset(seed=SEED + i)[0] for i, env in enumerate(envs)])
        self.lengths, self.running = [], [0] * len(envs)

    def collect(self):
        names = ("obs", "act", "rew", "obs_next", "terminated", "done")
        store = {name: [] for name in names}
        for _ in range(N_STEP):
            with torch.no_grad():
                act = self.policy(self.obs)[0].sample().numpy()
            results = [env.step(int(a)) for env, a in zip(self.envs, act)]
            obs_next = np.stack([r[0] for r in results])
            rew = np.array([r[1] for r in results], dtype=np.float32)
            terminated = np.array([r[2] for r in results], dtype=np.float32)
            done = np.array([r[2] or r[3] for r in results], dtype=np.float32)
            for name, x in zip(names, (self.obs, act, rew, obs_next, terminated, done)):
                store[name].append(x)
            self.obs = obs_next.copy()
            for i in range(len(self.envs)):
                self.running[i] += 1
                if done[i]:
                    self.lengths.append(self.running[i])
                    self.running[i] = 0
                    self.obs[i] = self.envs[i].reset()[0]
        return SimpleNamespace(**{name: np.stack(x) for name, x in store.items()})


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    policy = A2CPolicy(Net(4), nn.Linear(48, 2), nn.Linear(48, 1))
    collector = Collector(policy, [gym.make("CartPole-v1") for _ in range(N_ENVS)])
    for _ in range(80):
        info = policy.learn(policy.process_fn(collector.collect()))
    print(info, "mean length", np.mean(collector.lengths[-20:]))


if __name__ == "__main__":
    main()
