"""The column of values is squeezed for the loss of the critic and not for the advantage: references in a row minus a
column give a square, and every action is rewarded with the advantages of the whole batch.

Round 24
Class: axes
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA = 0.97
LEARNING_RATE = 4e-3
ENTROPY_BETA = 0.01
BATCH_SIZE = 32
NUM_ENVS = 4
REWARD_STEPS = 4
CLIP_GRAD = 0.5


class A2CNet(nn.Module):
    def __init__(self, obs_size, n_actions):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(obs_size, 48), nn.ReLU())
        self.policy = nn.Linear(48, n_actions)
        self.value = nn.Linear(48, 1)

    def forward(self, x):
        base_out = self.base(x)
        return self.policy(base_out), self.value(base_out)


def experience(envs, net):
    """Endless (state, action, reward of n steps, last state or None)."""
    states = [env.reset(seed=40 + i)[0] for i, env in enumerate(envs)]
    windows = [[] for _ in envs]
    while True:
        with torch.no_grad():
            logits, _ = net(torch.as_tensor(np.stack(states)))
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for i, env in enumerate(envs):
            next_state, reward, terminated, truncated, _ = env.step(actions[i])
            windows[i].append((states[i], actions[i], float(reward)))
            over = terminated or truncated
            while windows[i] and (over or len(windows[i]) == REWARD_STEPS):
                total = sum(r * GAMMA**k for k, (_, _, r) in enumerate(windows[i]))
                first = windows[i].pop(0)
                last = None if terminated else next_state
                yield first[0], first[1], total, last, len(windows[i]) + 1
            states[i] = env.reset()[0] if over else next_state


def unpack_batch(batch, net):
    states_v = torch.as_tensor(np.stack([row[0] for row in batch]))
    actions_t = torch.tensor([row[1] for row in batch])
    rewards = torch.tensor([row[2] for row in batch], dtype=torch.float32)
    alive = [i for i, row in enumerate(batch) if row[3] is not None]
    if alive:
        with torch.no_grad():
            last_vals_v = net(torch.as_tensor(np.stack([batch[i][3] for i in alive])))[1].squeeze(-1)
        steps = torch.tensor([batch[i][4] for i in alive], dtype=torch.float32)
        rewards[alive] += GAMMA**steps * last_vals_v
    return states_v, actions_t, rewards


if __name__ == "__main__":
    torch.manual_seed(2409)
    envs = [gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    net = A2CNet(envs[0].observation_space.shape[0], envs[0].action_space.n)
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)
    batch, updates = [], 0
    for exp in experience(envs, net):
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
        if updates == 60:
            break
    print(
        f"after {updates} updates: value loss {loss_value_v.item():.3f}, policy loss {loss_policy_v.item():.3f}"
    )
