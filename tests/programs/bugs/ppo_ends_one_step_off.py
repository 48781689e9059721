"""GAE reads the flag of the end from the step after: episodes are cut one step early, and joined at their end."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(1)
np.random.seed(1)
T, gamma, lam = 64, 0.99, 0.95


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, obs, action=None):
        dist = Categorical(logits=self.actor(obs))
        action = dist.sample() if action is None else action
        return action, dist.log_prob(action), dist.entropy(), self.critic(obs).squeeze(-1)


env = gym.make("CartPole-v1")
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-4)
obs = torch.tensor(env.reset(seed=1)[0])
for update in range(5):
    S, A, L, R, D, V = [], [], [], [], [], []
    for t in range(T):
        with torch.no_grad():
            a, lp, _, v = agent.act(obs)
        nxt, r, term, trunc, _ = env.step(a.item())
        done = term or trunc
        S.append(obs)
        A.append(a)
        L.append(lp)
        R.append(r)
        V.append(v)
        D.append(float(done))
        obs = torch.tensor(env.reset()[0] if done else nxt)
    S, A, L, V = torch.stack(S), torch.stack(A), torch.stack(L), torch.stack(V)
    R, D = torch.tensor(R), torch.tensor(D)
    with torch.no_grad():
        last = agent.critic(obs).squeeze(-1)
        adv = torch.zeros(T)
        gae = 0.0
        for t in reversed(range(T)):
            nonterminal = 1.0 - (D[t + 1] if t + 1 < T else D[t])  # BUG GS806 GS805
            nv = V[t + 1] if t + 1 < T else last
            delta = R[t] + gamma * nv * nonterminal - V[t]
            gae = delta + gamma * lam * nonterminal * gae
            adv[t] = gae  # BUG GS806 GS805
        ret = adv + V  # BUG GS806 GS805
    for epoch in range(2):
        for idx in torch.randperm(T).split(16):
            _, lp, ent, v = agent.act(S[idx], A[idx])
            ratio = (lp - L[idx]).exp()
            adv_n = (adv[idx] - adv[idx].mean()) / (adv[idx].std() + 1e-8)
            pg = -torch.min(ratio * adv_n, ratio.clamp(0.8, 1.2) * adv_n).mean()
            loss = pg + 0.5 * (v - ret[idx]).pow(2).mean() - 0.01 * ent.mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            opt.step()
