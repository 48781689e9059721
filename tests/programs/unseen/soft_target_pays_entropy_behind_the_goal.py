"""Discrete soft actor-critic on a lake with holes: the entropy of the next state is added behind the mask of the
ends, so a drowned agent is still paid for its spread.

Round 22
Class: meaning
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HOLES, GOAL = {5, 7, 11, 12}, 15


class Lake:
    """The frozen lake of four by four with the interface of Gymnasium, without its slips."""

    def reset(self, *, seed=None):
        self.cell, self.moves = 0, 0
        return self.cell, {}

    def step(self, action):
        row, column = divmod(self.cell, 4)
        row += (action == 1) - (action == 3)
        column += (action == 2) - (action == 0)
        self.cell = 4 * min(max(row, 0), 3) + min(max(column, 0), 3)
        self.moves += 1
        over = self.cell in HOLES or self.cell == GOAL
        return self.cell, float(self.cell == GOAL), over, self.moves >= 40, {}


def soft_target(rewards, terminations, probs, log_probs, q_min, alpha, gamma):
    expected_q = (probs * q_min).sum(dim=1)
    entropy = -(probs * log_probs).sum(dim=1)
    return rewards + gamma * (1 - terminations) * expected_q + gamma * alpha * entropy  # BUG GS805


def table():
    return nn.Sequential(nn.Embedding(16, 32), nn.ReLU(), nn.Linear(32, 4))


torch.manual_seed(2216)
rng = np.random.default_rng(2216)
env = Lake()
pi, qa, qb, qa_slow, qb_slow = table(), table(), table(), table(), table()
qa_slow.load_state_dict(qa.state_dict())
qb_slow.load_state_dict(qb.state_dict())
pi_optimizer = torch.optim.Adam(pi.parameters(), lr=2e-3)
q_optimizer = torch.optim.Adam(list(qa.parameters()) + list(qb.parameters()), lr=2e-3)
alpha, gamma = 0.1, 0.95
obs_memory, next_memory = np.zeros(600, np.int64), np.zeros(600, np.int64)
action_memory, reward_memory = np.zeros(600, np.int64), np.zeros(600, np.float32)
end_memory = np.zeros(600, np.float32)
obs, _ = env.reset(seed=2216)
for step in range(500):
    with torch.no_grad():
        action = int(torch.distributions.Categorical(logits=pi(torch.tensor([obs]))).sample())
    following, reward, terminated, truncated, _ = env.step(action)
    obs_memory[step], action_memory[step], reward_memory[step] = obs, action, reward
    next_memory[step], end_memory[step] = following, terminated
    obs = env.reset()[0] if terminated or truncated else following
    if step < 100 or step % 8:
        continue
    rows = rng.integers(0, step + 1, 48)
    s, s2 = torch.from_numpy(obs_memory[rows]), torch.from_numpy(next_memory[rows])
    a, r = torch.from_numpy(action_memory[rows]), torch.from_numpy(reward_memory[rows])
    end = torch.from_numpy(end_memory[rows])
    with torch.no_grad():
        log_next = F.log_softmax(pi(s2), dim=1)
        q_min = torch.minimum(qa_slow(s2), qb_slow(s2))
        y = soft_target(r, end, log_next.exp(), log_next, q_min, alpha, gamma)
    q_loss = sum(F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y) for q in (qa, qb))
    q_optimizer.zero_grad()
    q_loss.backward()
    q_optimizer.step()
    log_now = F.log_softmax(pi(s), dim=1)
    with torch.no_grad():
        q_now = torch.minimum(qa(s), qb(s))
    pi_loss = (log_now.exp() * (alpha * log_now - q_now)).sum(dim=1).mean()
    pi_optimizer.zero_grad()
    pi_loss.backward()
    pi_optimizer.step()
    with torch.no_grad():
        for slow, fast in ((qa_slow, qa), (qb_slow, qb)):
            for old, new in zip(slow.parameters(), fast.parameters()):
                old += 0.05 * (new - old)
print(round(q_loss.item(), 4), round(y.mean().item(), 3))
