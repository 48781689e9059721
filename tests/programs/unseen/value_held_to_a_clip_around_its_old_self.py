"""PPO whose value loss sees only the old value plus a clipped change: once a value has moved by the clip, its loss is
a constant and the value function learns nothing more from the batch. After ray-project/ray#19291.

Round 35
Class: zero in part
"""

import random

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SEED = 3514
CONFIG = {
    "gamma": 0.95,
    "lambda": 0.9,
    "clip_param": 0.2,
    "vf_clip_param": 0.5,
    "vf_loss_coeff": 1.0,
    "entropy_coeff": 0.01,
    "lr": 3e-3,
    "train_batch_size": 120,
    "sgd_minibatch_size": 40,
    "num_sgd_iter": 6,
}


class Warehouse:
    """Order goods before they are sold out; the reward is the day's profit in coins."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.stock, self.day = 10, 0
        return self.obs()

    def obs(self):
        return np.array([self.stock / 20, self.day % 7 / 7, self.day / 28], dtype=np.float32)

    def step(self, action):
        wanted = self.rng.poisson(4 + 3 * (self.day % 7 >= 5))
        sold = min(wanted, self.stock)
        self.stock = min(20, self.stock - sold + 4 * action)
        self.day += 1
        reward = 3.0 * sold - 4.0 * action - 0.2 * self.stock
        return self.obs(), reward, self.day >= 28, False


class TorchModel(nn.Module):
    def __init__(self, obs_dim, num_outputs):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, num_outputs))
        self.value = nn.Sequential(nn.Linear(obs_dim, 64), nn.Tanh(), nn.Linear(64, 1))

    def logits(self, obs):
        return self.policy(obs)

    def value_function(self, obs):
        return self.value(obs).squeeze(-1)


class PPOTorchPolicy:
    def __init__(self, config):
        self.config = config
        self.model = TorchModel(3, 3)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config["lr"])

    @torch.no_grad()
    def compute_action(self, obs):
        obs = torch.from_numpy(obs)
        dist = Categorical(logits=self.model.logits(obs))
        action = dist.sample()
        return action.item(), dist.log_prob(action).item(), self.model.value_function(obs).item()

    @torch.no_grad()
    def postprocess(self, batch):
        gamma, lambda_ = self.config["gamma"], self.config["lambda"]
        values = batch["vf_preds"]
        following = self.model.value_function(batch["new_obs"]) * (1 - batch["terminated"])
        delta = batch["rewards"] + gamma * following - values
        advantages, last = torch.zeros_like(delta), 0.0
        for t in reversed(range(len(delta))):
            last = delta[t] + gamma * lambda_ * (1 - batch["ended"][t]) * last
            advantages[t] = last
        batch["value_targets"] = advantages + values
        batch["advantages"] = (advantages - advantages.mean()) / advantages.std().clamp(min=1e-4)
        return batch

    def loss(self, batch):
        config = self.config
        dist = Categorical(logits=self.model.logits(batch["obs"]))
        ratio = torch.exp(dist.log_prob(batch["actions"].long()) - batch["action_logp"])
        surrogate = torch.min(
            batch["advantages"] * ratio,
            batch["advantages"] * ratio.clamp(1 - config["clip_param"], 1 + config["clip_param"]),
        )
        value_fn_out = self.model.value_function(batch["obs"])
        change = value_fn_out - batch["vf_preds"]
        change = change.clamp(-config["vf_clip_param"], config["vf_clip_param"])  # BUG GS208
        vf_loss = (batch["vf_preds"] + change - batch["value_targets"]).pow(2)  # BUG GS208
        total = -surrogate + config["vf_loss_coeff"] * vf_loss - config["entropy_coeff"] * dist.entropy()
        return total.mean(), vf_loss.mean().item()

    def learn_on_batch(self, batch):
        size = self.config["sgd_minibatch_size"]
        for _ in range(self.config["num_sgd_iter"]):
            for index in torch.randperm(len(batch["obs"])).split(size):
                loss, vf_loss = self.loss({k: v[index] for k, v in batch.items()})
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return vf_loss


def rollout(env, policy, obs, n):
    keys = ("obs", "actions", "action_logp", "vf_preds", "rewards", "new_obs", "terminated", "ended")
    rows = []
    for _ in range(n):
        action, logp, value = policy.compute_action(obs)
        new_obs, reward, terminated, truncated = env.step(action)
        rows.append((obs, action, logp, value, reward, new_obs, terminated, terminated or truncated))
        obs = env.reset() if terminated or truncated else new_obs
    return {k: torch.tensor(np.array(c), dtype=torch.float32) for k, c in zip(keys, zip(*rows))}, obs


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env, policy = Warehouse(SEED), PPOTorchPolicy(CONFIG)
    obs = env.reset()
    for iteration in range(9):
        batch, obs = rollout(env, policy, obs, CONFIG["train_batch_size"])
        vf_loss = policy.learn_on_batch(policy.postprocess(batch))
        if iteration % 3 == 0:
            print(f"iteration {iteration} profit {batch['rewards'].mean():.2f} vf_loss {vf_loss:.1f}")


if __name__ == "__main__":
    main()
