"""A model builds its distribution with the mask of the available actions when it plays and drops the mask when it
trains: the same action has another probability before a single update was made.

Round 14
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, ACTIONS, STATES = 6, 12, 5, 7


class MaskedCategorical(Categorical):
    def __init__(self, logits, masks=None):
        if masks is not None:
            logits = logits.masked_fill(~masks, -1e9)
        self.masks = masks
        super().__init__(logits=logits)

    def entropy(self):
        if self.masks is None:
            return super().entropy()
        return -(self.logits * self.probs).masked_fill(~self.masks, 0.0).sum(-1)


class Shop:
    """Buy what the state asks for, among what is in stock."""

    def __init__(self):
        self.state = torch.randn(ENVS, STATES)
        self.restock()

    def restock(self):
        self.stock = torch.rand(ENVS, ACTIONS) < 0.6
        self.stock[:, 0] = True

    def step(self, actions):
        reward = self.state.gather(1, actions.unsqueeze(1)).squeeze(1)
        self.state = 0.5 * self.state + 0.8 * torch.randn(ENVS, STATES)
        self.restock()
        return reward


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(STATES, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU())
        self.logits, self.value = nn.Linear(32, ACTIONS), nn.Linear(32, 1)

    def forward(self, inputs):
        is_train = inputs.get("is_train", True)
        masks = inputs.get("action_masks")
        features = self.trunk(inputs["obs"])
        value = self.value(features).squeeze(-1)
        if is_train:
            masks = None  # BUG GS803
            dist = MaskedCategorical(self.logits(features), masks)
            return {"neglogp": -dist.log_prob(inputs["actions"]), "value": value, "entropy": dist.entropy()}
        dist = MaskedCategorical(self.logits(features), masks)
        action = dist.sample()
        return {"neglogp": -dist.log_prob(action), "value": value, "action": action}


class Agent:
    gamma, lam, clip = 0.95, 0.9, 0.2

    def __init__(self):
        self.env, self.model = Shop(), Model()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3, eps=1e-5)

    @torch.no_grad()
    def play_steps(self):
        rows = []
        for _ in range(STEPS):
            given = {"is_train": False, "obs": self.env.state, "action_masks": self.env.stock}
            result = self.model(given)
            reward = self.env.step(result["action"])
            rows.append(
                {
                    "obs": given["obs"],
                    "masks": given["action_masks"].clone(),
                    "actions": result["action"],
                    "neglogp": result["neglogp"],
                    "values": result["value"],
                    "rewards": reward,
                }
            )
        last = self.model({"is_train": False, "obs": self.env.state, "action_masks": self.env.stock})["value"]
        batch = {key: torch.stack([row[key] for row in rows]) for key in rows[0]}
        batch["advantages"] = self.discount(batch["rewards"], batch["values"], last)
        batch["returns"] = batch["advantages"] + batch["values"]
        return {key: value.flatten(0, 1) for key, value in batch.items()}

    def discount(self, rewards, values, following):
        advantages, running = torch.zeros_like(rewards), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            delta = rewards[t] + self.gamma * following - values[t]
            running = delta + self.gamma * self.lam * running
            advantages[t], following = running, values[t]
        return advantages

    def calc_gradients(self, batch):
        result = self.model(
            {"obs": batch["obs"], "action_masks": batch["masks"], "actions": batch["actions"]}
        )
        advantage = (batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-8)
        ratio = torch.exp(batch["neglogp"] - result["neglogp"])
        clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
        a_loss = torch.max(-advantage * ratio, -advantage * clipped).mean()
        c_loss = (result["value"] - batch["returns"]).pow(2).mean()
        loss = a_loss + 0.5 * c_loss - 0.01 * result["entropy"].mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def train_epoch(self):
        batch = self.play_steps()
        for _ in range(3):
            for chosen in torch.randperm(ENVS * STEPS).split(36):
                loss = self.calc_gradients({key: value[chosen] for key, value in batch.items()})
        return loss, batch["rewards"].mean().item()


torch.manual_seed(1403)
agent = Agent()
for epoch in range(12):
    loss, reward = agent.train_epoch()
    if epoch % 4 == 0:
        print(epoch, round(loss, 3), round(reward, 3))
