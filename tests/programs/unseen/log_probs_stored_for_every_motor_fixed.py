"""PPO with a vectorised world and a buffer of [steps, environments, …]: the log-prob keeps a column for each motor,
and the advantage is spread over them. After AI4Finance-Foundation/ElegantRL#273.
Repaired here.

Round 35
Class: axes
"""

import random
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.distributions.normal import Normal

SEED = 3512


class Rovers:
    """A row of rovers with three motors each, told where to drive."""

    num_envs, state_dim, action_dim, max_step = 8, 6, 3, 40

    def __init__(self):
        self.rng = np.random.default_rng(SEED)
        self.place, self.goal = np.zeros((8, 3)), np.zeros((8, 3))
        self.t = np.zeros(8, dtype=int)

    def reset(self, which=None):
        which = np.arange(8) if which is None else which
        self.place[which] = self.rng.normal(0, 1, (len(which), 3))
        self.goal[which] = self.rng.normal(0, 1, (len(which), 3))
        self.t[which] = 0
        return self.state()

    def state(self):
        return torch.tensor(np.concatenate([self.place, self.goal], axis=1), dtype=torch.float32)

    def step(self, action):
        self.place += 0.2 * np.tanh(action.numpy())
        self.t += 1
        distance = np.linalg.norm(self.goal - self.place, axis=1)
        arrived, late = distance < 0.3, self.t >= self.max_step
        reward = torch.tensor(-0.1 * distance + 3.0 * arrived, dtype=torch.float32)
        after = self.state()
        ended = np.flatnonzero(arrived | late)
        state = self.reset(ended) if len(ended) else after
        return state, after, reward, torch.tensor(arrived).float(), torch.tensor(arrived | late).float()


def build_mlp(dims):
    layers = []
    for i, o in pairwise(dims):
        layers += [nn.Linear(i, o), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


class ActorPPO(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.net = build_mlp(dims)
        self.action_std_log = nn.Parameter(torch.full((dims[-1],), -0.5))

    def dist(self, state):
        return Normal(self.net(state), self.action_std_log.exp())

    def get_action(self, state):
        dist = self.dist(state)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)

    def get_logprob_entropy(self, state, action):
        dist = self.dist(state)
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1)


class AgentPPO:
    gamma, lambda_gae, ratio_clip, lambda_entropy = 0.97, 0.95, 0.25, 0.005
    horizon_len, repeat_times, batch_size = 32, 8, 64

    def __init__(self, env):
        self.act = ActorPPO([env.state_dim, 48, 48, env.action_dim])
        self.cri = build_mlp([env.state_dim, 48, 48, 1])
        self.act_optimizer = torch.optim.Adam(self.act.parameters(), lr=1e-3)
        self.cri_optimizer = torch.optim.Adam(self.cri.parameters(), lr=1e-3)
        self.last_state = env.reset()

    @torch.no_grad()
    def explore_env(self, env):
        rows = []
        for _ in range(self.horizon_len):
            action, logprob = self.act.get_action(self.last_state)
            state, after, reward, terminal, ended = env.step(action)
            rows.append((self.last_state, action, logprob, reward, after, terminal, ended))
            self.last_state = state
        return [torch.stack(column) for column in zip(*rows)]

    @torch.no_grad()
    def get_advantages(self, states, rewards, afters, terminals, ends):
        values, following = self.cri(states).squeeze(-1), self.cri(afters).squeeze(-1)
        deltas = rewards + self.gamma * (1 - terminals) * following - values
        advantages, running = torch.empty_like(values), torch.zeros(values.shape[1])
        for t in range(self.horizon_len - 1, -1, -1):
            running = deltas[t] + self.gamma * self.lambda_gae * (1 - ends[t]) * running
            advantages[t] = running
        return advantages, advantages + values

    def update_net(self, buffer):
        states, actions, logprobs, rewards, afters, terminals, ends = buffer
        advantages, returns = self.get_advantages(states, rewards, afters, terminals, ends)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-5)
        total = states.shape[0] * states.shape[1]
        for _ in range(self.repeat_times):
            ids = torch.randint(total, (self.batch_size,))
            ids0, ids1 = ids // states.shape[1], ids % states.shape[1]
            state, action, logprob = states[ids0, ids1], actions[ids0, ids1], logprobs[ids0, ids1]
            advantage, ret = advantages[ids0, ids1], returns[ids0, ids1]

            cri_loss = nn.functional.smooth_l1_loss(self.cri(state).squeeze(-1), ret)
            self.optimizer_update(self.cri_optimizer, cri_loss)

            new_logprob, entropy = self.act.get_logprob_entropy(state, action)
            ratio = (new_logprob - logprob).exp()
            advantage = advantage.view(-1, *[1] * (ratio.dim() - 1))
            surrogate = torch.min(
                advantage * ratio, advantage * ratio.clamp(1 - self.ratio_clip, 1 + self.ratio_clip)
            )
            act_loss = -surrogate.mean() - self.lambda_entropy * entropy.mean()
            self.optimizer_update(self.act_optimizer, act_loss)
        return cri_loss.item(), act_loss.item()

    @staticmethod
    def optimizer_update(optimizer, objective):
        optimizer.zero_grad()
        objective.backward()
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 3.0)
        optimizer.step()


if __name__ == "__main__":
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env = Rovers()
    agent = AgentPPO(env)
    for _ in range(12):
        buffer = agent.explore_env(env)
        losses = agent.update_net(buffer)
    print("reward", buffer[3].mean().item(), "losses", losses)
