"""Policy gradients with a state-value baseline on CartPole: transitions of n steps are folded into a reference value
each, and a two-headed network learns from batches of them.

Round 31
Class: axes
"""

from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Adam

GAMMA, LEARNING_RATE, ENTROPY_BETA = 0.99, 2e-3, 0.01
BATCH_SIZE, REWARD_STEPS, BATCHES, CLIP_GRAD = 32, 4, 60, 0.5

Experience = namedtuple("Experience", "state action reward last_state")


class PoleA2C(nn.Module):
    def __init__(self, input_size, n_actions, hidden=64):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(input_size, hidden), nn.ReLU())
        self.policy = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_actions))
        self.value = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        features = self.base(x)
        return self.policy(features), self.value(features)


def fold(window, last_state):
    reward = sum(r * GAMMA**k for k, (_, _, r) in enumerate(window))
    state, action, _ = window[0]
    return Experience(state, action, reward, last_state)


def experiences(env, net, seed, scores):
    """Endless folded transitions; last_state is None where the pole fell within the window, and the window may be
    shorter than REWARD_STEPS where an episode ends."""
    state, _ = env.reset(seed=seed)
    window, score = deque(), 0.0
    while True:
        with torch.no_grad():
            probs = F.softmax(net(torch.from_numpy(state))[0], dim=-1)
        action = torch.multinomial(probs, 1).item()
        next_state, reward, terminated, truncated, _ = env.step(action)
        window.append((state, action, reward))
        score += reward
        state = next_state
        if terminated or truncated:
            while window:
                yield len(window), fold(window, None if terminated else next_state)
                window.popleft()
            scores.append(score)
            (state, _), score = env.reset(), 0.0
        elif len(window) == REWARD_STEPS:
            yield len(window), fold(window, next_state)
            window.popleft()


def unpack_batch(batch, net):
    states = torch.from_numpy(np.stack([exp.state for _, exp in batch]))
    actions = torch.tensor([exp.action for _, exp in batch])
    rewards = np.array([exp.reward for _, exp in batch], dtype=np.float32)
    open_ends = [i for i, (_, exp) in enumerate(batch) if exp.last_state is not None]
    if open_ends:
        last_states = torch.from_numpy(np.stack([batch[i][1].last_state for i in open_ends]))
        with torch.no_grad():
            last_vals = net(last_states)[1][:, 0].numpy()
        lengths = np.array([batch[i][0] for i in open_ends])
        rewards[open_ends] += GAMMA**lengths * last_vals
    return states, actions, torch.from_numpy(rewards)


def train_batch(net, optimizer, batch):
    states_v, actions_t, vals_ref_v = unpack_batch(batch, net)
    optimizer.zero_grad()
    logits_v, value_v = net(states_v)
    loss_value_v = F.mse_loss(value_v.squeeze(-1), vals_ref_v)

    log_prob_v = F.log_softmax(logits_v, dim=1)
    adv_v = vals_ref_v - value_v.squeeze(-1).detach()
    log_prob_actions_v = adv_v * log_prob_v[range(len(batch)), actions_t]
    loss_policy_v = -log_prob_actions_v.mean()

    prob_v = F.softmax(logits_v, dim=1)
    entropy_loss_v = ENTROPY_BETA * (prob_v * log_prob_v).sum(dim=1).mean()

    loss_v = loss_policy_v + entropy_loss_v + loss_value_v
    loss_v.backward()
    nn.utils.clip_grad_norm_(net.parameters(), CLIP_GRAD)
    optimizer.step()
    return loss_policy_v.item(), loss_value_v.item()


def main():
    torch.manual_seed(3114)
    env = gym.make("CartPole-v1")
    net = PoleA2C(env.observation_space.shape[0], env.action_space.n)
    optimizer = Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)
    scores = deque(maxlen=20)
    source = experiences(env, net, 3114, scores)
    for number in range(BATCHES):
        batch = [next(source) for _ in range(BATCH_SIZE)]
        loss_policy, loss_value = train_batch(net, optimizer, batch)
        if number % 15 == 0:
            score = np.mean(scores) if scores else 0.0
            print(f"{number}: score {score:.1f}, policy {loss_policy:.3f}, value {loss_value:.3f}")
    env.close()


if __name__ == "__main__":
    main()
