"""Learning without ends: a task that never terminates, and one whose resets are part of the task (average reward)."""

import numpy as np
import torch
from torch import nn


class Server:
    """A queue. `breaks_down`: it terminates now and then, and is started anew, which is part of the job."""

    def __init__(self, breaks_down):
        self.breaks_down = breaks_down
        self.random = np.random.default_rng(1)

    def reset(self):
        self.load = self.random.normal(0.0, 1.0, size=3).astype(np.float32)
        return self.load.copy(), {}

    def step(self, action):
        self.load = (0.8 * self.load + self.random.normal(action - 0.5, 0.7, size=3)).astype(np.float32)
        terminated = bool(self.breaks_down and abs(self.load).max() > 1.8)
        return self.load.copy(), float(-abs(self.load).mean()), terminated, False, {}


def learn(env, average_reward):
    value = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
    policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam([*value.parameters(), *policy.parameters()], lr=1e-3)
    obs, _ = env.reset()
    mean_reward = 0.0
    for _ in range(10):
        rows = []
        for _ in range(48):
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample())
            following, reward, terminated, _, _ = env.step(action)
            if terminated:
                following, _ = env.reset()  # what follows the breakdown is the start
            rows.append((obs, action, reward, following))
            obs = following
        s, a, r, s2 = (torch.as_tensor(np.array(part)) for part in zip(*rows, strict=True))
        r = r.float()
        with torch.no_grad():
            following = value(s2).squeeze(-1)
            target = r - mean_reward + following if average_reward else r + 0.95 * following
        now = value(s).squeeze(-1)
        advantage = (target - now).detach()
        mean_reward += 0.05 * float(advantage.mean())
        log_prob = policy(s).log_softmax(-1).gather(1, a[:, None]).squeeze(-1)
        loss = (now - target).pow(2).mean() - (log_prob * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
learn(Server(breaks_down=False), average_reward=False)
learn(Server(breaks_down=True), average_reward=True)
