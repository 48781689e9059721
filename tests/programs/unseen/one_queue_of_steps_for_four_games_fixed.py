"""The repaired twin of a program in which the following goes wrong.
DQN with three-step returns on four games that are stepped in turn: all of them push into one queue, so a return
adds up rewards of different games and bootstraps from a foreign state. After chainer/chainerrl#442.

Round 27
Class: meaning
"""

import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, N_ENVS, N_STEP, GAMMA = 2720, 4, 3, 0.95


class Ladder:
    """Climb ten rungs; loose rungs throw the climber off."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.rung, self.loose, self.t = 0, self.rng.random(11) < 0.25, 0
        return self._obs()

    def _obs(self):
        ahead = [float(self.loose[min(10, self.rung + k)]) for k in (1, 2)]
        return np.array([self.rung / 10, *ahead], dtype=np.float32)

    def step(self, action):
        self.t += 1
        self.rung = min(10, self.rung + action)
        fell = bool(self.loose[self.rung]) and action > 0
        top = self.rung == 10 and not fell
        self.loose = self.rng.random(11) < 0.25
        reward = -1.0 if fell else (2.0 if top else 0.1 * action)
        return self._obs(), reward, fell or top, self.t >= 25


class NStepReplay:
    def __init__(self, capacity=4000):
        self.data = deque(maxlen=capacity)
        self.queues = [deque() for _ in range(N_ENVS)]

    def push(self, env_id, obs, action, reward, next_obs, terminated, truncated):
        queue = self.queues[env_id]
        queue.append((obs, action, reward, next_obs, terminated))
        if len(queue) == N_STEP:
            self._store(queue)
        if terminated or truncated:
            while queue:
                self._store(queue)

    def _store(self, queue):
        total, discount = 0.0, 1.0
        for step in queue:
            total += discount * step[2]
            discount *= GAMMA
        obs, action = queue[0][:2]
        self.data.append((obs, action, total, queue[-1][3], discount * (1.0 - queue[-1][4])))
        queue.popleft()

    def sample(self, n):
        columns = zip(*random.sample(self.data, n))
        obs, action, total, later, discount = (np.array(c) for c in columns)
        as_float = [torch.tensor(c, dtype=torch.float32) for c in (obs, total, later, discount)]
        return as_float[0], torch.tensor(action), *as_float[1:]


class DQN:
    def __init__(self):
        self.online, self.target = self.make(), self.make()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    @staticmethod
    def make():
        return nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))

    def act(self, observations, epsilon):
        with torch.no_grad():
            best = self.online(torch.from_numpy(np.stack(observations))).argmax(1).tolist()
        return [random.randrange(3) if random.random() < epsilon else a for a in best]

    def update(self, replay, batch_size=32):
        obs, action, total, later, discount = replay.sample(batch_size)
        with torch.no_grad():
            target = total + discount * self.target(later).max(1).values
        q = self.online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(SEED)
    torch.manual_seed(SEED)
    envs = [Ladder(np.random.default_rng(SEED + i)) for i in range(N_ENVS)]
    replay, agent = NStepReplay(), DQN()
    observations = [env.reset() for env in envs]
    for step in range(150):
        actions = agent.act(observations, max(0.1, 1 - step / 80))
        for i, (env, action) in enumerate(zip(envs, actions)):
            nxt, reward, terminated, truncated = env.step(action)
            replay.push(i, observations[i], action, reward, nxt, terminated, truncated)
            observations[i] = env.reset() if terminated or truncated else nxt
        if len(replay.data) >= 120:
            loss = agent.update(replay)
        if step % 15 == 14:
            agent.target.load_state_dict(agent.online.state_dict())
    print("loss", loss, "stored", len(replay.data))


main()
