"""Advantage actor-critic on CartPole in three functions: the entropy is added to the sum that is minimised, so
the policy is paid for certainty.

Round 22
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GAMMA, ENTROPY_COST, ROWS = 0.99, 0.02, 32


def make_networks():
    body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
    return body, nn.Linear(32, 2), nn.Linear(32, 1)


def collect(env, state, body, pi):
    rows = []
    for _ in range(ROWS):
        with torch.no_grad():
            logits = pi(body(torch.as_tensor(state, dtype=torch.float32)))
        action = int(torch.multinomial(F.softmax(logits, dim=-1), 1))
        following, reward, terminated, truncated, _ = env.step(action)
        rows.append((state, action, reward, following, terminated))
        state = env.reset()[0] if terminated or truncated else following
    return rows, state


def losses(rows, body, pi, baseline):
    states, actions, rewards, followings, ends = (np.array(column) for column in zip(*rows))
    hidden = body(torch.as_tensor(states, dtype=torch.float32))
    values = baseline(hidden).squeeze(1)
    with torch.no_grad():
        after = baseline(body(torch.as_tensor(followings, dtype=torch.float32))).squeeze(1)
    alive = 1.0 - torch.as_tensor(ends, dtype=torch.float32)
    targets = torch.as_tensor(rewards, dtype=torch.float32) + GAMMA * alive * after
    advantages = targets - values.detach()

    log_pi = F.log_softmax(pi(hidden), dim=1)
    chosen = log_pi[torch.arange(ROWS), torch.as_tensor(actions)]
    pg_loss = -(chosen * advantages).mean()
    entropy_loss = -(log_pi.exp() * log_pi).sum(dim=1).mean()
    total = pg_loss + ENTROPY_COST * entropy_loss  # BUG GS802
    return total, F.mse_loss(values, targets)


torch.manual_seed(2201)
env = gym.make("CartPole-v1")
state, _ = env.reset(seed=2201)
body, pi, baseline = make_networks()
parameters = [*body.parameters(), *pi.parameters(), *baseline.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=2e-3)
for update in range(40):
    rows, state = collect(env, state, body, pi)
    policy_loss, value_loss = losses(rows, body, pi, baseline)
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
    if update % 10 == 0:
        print(update, round(policy_loss.item(), 3), round(value_loss.item(), 3))
