"""An IMPALA learner for two motors: the log-probability of an action keeps a column for each motor, so there is a ratio,
a correction and a target for each of them in place of one for the action as a whole. The mend of
seolhokim/DistributedRL-Pytorch-Ray#3.

Round 25
Class: axes
"""

import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2525)
rng = np.random.default_rng(2525)
OBS, ACT, UNROLL, GAMMA, RHO_BAR, C_BAR = 4, 2, 20, 0.97, 1.0, 1.0


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(OBS, 64), nn.Tanh(), nn.Linear(64, ACT))
        self.log_std = nn.Parameter(torch.zeros(ACT))
        self.critic = nn.Sequential(nn.Linear(OBS, 64), nn.Tanh(), nn.Linear(64, 1))

    def dist(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    def get_log_prob(self, obs, action):
        return self.dist(obs).log_prob(action)  # BUG GS603

    def v(self, obs):
        return self.critic(obs)


class Cart:
    """Two motors push a point towards the origin."""

    def reset(self):
        self.state, self.t = rng.normal(size=OBS), 0
        return self.state.astype(np.float32)

    def step(self, action):
        pos, vel = self.state[:2], self.state[2:]
        vel = 0.9 * vel + 0.2 * np.clip(action, -2, 2)
        pos = pos + 0.3 * vel
        self.state, self.t = np.concatenate([pos, vel]), self.t + 1
        lost = bool(np.abs(pos).max() > 4)
        reward = -np.square(pos).sum() / 5 - 3.0 * lost
        return self.state.astype(np.float32), reward, lost, self.t >= 50


class Worker:
    """Acts with weights that are a few updates old."""

    def __init__(self, policy):
        self.policy, self.env = copy.deepcopy(policy), Cart()
        self.obs = self.env.reset()

    def unroll(self):
        rows = []
        for _ in range(UNROLL):
            obs = torch.from_numpy(self.obs)
            with torch.no_grad():
                action = self.policy.dist(obs).sample()
                log_prob = self.policy.get_log_prob(obs, action)
            nxt, reward, lost, late = self.env.step(action.numpy())
            ended = lost or late
            rows.append((self.obs, action.numpy(), log_prob.numpy(), [reward], nxt, [lost], [ended]))
            self.obs = self.env.reset() if ended else nxt
        return [torch.from_numpy(np.array(x, dtype=np.float32)) for x in zip(*rows)]


def vtrace(policy, obs, actions, mu_log_prob, rewards, next_obs, lost, ended):
    with torch.no_grad():
        value, next_value = policy.v(obs), policy.v(next_obs) * (1 - lost)
        ratio = torch.exp(policy.get_log_prob(obs, actions) - mu_log_prob)  # BUG GS603
        rho, c = ratio.clamp(max=RHO_BAR), ratio.clamp(max=C_BAR)
        delta = rho * (rewards + GAMMA * next_value - value)  # BUG GS603 GS601
        vs_minus_v, running = torch.zeros_like(delta), torch.zeros_like(delta[0])
        for t in reversed(range(UNROLL)):
            running = delta[t] + GAMMA * c[t] * (1 - ended[t]) * running
            vs_minus_v[t] = running
        vs = vs_minus_v + value
        following = torch.cat([vs[1:], next_value[-1:].expand_as(vs[-1:])])
        next_vs = torch.where(ended.bool(), next_value, following)
        advantage = rho * (rewards + GAMMA * next_vs - value)
    return vs, advantage


def main():
    learner = ActorCritic()
    optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
    workers = [Worker(learner) for _ in range(3)]
    for update in range(60):
        batch = workers[update % 3].unroll()
        vs, advantage = vtrace(learner, *batch)
        obs, actions = batch[:2]
        policy_loss = -(learner.get_log_prob(obs, actions) * advantage).mean()  # BUG GS603
        value_loss = (learner.v(obs) - vs).pow(2).mean()  # BUG GS603 GS601
        entropy = learner.dist(obs).entropy().sum(-1).mean()
        loss = policy_loss + 0.5 * value_loss - 0.001 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.parameters(), 1.0)
        optimizer.step()
        if update % 6 == 5:
            for worker in workers:
                worker.policy.load_state_dict(learner.state_dict())


if __name__ == "__main__":
    main()
