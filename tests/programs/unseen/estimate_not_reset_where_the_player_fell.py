"""A runner has to jump over pits; several copies play at once and start again where they fell. In the estimate of the
advantages the value behind a fall is left out, but the sum itself is carried on: what the next attempt earns is
credited to the step into the pit.

Round 21
Class: meaning
"""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--tau", type=float, default=0.95)
    parser.add_argument("--beta", type=float, default=0.01)
    parser.add_argument("--epsilon", type=float, default=0.2)
    parser.add_argument("--num-processes", type=int, default=8)
    parser.add_argument("--num-local-steps", type=int, default=32)
    parser.add_argument("--num-epochs", type=int, default=4)
    return parser.parse_args([])


class MultipleRunners:
    """Run or jump: a jump carries over two fields, unless the runner slips. Whoever stands on a pit has fallen."""

    def __init__(self, num, seed):
        self.rng, self.num = np.random.default_rng(seed), num
        self.road = np.stack([self.new_road() for _ in range(num)])

    def new_road(self):
        road = (self.rng.random(8) < 0.35).astype(np.float32)
        road[0] = 0.0
        return self.fill(road)

    def fill(self, road):
        for i in range(1, len(road)):  # never two pits in a row
            if road[i - 1] == 1.0:
                road[i] = 0.0
        return road

    def observe(self):
        return torch.from_numpy(self.road[:, 1:5].copy())

    def step(self, actions):
        rewards, dones = np.zeros(self.num, np.float32), np.zeros(self.num, np.float32)
        for i, action in enumerate(actions):
            jumped = 2 if action == 1 and self.rng.random() < 0.85 else 1
            fresh = (self.rng.random(jumped) < 0.35).astype(np.float32)
            self.road[i] = self.fill(np.concatenate([self.road[i][jumped:], fresh]))
            rewards[i] = 1.0 - 0.3 * (action == 1)
            if self.road[i][0] == 1.0:
                rewards[i], dones[i] = -1.0, 1.0
                self.road[i] = self.new_road()
        return self.observe(), torch.from_numpy(rewards), torch.from_numpy(dones)


class PPO(nn.Module):
    def __init__(self, num_inputs, num_actions):
        super().__init__()
        self.linear = nn.Linear(num_inputs, 64)
        self.actor_linear = nn.Linear(64, num_actions)
        self.critic_linear = nn.Linear(64, 1)

    def forward(self, x):
        x = torch.relu(self.linear(x))
        return self.actor_linear(x), self.critic_linear(x).squeeze(-1)


def train(opt):
    torch.manual_seed(123)
    envs = MultipleRunners(opt.num_processes, 123)
    model = PPO(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    curr_states = envs.observe()
    for episode in range(30):
        old_log_policies, actions, values, states, rewards, dones = [], [], [], [], [], []
        for _ in range(opt.num_local_steps):
            states.append(curr_states)
            with torch.no_grad():
                logits, value = model(curr_states)
            policy = Categorical(logits=logits)
            action = policy.sample()
            values.append(value)
            actions.append(action)
            old_log_policies.append(policy.log_prob(action))
            curr_states, reward, done = envs.step(action.tolist())
            rewards.append(reward)
            dones.append(done)
        with torch.no_grad():
            next_value = model(curr_states)[1]
        gae, R = 0.0, []
        for value, reward, done in list(zip(values, rewards, dones))[::-1]:
            gae = gae * opt.gamma * opt.tau  # BUG GS806
            gae = gae + reward + opt.gamma * next_value * (1 - done) - value  # BUG GS806
            next_value = value
            R.append(gae + value)
        R = torch.cat(R[::-1])
        old_log_policies, actions, values = torch.cat(old_log_policies), torch.cat(actions), torch.cat(values)
        states = torch.cat(states)
        advantages = R - values
        for _ in range(opt.num_epochs):
            for batch_indices in torch.randperm(len(R)).chunk(4):
                logits, value = model(states[batch_indices])
                new_policy = Categorical(logits=logits)
                ratio = (new_policy.log_prob(actions[batch_indices]) - old_log_policies[batch_indices]).exp()
                advantage = advantages[batch_indices]
                clipped = ratio.clamp(1.0 - opt.epsilon, 1.0 + opt.epsilon) * advantage
                actor_loss = -torch.min(ratio * advantage, clipped).mean()
                critic_loss = F.smooth_l1_loss(R[batch_indices], value)
                total_loss = actor_loss + critic_loss - opt.beta * new_policy.entropy().mean()
                optimizer.zero_grad()
                total_loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
        if episode % 10 == 9:
            print(
                f"Episode: {episode + 1}. Falls: {torch.cat(dones).mean():.3f}. Loss: {total_loss.item():.3f}"
            )


if __name__ == "__main__":
    train(get_args())
