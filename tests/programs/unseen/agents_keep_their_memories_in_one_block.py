"""Value decomposition for three recurrent searchers. Their memories share one tensor and every searcher
writes its row in place, over values that the backward through time still needs.

Round 32
Class: hidden writes
"""

import copy

import numpy as np
import torch
from torch import nn

TEAM, SIGHT, ACTIONS, LENGTH, HIDDEN = 3, 4, 3, 8, 16


class Search:
    """A lamp shines only at the start; the team is paid for each searcher who stands at it."""

    def __init__(self, parallel, seed):
        self.rng, self.parallel = np.random.default_rng(seed), parallel

    def reset(self):
        self.pos = self.rng.uniform(-1, 1, (self.parallel, TEAM))
        self.lamp, self.t = self.rng.uniform(-1, 1, (self.parallel, 1)), 0
        return self.observe()

    def observe(self):
        obs = np.zeros((self.parallel, TEAM, SIGHT), dtype=np.float32)
        obs[..., 0], obs[..., 1] = self.pos, self.lamp if self.t == 0 else 0.0
        obs[..., 2], obs[..., 3] = self.t / LENGTH, np.arange(TEAM) / TEAM
        return torch.from_numpy(obs)

    def step(self, actions):
        self.pos = np.clip(self.pos + 0.3 * (actions - 1), -1.5, 1.5)
        self.t += 1
        reward = (np.abs(self.pos - self.lamp) < 0.25).mean(1)
        return self.observe(), reward.astype(np.float32), self.t == LENGTH


class Searchers(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(SIGHT, HIDDEN)
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.q = nn.Linear(HIDDEN, ACTIONS)

    def start(self, batch):
        return torch.zeros(batch, TEAM, HIDDEN)  # BUG GS101

    def step(self, obs, memory):
        values = []
        for i in range(TEAM):
            x = torch.tanh(self.encode(obs[:, i]))
            memory[:, i] = self.cell(x, memory[:, i])  # BUG GS101
            values.append(self.q(memory[:, i]))  # BUG GS101
        return torch.stack(values, dim=1), memory

    def unroll(self, obs):
        memory, values = self.start(len(obs)), []
        for t in range(obs.shape[1]):
            q, memory = self.step(obs[:, t], memory)
            values.append(q)
        return torch.stack(values, dim=1)


@torch.no_grad()
def play(env, net, rng, epsilon):
    obs, memory, over = env.reset(), net.start(env.parallel), False
    all_obs, all_actions, all_rewards = [obs], [], []
    while not over:
        q, memory = net.step(obs, memory)
        actions = q.argmax(-1).numpy()
        random_actions = rng.integers(ACTIONS, size=actions.shape)
        actions = np.where(rng.random(actions.shape) < epsilon, random_actions, actions)
        obs, reward, over = env.step(actions)
        all_obs.append(obs), all_actions.append(actions), all_rewards.append(reward)
    return (
        torch.stack(all_obs, dim=1),
        torch.from_numpy(np.stack(all_actions, axis=1)),
        torch.from_numpy(np.stack(all_rewards, axis=1)),
    )


def vdn_loss(net, target_net, episode, gamma=0.9):
    obs, actions, rewards = episode
    q = net.unroll(obs)
    chosen = q[:, :-1].gather(-1, actions.unsqueeze(-1)).squeeze(-1).sum(-1)
    with torch.no_grad():
        best = q[:, 1:].argmax(-1, keepdim=True)
        following = target_net.unroll(obs)[:, 1:].gather(-1, best).squeeze(-1).sum(-1)
        ongoing = torch.ones(LENGTH)
        ongoing[-1] = 0.0
        target = rewards + gamma * ongoing * following
    return (chosen - target).pow(2).mean()


if __name__ == "__main__":
    torch.manual_seed(33)
    rng = np.random.default_rng(33)
    env, net = Search(parallel=16, seed=33), Searchers()
    target_net = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for update in range(80):
        episode = play(env, net, rng, epsilon=max(0.05, 1 - update / 40))
        loss = vdn_loss(net, target_net, episode)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        if update % 10 == 9:
            target_net.load_state_dict(net.state_dict())
            print(f"{update + 1} updates: loss {loss.item():.3f}, reward {episode[2].sum(1).mean():.2f}")
