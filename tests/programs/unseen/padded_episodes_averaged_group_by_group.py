"""Policy gradient of a recurrent agent whose padded episodes go backward in groups before one step: each group's
loss is a mean over its own steps, so a step of a group of short episodes counts more than one of long episodes.
After MarcoMeter/recurrent-ppo-truncated-bptt#10, ml-explore/mlx-lm#1413 and ServiceNow/Fast-LLM#426.

Round 26
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn.utils.rnn import pad_sequence

EPISODES, GROUP, UPDATES, GAMMA = 12, 3, 24, 0.95


class Recall:
    """Shows a cue first; later a bell rings, and the answer must be the cue. Wrong answers end the game."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.cue, self.clock = int(self.rng.integers(2)), 0
        return self.observe(cue=True)

    def observe(self, cue=False):
        self.bell = not cue and self.rng.random() < 0.6
        shown = [float(cue and self.cue == 0), float(cue and self.cue == 1), float(self.bell)]
        return np.array(shown, dtype=np.float32)

    def step(self, action):
        reward, done = 0.0, False
        if self.bell:
            reward = 1.0 if action == self.cue else -1.0
            done = action != self.cue
        self.clock += 1
        return self.observe(), reward, done or self.clock == 14


class RecurrentPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 24, batch_first=True)
        self.head = nn.Linear(24, 2)

    def forward(self, obs, state=None):
        hidden, state = self.rnn(obs, state)
        return Categorical(logits=self.head(hidden)), state


@torch.no_grad()
def play(env, policy):
    obs, state, done = env.reset(), None, False
    observations, actions, rewards = [], [], []
    while not done:
        dist, state = policy(torch.from_numpy(obs).view(1, 1, -1), state)
        action = int(dist.sample())
        observations.append(torch.from_numpy(obs))
        actions.append(action)
        obs, reward, done = env.step(action)
        rewards.append(reward)
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + GAMMA * running
        returns.insert(0, running)
    return torch.stack(observations), torch.tensor(actions), torch.tensor(returns)


def make_batch(env, policy):
    episodes = sorted((play(env, policy) for _ in range(EPISODES)), key=lambda episode: len(episode[1]))
    obs, actions, returns = (pad_sequence(list(column), batch_first=True) for column in zip(*episodes))
    lengths = torch.tensor([len(episode[1]) for episode in episodes])
    mask = (torch.arange(actions.shape[1]) < lengths[:, None]).float()
    mean = (returns * mask).sum() / mask.sum()
    std = (((returns - mean) ** 2 * mask).sum() / mask.sum()).sqrt()
    return obs, actions, (returns - mean) / (std + 1e-6), mask


def train_step(policy, optimizer, obs, actions, weights, mask):
    optimizer.zero_grad()
    total_steps = mask.sum()
    for first in range(0, EPISODES, GROUP):
        rows = slice(first, first + GROUP)
        dist, _ = policy(obs[rows])
        losses = -dist.log_prob(actions[rows]) * weights[rows] * mask[rows]
        loss = losses.sum() / mask[rows].sum()  # BUG GS407
        (loss / (EPISODES // GROUP)).backward()  # BUG GS407
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    return int(total_steps)


torch.manual_seed(2632)
env, policy = Recall(2632), RecurrentPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for update in range(UPDATES):
    steps = train_step(policy, optimizer, *make_batch(env, policy))
    if update % 6 == 0:
        print(f"update {update}: {steps} steps")
