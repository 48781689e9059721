"""The repaired twin of a program in which the following goes wrong.
PPO for several copies of a jumping game: in the loop backwards over the rollout the sum of the errors is
discounted but never stopped where a plumber died, so the next life counts for the last one. After
vietnh1009/Super-mario-bros-PPO-pytorch#21.

Round 37
Class: meaning
"""

import random
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

opt = SimpleNamespace(
    lr=1.5e-3, gamma=0.95, tau=0.95, beta=0.01, epsilon=0.2, batch_size=4, num_epochs=4,
    num_local_steps=40, num_processes=6, num_updates=14, seed=3734,
)  # fmt: skip


class JumpAndRun:
    """A strip of ground with pits comes nearer; running is faster, a pit must be jumped."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.pits = (self.rng.random(60) < 0.3) & (np.arange(60) > 2)
        self.pits[1:] &= ~self.pits[:-1]
        self.x, self.last = 0, 0
        return self._state()

    def _state(self):
        window = np.zeros((2, 6), dtype=np.float32)
        ahead = self.pits[self.x : self.x + 6]
        window[0, : len(ahead)] = ahead
        window[1, self.last] = 1.0
        return window

    def step(self, action):
        """Nothing, a step, or a jump of two."""
        self.x += (0, 1, 2)[action]
        self.last = action
        dead = bool(self.pits[min(self.x, 59)])
        won = self.x >= 54
        reward = -5.0 if dead else (5.0 if won else (-0.2, 0.5, 0.6)[action])
        return self._state(), reward / 5.0, dead or won


class MultipleEnvironments:
    def __init__(self, n, seed):
        self.envs = [JumpAndRun(np.random.default_rng(seed + i)) for i in range(n)]

    def reset(self):
        return torch.from_numpy(np.stack([env.reset() for env in self.envs]))

    def step(self, actions):
        states, rewards, dones = [], [], []
        for env, action in zip(self.envs, actions.tolist()):
            state, reward, done = env.step(action)
            states.append(env.reset() if done else state)
            rewards.append(reward)
            dones.append(float(done))
        return torch.from_numpy(np.stack(states)), torch.tensor(rewards), torch.tensor(dones)


class PPO(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.conv = nn.Conv1d(num_inputs, 16, 3, padding=1)
        self.linear = nn.Linear(16 * 6, 64)
        self.critic_linear, self.actor_linear = nn.Linear(64, 1), nn.Linear(64, num_actions)
        for module in self.modules():
            if isinstance(module, (nn.Conv1d, nn.Linear)):
                nn.init.orthogonal_(module.weight, nn.init.calculate_gain("relu"))
                nn.init.zeros_(module.bias)

    def forward(self, x):
        x = F.relu(self.linear(F.relu(self.conv(x)).flatten(1)))
        return self.actor_linear(x), self.critic_linear(x)


def train(opt):
    random.seed(opt.seed)
    torch.manual_seed(opt.seed)
    envs = MultipleEnvironments(opt.num_processes, opt.seed)
    model = PPO(2, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    curr_states = envs.reset()
    for curr_episode in range(opt.num_updates):
        old_log_policies, actions, values, states, rewards, dones = [], [], [], [], [], []
        with torch.no_grad():
            for _ in range(opt.num_local_steps):
                states.append(curr_states)
                logits, value = model(curr_states)
                values.append(value.squeeze(1))
                old_m = Categorical(F.softmax(logits, dim=1))
                action = old_m.sample()
                actions.append(action)
                old_log_policies.append(old_m.log_prob(action))
                curr_states, reward, done = envs.step(action)
                rewards.append(reward)
                dones.append(done)
            _, next_value = model(curr_states)
            next_value = next_value.squeeze(1)

            old_log_policies, actions = torch.cat(old_log_policies), torch.cat(actions)
            states = torch.cat(states)
            gae, R = 0, []
            for value, reward, done in list(zip(values, rewards, dones))[::-1]:
                gae = gae * opt.gamma * opt.tau * (1 - done)
                gae = gae + reward + opt.gamma * next_value * (1 - done) - value
                next_value = value
                R.append(gae + value)
            R = torch.cat(R[::-1])
            advantages = R - torch.cat(values)
        total = opt.num_local_steps * opt.num_processes
        for _ in range(opt.num_epochs):
            for batch_indices in torch.randperm(total).chunk(opt.batch_size):
                logits, value = model(states[batch_indices])
                new_m = Categorical(F.softmax(logits, dim=1))
                ratio = torch.exp(new_m.log_prob(actions[batch_indices]) - old_log_policies[batch_indices])
                adv = advantages[batch_indices]
                clipped = torch.clamp(ratio, 1.0 - opt.epsilon, 1.0 + opt.epsilon)
                actor_loss = -torch.mean(torch.min(ratio * adv, clipped * adv))
                critic_loss = F.smooth_l1_loss(value.squeeze(1), R[batch_indices])
                total_loss = actor_loss + critic_loss - opt.beta * new_m.entropy().mean()
                optimizer.zero_grad()
                total_loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
    print("reward per step", round(torch.stack(rewards).mean().item(), 3))


train(opt)
