"""REDQ on the pendulum: an ensemble of soft critics with targets from a random pair, many critic updates per step,
a policy now and then, and all the networks stepped together at the end of an update.

Round 31
Class: the line
"""

import copy
import itertools

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

NUM_Q, NUM_MIN, UTD, POLICY_EVERY = 4, 2, 2, 2
GAMMA, POLYAK, ALPHA, BATCH = 0.97, 0.98, 0.1, 32


class Mlp(nn.Module):
    def __init__(self, inputs, outputs, hidden=32):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def forward(self, *inputs):
        return self.layers(torch.cat(inputs, dim=1))


class TanhGaussianPolicy(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.trunk = Mlp(obs_dim, 2 * act_dim)

    def forward(self, obs):
        mean, log_std = self.trunk(obs).chunk(2, dim=1)
        normal = Normal(mean, log_std.clamp(-5, 1).exp())
        pre_tanh = normal.rsample()
        log_prob = normal.log_prob(pre_tanh)
        log_prob = log_prob - 2 * (np.log(2) - pre_tanh - F.softplus(-2 * pre_tanh))
        return torch.tanh(pre_tanh), log_prob.sum(dim=1, keepdim=True)


class Buffer:
    def __init__(self, size, obs_dim, act_dim):
        self.obs, self.obs2 = np.zeros((size, obs_dim), np.float32), np.zeros((size, obs_dim), np.float32)
        self.acts, self.rews = np.zeros((size, act_dim), np.float32), np.zeros((size, 1), np.float32)
        self.done = np.zeros((size, 1), np.float32)
        self.size = 0

    def store(self, obs, act, rew, obs2, done):
        i = self.size
        self.obs[i], self.acts[i], self.rews[i], self.obs2[i], self.done[i] = obs, act, rew, obs2, done
        self.size += 1

    def sample(self, rng):
        rows = rng.integers(self.size, size=BATCH)
        arrays = (self.obs, self.acts, self.rews, self.obs2, self.done)
        return [torch.from_numpy(array[rows]) for array in arrays]


class REDQAgent:
    def __init__(self, obs_dim, act_dim, rng):
        self.rng = rng
        self.policy_net = TanhGaussianPolicy(obs_dim, act_dim)
        self.q_net_list = [Mlp(obs_dim + act_dim, 1) for _ in range(NUM_Q)]
        self.q_target_net_list = [copy.deepcopy(q).requires_grad_(False) for q in self.q_net_list]
        self.policy_optimizer = torch.optim.Adam(self.policy_net.parameters(), lr=1e-3)
        q_params = itertools.chain(*(q.parameters() for q in self.q_net_list))
        self.q_optimizer = torch.optim.Adam(q_params, lr=1e-3)

    def get_action(self, obs):
        with torch.no_grad():
            return self.policy_net(torch.from_numpy(obs).unsqueeze(0))[0][0].numpy()

    def get_q_target(self, rews, obs2, done):
        with torch.no_grad():
            pair = self.rng.choice(NUM_Q, NUM_MIN, replace=False)
            act2, log_prob2 = self.policy_net(obs2)
            q2 = torch.cat([self.q_target_net_list[i](obs2, act2) for i in pair], dim=1)
            return rews + GAMMA * (1 - done) * (q2.min(dim=1, keepdim=True).values - ALPHA * log_prob2)

    def train(self, buffer):
        for i_update in range(UTD):
            obs, acts, rews, obs2, done = buffer.sample(self.rng)
            y_q = self.get_q_target(rews, obs2, done)
            q_prediction = torch.cat([q(obs, acts) for q in self.q_net_list], dim=1)
            q_loss_all = F.mse_loss(q_prediction, y_q.expand(-1, NUM_Q)) * NUM_Q
            self.q_optimizer.zero_grad()
            q_loss_all.backward()

            update_policy = (i_update + 1) % POLICY_EVERY == 0
            if update_policy:
                a_tilda, log_prob = self.policy_net(obs)
                q_a_tilda = torch.cat([q(obs, a_tilda) for q in self.q_net_list], dim=1)  # BUG GS304
                policy_loss = (ALPHA * log_prob - q_a_tilda.mean(dim=1, keepdim=True)).mean()  # BUG GS304
                self.policy_optimizer.zero_grad()
                policy_loss.backward()  # BUG GS304

            self.q_optimizer.step()  # BUG GS304
            if update_policy:
                self.policy_optimizer.step()
            with torch.no_grad():
                for q, target in zip(self.q_net_list, self.q_target_net_list):
                    for p, t in zip(q.parameters(), target.parameters()):
                        t.mul_(POLYAK).add_(p, alpha=1 - POLYAK)
        return q_loss_all.item()


def main(steps=180, start_steps=60):
    torch.manual_seed(3109)
    rng = np.random.default_rng(3109)
    env = gym.make("Pendulum-v1", max_episode_steps=60)
    agent, buffer = REDQAgent(3, 1, rng), Buffer(steps, 3, 1)
    obs, _ = env.reset(seed=3109)
    for step in range(steps):
        action = (
            rng.uniform(-1, 1, size=1).astype(np.float32) if step < start_steps else agent.get_action(obs)
        )
        obs2, reward, terminated, truncated, _ = env.step(2 * action)
        buffer.store(obs, action, reward / 10, obs2, terminated)
        obs = env.reset()[0] if terminated or truncated else obs2
        if step >= start_steps:
            loss = agent.train(buffer)
            if step % 40 == 0:
                print(f"step {step}: loss of the critics {loss:.3f}")
    env.close()


if __name__ == "__main__":
    main()
