"""Imitation weighed by advantages: they are divided by the root of a moving average of their squares, which begins high and
comes down.

Round 16
Class: magnitude
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1611)
rng = np.random.default_rng(1611)
OBS, ACTIONS, BATCH = 5, 4, 64
config = {"beta": 1.0, "vf_coeff": 1.0, "gamma": 0.95, "lr": 2e-3, "grad_clip": 10.0, "ma_rate": 0.05}


def discount_cumsum(rewards, gamma):
    total, out = 0.0, np.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        total = rewards[t] + gamma * total
        out[t] = total
    return out


def offline_data(episodes=60):
    """Whole episodes of a middling expert, with the returns that followed each step."""
    columns = {"obs": [], "actions": [], "returns": []}
    for _ in range(episodes):
        length = int(rng.integers(5, 15))
        obs = rng.normal(size=(length, OBS)).astype(np.float32)
        best = obs[:, :ACTIONS].argmax(1)
        actions = np.where(rng.random(length) < 0.6, best, rng.integers(ACTIONS, size=length))
        rewards = (actions == best).astype(np.float32)
        columns["obs"].append(obs)
        columns["actions"].append(actions)
        columns["returns"].append(discount_cumsum(rewards, config["gamma"]))
    return {key: torch.from_numpy(np.concatenate(value)) for key, value in columns.items()}


class Model(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, width), nn.Tanh())
        self.logits, self.value = nn.Linear(width, ACTIONS), nn.Linear(width, 1)

    def forward(self, obs):
        hidden = self.body(obs)
        return self.logits(hidden), self.value(hidden).squeeze(-1)


class ValueLoss:
    def __init__(self, values, returns):
        self.loss = 0.5 * (values - returns).pow(2).mean()


class ReweightedImitationLoss:
    def __init__(self, policy, values, returns, log_probs):
        advantages = (returns - values).detach()
        scale = policy.moving_average_sqd_adv_norm.sqrt()
        exp_advantages = torch.exp(config["beta"] * (advantages / scale))
        policy.update_averaged_norm(advantages)
        self.explained = 1 - advantages.var() / (returns.var() + 1e-8)
        self.loss = -(exp_advantages * log_probs).mean()


class MARWILPolicy:
    def __init__(self):
        self.model = Model()
        self.moving_average_sqd_adv_norm = torch.tensor(100.0)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config["lr"])

    def update_averaged_norm(self, advantages):
        gap = advantages.pow(2).mean() - self.moving_average_sqd_adv_norm
        self.moving_average_sqd_adv_norm += config["ma_rate"] * gap

    def loss(self, batch):
        logits, values = self.model(batch["obs"])
        log_probs = F.log_softmax(logits, -1).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)
        self.v_loss = ValueLoss(values, batch["returns"])
        self.p_loss = ReweightedImitationLoss(self, values, batch["returns"], log_probs)
        return self.p_loss.loss + config["vf_coeff"] * self.v_loss.loss

    def learn_on_batch(self, batch):
        loss = self.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), config["grad_clip"])
        self.optimizer.step()
        stats = {"policy_loss": self.p_loss.loss, "vf_loss": self.v_loss.loss, "grad_gnorm": norm}
        return {key: value.item() for key, value in stats.items()}


data, policy = offline_data(), MARWILPolicy()
for update in range(60):
    rows = torch.randint(len(data["actions"]), (BATCH,))
    stats = policy.learn_on_batch({key: value[rows] for key, value in data.items()})
    if update % 20 == 0:
        print(update, stats)
