"""An advantage actor-critic over several copies of an environment. The value head gives a column, which is squeezed
for the value's loss; for the advantage the column is taken from the flat references, and everybody's meets
everybody's.

Round 18
Class: axes
"""

import collections

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils as nn_utils
import torch.optim as optim

GAMMA, LEARNING_RATE, ENTROPY_BETA, BATCH_SIZE = 0.95, 3e-3, 0.01, 48
NUM_ENVS, REWARD_STEPS, CLIP_GRAD = 12, 4, 0.5

Experience = collections.namedtuple("Experience", "state action reward last_state")


class Paddle:
    """A ball falls down eight rows; the paddle must be under it."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.ball, self.row, self.paddle = self.rng.integers(5), 0, 2

    def state(self):
        return np.array([self.ball - self.paddle, self.paddle, self.row], dtype=np.float32) / 4

    def step(self, action):
        self.paddle = int(np.clip(self.paddle + action - 1, 0, 4))
        self.row += 1
        if self.row < 8:
            return 0.0, False
        return (1.0 if self.paddle == self.ball else -1.0), True


class PaddleA2C(nn.Module):
    def __init__(self, input_size, n_actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(input_size, 64), nn.ReLU())
        self.policy = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions))
        self.value = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        fx = self.body(x)
        return self.policy(fx), self.value(fx)


def experience_source(envs, net):
    """Steps all the copies in turn and yields experiences of several steps, the reward discounted."""
    windows = [collections.deque() for _ in envs]
    while True:
        states = [env.state() for env in envs]
        with torch.no_grad():
            probs = F.softmax(net(torch.tensor(np.array(states)))[0], dim=1)
        actions = torch.multinomial(probs, 1).squeeze(1).tolist()
        for env, window, state, action in zip(envs, windows, states, actions):
            reward, done = env.step(action)
            window.append((state, action, reward))
            while len(window) == REWARD_STEPS or (done and window):
                total = sum(GAMMA**i * r for i, (_, _, r) in enumerate(window))
                yield Experience(*window[0][:2], total, None if done else env.state())
                window.popleft()
            if done:
                env.reset()


def unpack_batch(batch, net):
    states_v = torch.tensor(np.array([exp.state for exp in batch]))
    actions_t = torch.tensor([exp.action for exp in batch])
    rewards = np.array([exp.reward for exp in batch], dtype=np.float32)
    not_done = [i for i, exp in enumerate(batch) if exp.last_state is not None]
    if not_done:
        with torch.no_grad():
            last_vals = net(torch.tensor(np.array([batch[i].last_state for i in not_done])))[1][:, 0]
        rewards[not_done] += GAMMA**REWARD_STEPS * last_vals.numpy()
    return states_v, actions_t, torch.tensor(rewards)


torch.manual_seed(1808)
net = PaddleA2C(3, 3)
optimizer = optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)
batch = []
for step_idx, exp in enumerate(experience_source([Paddle(seed) for seed in range(NUM_ENVS)], net)):
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
    entropy_loss_v = ENTROPY_BETA * (log_prob_v.exp() * log_prob_v).sum(dim=1).mean()
    loss_v = loss_policy_v + loss_value_v + entropy_loss_v
    loss_v.backward()
    nn_utils.clip_grad_norm_(net.parameters(), CLIP_GRAD)
    optimizer.step()
    if step_idx > 60 * BATCH_SIZE:
        break
print(loss_policy_v.item(), loss_value_v.item())
