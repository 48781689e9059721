"""A throwing hand with three joints is improved from the throws of an older controller. The
log-probabilities are summed over the joints, and the importance weight is that of the whole throw.

Round 34
Class: axes
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal

OBS, JOINTS = 4, 3
LOGGED, BATCH, UPDATES = 2000, 128, 120
CAP = 5.0


class OldController:
    """A linear controller with the noise of its servos; the throws it made were written into a log."""

    def __init__(self, rng):
        self.gain = 0.4 * rng.standard_normal((OBS, JOINTS))
        self.noise = 0.5

    def throw(self, obs, rng):
        mean = obs @ self.gain
        action = mean + self.noise * rng.standard_normal(mean.shape)
        log_prob = -0.5 * ((action - mean) / self.noise) ** 2 - np.log(self.noise * np.sqrt(2 * np.pi))
        return action, log_prob


def make_log(rng):
    obs = rng.uniform(-1, 1, (LOGGED, OBS))
    action, log_prob = OldController(rng).throw(obs, rng)
    wanted = np.tanh(obs @ rng.standard_normal((OBS, JOINTS)))
    reward = np.exp(-((action - wanted) ** 2).sum(axis=1))
    table = (obs, action, log_prob, reward)
    return [torch.tensor(column, dtype=torch.float32) for column in table]


class Hand(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, JOINTS))
        self.log_std = nn.Parameter(torch.full((JOINTS,), -0.7))

    def forward(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


class OffPolicyLearner:
    def __init__(self, hand, log, lr=3e-3):
        self.hand = hand
        self.obs, self.action, self.old_log_prob, self.reward = log
        self.baseline = self.reward.mean()
        self.optimizer = torch.optim.Adam(hand.parameters(), lr=lr)

    def weights(self, log_prob, old_log_prob):
        return (log_prob.detach() - old_log_prob).exp().clamp(max=CAP)

    def update(self, rows):
        dist = self.hand(self.obs[rows])
        log_prob = dist.log_prob(self.action[rows]).sum(dim=-1)
        weight = self.weights(log_prob, self.old_log_prob[rows].sum(dim=-1))
        gain = self.reward[rows] - self.baseline
        loss = -(weight * log_prob * gain).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def spread(self):
        return self.hand.log_std.exp().tolist()


def main():
    rng = np.random.default_rng(351)
    torch.manual_seed(351)
    learner = OffPolicyLearner(Hand(), make_log(rng))
    for _ in range(UPDATES):
        learner.update(torch.from_numpy(rng.integers(0, LOGGED, BATCH)))
    print("spread of the joints:", [round(x, 3) for x in learner.spread()])


main()
