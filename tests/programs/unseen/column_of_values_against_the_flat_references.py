"""Advantage actor-critic with n-step references: the value loss squeezes the column that the value head puts out, and the
advantage forgets to, so that a row of references minus a column of values is a square. Every action is weighed by the
advantages of all states. PacktPublishing/Deep-Reinforcement-Learning-Hands-On#33.

Round 25
Class: axes
"""

from collections import namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

SEED = 2524
GAMMA = 0.99
LEARNING_RATE = 2e-3
ENTROPY_BETA = 0.01
BATCH_SIZE = 32
NUM_ENVS = 4
REWARD_STEPS = 4
CLIP_GRAD = 0.5

ExperienceFirstLast = namedtuple("ExperienceFirstLast", "state action reward last_state steps")


class A2CNet(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU())
        self.policy = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions))
        self.value = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        x = self.body(x)
        return self.policy(x), self.value(x)


def experience_source(net, envs):
    """Yields the first state, the discounted sum of the next rewards, and the last state or None."""
    states = [env.reset(seed=SEED + i)[0] for i, env in enumerate(envs)]
    history = [[] for _ in envs]
    while True:
        for i, env in enumerate(envs):
            with torch.no_grad():
                logits, _ = net(torch.from_numpy(states[i]).unsqueeze(0))
            action = torch.multinomial(F.softmax(logits, dim=1), 1).item()
            next_state, reward, terminated, truncated, _ = env.step(action)
            history[i].append((states[i], action, reward))
            ended = terminated or truncated
            while history[i] and (ended or len(history[i]) == REWARD_STEPS):
                total = sum(GAMMA**k * r for k, (_, _, r) in enumerate(history[i]))
                last = None if terminated else next_state
                state, taken, _ = history[i][0]
                yield ExperienceFirstLast(state, taken, total, last, len(history[i]))
                history[i].pop(0)
            states[i] = env.reset()[0] if ended else next_state


def unpack_batch(batch, net):
    states_v = torch.from_numpy(np.array([exp.state for exp in batch]))
    actions_t = torch.tensor([exp.action for exp in batch])
    ref_vals = np.array([exp.reward for exp in batch], dtype=np.float32)
    alive = [i for i, exp in enumerate(batch) if exp.last_state is not None]
    if alive:
        last_states_v = torch.from_numpy(np.array([batch[i].last_state for i in alive]))
        with torch.no_grad():
            last_vals = net(last_states_v)[1].numpy()[:, 0]
        ref_vals[alive] += np.array([GAMMA ** batch[i].steps for i in alive], dtype=np.float32) * last_vals
    return states_v, actions_t, torch.from_numpy(ref_vals)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    envs = [gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    net = A2CNet(4, 2)
    optimizer = optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)
    batch, updates = [], 0
    for exp in experience_source(net, envs):
        batch.append(exp)
        if len(batch) < BATCH_SIZE:
            continue
        states_v, actions_t, vals_ref_v = unpack_batch(batch, net)
        batch.clear()

        optimizer.zero_grad()
        logits_v, value_v = net(states_v)
        loss_value_v = F.mse_loss(value_v.squeeze(-1), vals_ref_v)
        log_prob_v = F.log_softmax(logits_v, dim=1)
        adv_v = vals_ref_v - value_v.detach()  # BUG GS601
        log_prob_actions_v = adv_v * log_prob_v[range(BATCH_SIZE), actions_t]  # BUG GS601
        loss_policy_v = -log_prob_actions_v.mean()
        prob_v = F.softmax(logits_v, dim=1)
        entropy_loss_v = ENTROPY_BETA * (prob_v * log_prob_v).sum(dim=1).mean()
        loss_v = loss_policy_v + entropy_loss_v + loss_value_v
        loss_v.backward()
        nn.utils.clip_grad_norm_(net.parameters(), CLIP_GRAD)
        optimizer.step()
        updates += 1
        if updates == 40:
            break
