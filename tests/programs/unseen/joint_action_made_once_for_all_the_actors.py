"""MADDPG: the joint action of the current policies is computed once before the loop over the agents. The first
actor steps, and the second actor's loss still has to go back through the weights of the first. After
philtabor/Multi-Agent-Deep-Deterministic-Policy-Gradients#2 and FazelYU/Adaptive-Navigation#41.

Round 27
Class: the line
"""

import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(2701)
np.random.seed(2701)
torch.manual_seed(2701)

N_AGENTS, OBS, ACT, GAMMA, TAU, BATCH = 3, 4, 2, 0.95, 0.02, 32


def mlp(n_in, n_out, out=None):
    layers = [nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, n_out)]
    return nn.Sequential(*layers, *([out] if out else []))


class Meeting:
    """Three points on a plane are paid for coming close to each other."""

    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, (N_AGENTS, 2))
        return self.observe()

    def observe(self):
        centre = self.pos.mean(0, keepdims=True).repeat(N_AGENTS, 0)
        return np.concatenate([self.pos, centre], 1).astype(np.float32)

    def step(self, acts):
        self.t += 1
        self.pos = np.clip(self.pos + 0.1 * acts, -2, 2)
        far = np.linalg.norm(self.pos - self.pos.mean(0), axis=1)
        done = bool(far.max() < 0.15)
        return self.observe(), (-far).astype(np.float32), done, self.t >= 20


class Agent:
    def __init__(self):
        self.actor = mlp(OBS, ACT, nn.Tanh())
        self.critic = mlp(N_AGENTS * (OBS + ACT), 1)
        self.target_actor = copy.deepcopy(self.actor)
        self.target_critic = copy.deepcopy(self.critic)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def soft_update(self):
        for net, slow in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
            for p, q in zip(net.parameters(), slow.parameters()):
                q.data.mul_(1 - TAU).add_(TAU * p.data)


def learn(agents, memory):
    rows = random.sample(memory, BATCH)
    obs, act, rew, nxt, done = (torch.as_tensor(np.stack(c), dtype=torch.float32) for c in zip(*rows))
    state, next_state = obs.flatten(1), nxt.flatten(1)
    with torch.no_grad():
        next_act = torch.cat([a.target_actor(nxt[:, i]) for i, a in enumerate(agents)], 1)
    joint = torch.cat([a.actor(obs[:, i]) for i, a in enumerate(agents)], 1)  # BUG GS102
    for i, agent in enumerate(agents):
        with torch.no_grad():
            q_next = agent.target_critic(torch.cat([next_state, next_act], 1)).squeeze(1)
            target = rew[:, i] + GAMMA * (1 - done) * q_next
        q = agent.critic(torch.cat([state, act.flatten(1)], 1)).squeeze(1)
        critic_loss = F.mse_loss(q, target)
        agent.critic_opt.zero_grad()
        critic_loss.backward()
        agent.critic_opt.step()

        actor_loss = -agent.critic(torch.cat([state, joint], 1)).mean()
        agent.actor_opt.zero_grad()
        actor_loss.backward(retain_graph=True)
        agent.actor_opt.step()  # BUG GS102
    for agent in agents:
        agent.soft_update()


env, agents, memory = Meeting(), [Agent() for _ in range(N_AGENTS)], []
obs = env.reset()
for step in range(160):
    with torch.no_grad():
        acts = np.stack([a.actor(torch.from_numpy(o)).numpy() for a, o in zip(agents, obs)])
    acts = np.clip(acts + np.random.normal(0, 0.2, acts.shape), -1, 1).astype(np.float32)
    nxt, rew, done, late = env.step(acts)
    memory.append((obs, acts, rew, nxt, np.float32(done)))
    obs = env.reset() if done or late else nxt
    if len(memory) >= 64 and step % 2 == 0:
        learn(agents, memory)
print("mean reward of the last steps", np.mean([m[2] for m in memory[-40:]]))
