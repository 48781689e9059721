"""Value decomposition: agents leave the episode one by one, and the target sums the best next values of all of them,
also of those that have just arrived and have no next step.

Round 24
Class: meaning
"""

import collections
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

N_AGENTS, WIDTH, MAX_STEPS = 3, 5, 18


class Corridors:
    """Each agent walks in a corridor of its own and is done at its door; the others go on."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.place = self.rng.integers(0, WIDTH - 1, N_AGENTS)
        self.done, self.clock = np.zeros(N_AGENTS, dtype=bool), 0
        return self._obs()

    def _obs(self):
        near = np.eye(WIDTH, dtype=np.float32)[self.place]
        others = np.full((N_AGENTS, 1), self.done.mean(), dtype=np.float32)
        return np.concatenate([near, others], axis=1)

    def step(self, actions):
        walking = ~self.done
        moved = np.clip(self.place + np.where(np.array(actions) == 1, 1, -1), 0, WIDTH - 1)
        self.place = np.where(walking, moved, self.place)
        arrived = walking & (self.place == WIDTH - 1)
        reward = np.where(arrived, 2.0, np.where(walking, -0.1, 0.0))
        self.done, self.clock = self.done | arrived, self.clock + 1
        return self._obs(), reward, self.done.copy(), self.clock >= MAX_STEPS


class ReplayBuffer:
    def __init__(self, buffer_limit):
        self.buffer = collections.deque(maxlen=buffer_limit)

    def put(self, transition):
        self.buffer.append(transition)

    def sample(self, n):
        columns = zip(*random.sample(self.buffer, n))
        s, a, r, s_prime, alive, done = (torch.tensor(np.array(c), dtype=torch.float) for c in columns)
        return s, a.long(), r, s_prime, alive, done

    def size(self):
        return len(self.buffer)


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        for agent_i in range(N_AGENTS):
            body = nn.Sequential(nn.Linear(WIDTH + 1, 32), nn.ReLU(), nn.Linear(32, 2))
            setattr(self, f"agent_{agent_i}", body)

    def forward(self, obs):
        return torch.stack([getattr(self, f"agent_{i}")(obs[:, i]) for i in range(N_AGENTS)], dim=1)

    def sample_action(self, obs, epsilon):
        greedy = self.forward(torch.from_numpy(obs).unsqueeze(0)).argmax(dim=2)[0].tolist()
        return [random.randint(0, 1) if random.random() < epsilon else a for a in greedy]


def train(q, q_target, memory, optimizer, gamma, batch_size):
    s, a, r, s_prime, alive, done = memory.sample(batch_size)
    q_a = q(s).gather(2, a.unsqueeze(-1)).squeeze(-1)
    sum_q = (q_a * alive).sum(dim=1, keepdim=True)
    with torch.no_grad():
        max_q_prime = q_target(s_prime).max(dim=2)[0]
        team_over = done.min(dim=1, keepdim=True).values
        target_q = max_q_prime.sum(dim=1, keepdim=True) * (1 - team_over)  # BUG GS805
        target_q = r.sum(dim=1, keepdim=True) + gamma * target_q  # BUG GS805
    loss = F.smooth_l1_loss(sum_q, target_q)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 5, norm_type=2)
    optimizer.step()
    return loss.item()


def main(gamma=0.95, max_episodes=40, batch_size=32):
    random.seed(2416)
    torch.manual_seed(2416)
    env, memory, q, q_target = Corridors(16), ReplayBuffer(2000), QNet(), QNet()
    q_target.load_state_dict(q.state_dict())
    optimizer = optim.Adam(q.parameters(), lr=3e-3)
    loss, scores = float("nan"), []
    for episode_i in range(max_episodes):
        state, over, score, alive = env.reset(), False, 0.0, np.ones(N_AGENTS)
        with torch.no_grad():
            while not over:
                action = q.sample_action(state, epsilon=max(0.1, 0.7 - 0.02 * episode_i))
                next_state, reward, done, late = env.step(action)
                memory.put((state, action, reward, next_state, alive, done))
                state, alive, score, over = next_state, 1.0 - done, score + reward.sum(), late or done.all()
        if memory.size() > 60:
            for _ in range(4):
                loss = train(q, q_target, memory, optimizer, gamma, batch_size)
        if episode_i % 4 == 0:
            q_target.load_state_dict(q.state_dict())
        scores.append(score)
    print(f"score {np.mean(scores[-10:]):.2f}, loss {loss:.4f}")


main()
