"""PPO whose rollout, minibatches and networks are tensordict's: names, weights and findings as with plain tensors."""

from __future__ import annotations

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torch.distributions import Categorical

ROWS, LENGTH = 16, 8


class Batches:
    def __init__(self, updates: int) -> None:
        torch.manual_seed(0)
        self.updates = updates
        body = TensorDictModule(nn.Sequential(nn.Linear(4, 32), nn.Tanh()), ["seen"], ["features"])
        policy = TensorDictModule(nn.Linear(32, 3), ["features"], ["logits"])
        value = TensorDictModule(nn.Linear(32, 1), ["features"], ["value"])
        self.model = TensorDictSequential(body, policy, value)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def rollout(self) -> TensorDict:
        """Steps of a task that is over after `LENGTH` of them, side by side."""
        steps = []
        with torch.no_grad():
            for _ in range(LENGTH):
                step = self.model(TensorDict({"seen": torch.randn(ROWS, 4)}, batch_size=[ROWS]))
                dist = Categorical(logits=step["logits"])
                step["action"] = dist.sample()
                step["old"] = dist.log_prob(step["action"])
                step["reward"] = (step["action"] == step["seen"][:, :3].argmax(1)).float()
                steps.append(step.exclude("features", "logits"))
        whole = torch.stack(steps, dim=1)
        returns = whole["reward"].flip(1).cumsum(1).flip(1)
        whole["returns"] = returns.unsqueeze(-1)
        whole["advantage"] = returns - whole["value"].squeeze(-1)
        return whole.exclude("value").reshape(-1)

    def loss(self, batch: TensorDict) -> torch.Tensor:
        out = self.model(batch.select("seen"))
        dist = Categorical(logits=out["logits"])
        ratio = (dist.log_prob(batch["action"]) - batch["old"]).exp()
        clipped = torch.min(ratio * batch["advantage"], ratio.clamp(0.8, 1.2) * batch["advantage"])
        fit = (out["value"] - batch["returns"]).pow(2).mean()
        return -clipped.mean() + 0.5 * fit - 0.01 * dist.entropy().mean()

    def train(self) -> None:
        for _ in range(self.updates // 4):
            rollout = self.rollout()
            for rows in torch.randperm(len(rollout)).chunk(4):
                self.optimizer.zero_grad()
                self.loss(rollout[rows]).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
                self.optimizer.step()
