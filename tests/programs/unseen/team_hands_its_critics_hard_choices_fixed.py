"""MADDPG for two lookouts with discrete moves and centralised critics. In the actor's update its move is a
hard Gumbel sample that passes the critic's gradient straight through.

Round 32
Class: zero in part
"""

import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N, OBS, MOVES = 2, 4, 3
GAMMA, TAU, BATCH = 0.9, 0.02, 64


class Lookouts:
    """Two lookouts on a wall want to stand apart by one and near the gate; the watch goes on forever."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.gate = self.rng.uniform(-1, 1, N), self.rng.uniform(-1, 1)
        return self.observe()

    def observe(self):
        rows = [[self.x[i], self.x[1 - i], self.gate, self.x[i] - self.x[1 - i]] for i in range(N)]
        return np.array(rows, dtype=np.float32)

    def step(self, moves):
        self.x = np.clip(self.x + 0.2 * (np.array(moves) - 1), -2, 2)
        apart = abs(abs(self.x[0] - self.x[1]) - 1)
        reward = -0.5 * apart - 0.5 * abs(self.x.mean() - self.gate)
        return self.observe(), float(reward)


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.Tanh(), nn.Linear(48, n_out))


def one_hot(logits):
    return F.one_hot(logits.argmax(-1), MOVES).float()


class Agent:
    def __init__(self):
        self.actor, self.critic = mlp(OBS, MOVES), mlp(N * (OBS + MOVES), 1)
        self.target_actor, self.target_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    @torch.no_grad()
    def act(self, obs):
        return F.gumbel_softmax(self.actor(torch.from_numpy(obs)), hard=True).numpy()

    @torch.no_grad()
    def sync(self):
        for net, target in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
            for p, t in zip(net.parameters(), target.parameters()):
                t.mul_(1 - TAU).add_(TAU * p)


class MADDPG:
    def __init__(self):
        self.agents = [Agent() for _ in range(N)]

    def update(self, batch):
        obs, acts, rew, obs2 = batch
        with torch.no_grad():
            acts2 = torch.cat([one_hot(a.target_actor(obs2[:, i])) for i, a in enumerate(self.agents)], -1)
            joint2 = torch.cat([obs2.flatten(1), acts2], -1)
        for i, agent in enumerate(self.agents):
            with torch.no_grad():
                target = rew.unsqueeze(-1) + GAMMA * agent.target_critic(joint2)
            q = agent.critic(torch.cat([obs.flatten(1), acts.flatten(1)], -1))
            critic_loss = F.mse_loss(q, target)
            agent.critic_optimizer.zero_grad()
            critic_loss.backward()
            agent.critic_optimizer.step()

            logits = agent.actor(obs[:, i])
            moves = list(acts.unbind(1))
            moves[i] = F.gumbel_softmax(logits, hard=True)
            q = agent.critic(torch.cat([obs.flatten(1), *moves], -1))
            actor_loss = -q.mean() + 1e-3 * logits.pow(2).mean()
            agent.actor_optimizer.zero_grad()
            actor_loss.backward()
            agent.actor_optimizer.step()
        for agent in self.agents:
            agent.sync()


def main():
    random.seed(4)
    torch.manual_seed(4)
    env, team, memory, rewards = Lookouts(4), MADDPG(), [], []
    obs = env.reset()
    for step in range(600):
        acts = np.stack([agent.act(obs[i]) for i, agent in enumerate(team.agents)])
        obs2, reward = env.step(acts.argmax(-1))
        memory.append((obs, acts, np.float32(reward), obs2))
        rewards.append(reward)
        obs = env.reset() if step % 25 == 24 else obs2
        if len(memory) >= BATCH and step % 5 == 0:
            rows = zip(*random.sample(memory, BATCH))
            team.update([torch.from_numpy(np.stack(row)) for row in rows])
    print(f"reward at first {np.mean(rewards[:100]):.3f}, at last {np.mean(rewards[-100:]):.3f}")


if __name__ == "__main__":
    main()
