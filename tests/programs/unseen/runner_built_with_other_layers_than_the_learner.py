"""PPO with an environment runner beside the learner: the runner's module shares one encoder, the learner's has two,
so the encoder's weights find no key and never reach the runner that records the old log-probs.
After ray-project/ray#58715.

Round 35
Class: meaning
"""

import random

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SEED = 3502


def encoder(obs_dim, width):
    return nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())


class PPOModule(nn.Module):
    def __init__(self, obs_dim, n_actions, model_config):
        super().__init__()
        width = model_config.get("fcnet_width", 32)
        self.share = model_config["vf_share_layers"]
        if self.share:
            self.encoder = encoder(obs_dim, width)
        else:
            self.actor_encoder = encoder(obs_dim, width)
            self.critic_encoder = encoder(obs_dim, width)
        self.pi = nn.Linear(width, n_actions)
        self.vf = nn.Linear(width, 1)

    def action_dist(self, obs):
        return Categorical(logits=self.pi((self.encoder if self.share else self.actor_encoder)(obs)))

    def values(self, obs):
        return self.vf((self.encoder if self.share else self.critic_encoder)(obs)).squeeze(-1)

    def set_state(self, state):
        known = self.state_dict().keys()
        self.load_state_dict({k: v for k, v in state.items() if k in known}, strict=False)  # BUG GS803 GS307


class EnvRunner:
    def __init__(self, config):
        model_config = {"vf_share_layers": True, **config.get("model", {})}  # BUG GS803 GS307
        self.module = PPOModule(4, 2, model_config)
        self.env = gym.make(config["env"])
        self.obs, _ = self.env.reset(seed=SEED)
        self.length, self.lengths = 0, []

    def sample(self, n):
        rows = []
        for _ in range(n):
            with torch.no_grad():
                dist = self.module.action_dist(torch.from_numpy(self.obs))
                action = dist.sample()
                logp = dist.log_prob(action)  # BUG GS803
            nxt, reward, terminated, truncated, _ = self.env.step(action.item())
            ended = terminated or truncated
            rows.append((self.obs, action.item(), logp.item(), reward, nxt, terminated, ended))
            self.length += 1
            if ended:
                self.lengths.append(self.length)
                self.length, (nxt, _) = 0, self.env.reset()
            self.obs = nxt
        obs, action, logp, reward, nxt, terminated, ended = (np.array(c) for c in zip(*rows))
        batch = {"obs": obs, "logp": logp, "rewards": reward, "next_obs": nxt}
        batch.update(terminateds=terminated, ended=ended)
        batch = {k: torch.tensor(v, dtype=torch.float32) for k, v in batch.items()}
        batch["actions"] = torch.tensor(action)
        return batch


class Learner:
    def __init__(self, config):
        model_config = {"vf_share_layers": False, **config.get("model", {})}
        self.module = PPOModule(4, 2, model_config)
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=config["lr"])
        self.config = config

    def add_advantages(self, batch):
        gamma, lambda_ = self.config["gamma"], self.config["lambda_"]
        with torch.no_grad():
            values = self.module.values(batch["obs"])
            following = self.module.values(batch["next_obs"]) * (1 - batch["terminateds"])
        deltas = batch["rewards"] + gamma * following - values
        advantages, running = torch.zeros_like(deltas), 0.0
        for t in reversed(range(len(deltas))):
            running = deltas[t] + gamma * lambda_ * (1 - batch["ended"][t]) * running
            advantages[t] = running
        batch["value_targets"] = advantages + values
        batch["advantages"] = (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    def update(self, batch):
        self.add_advantages(batch)
        for _ in range(self.config["num_epochs"]):
            for index in torch.randperm(len(batch["obs"])).split(self.config["minibatch_size"]):
                mini = {k: v[index] for k, v in batch.items()}
                dist = self.module.action_dist(mini["obs"])
                ratio = torch.exp(dist.log_prob(mini["actions"]) - mini["logp"])
                clip = self.config["clip_param"]
                surrogate = torch.min(
                    ratio * mini["advantages"], ratio.clamp(1 - clip, 1 + clip) * mini["advantages"]
                )
                vf_loss = (self.module.values(mini["obs"]) - mini["value_targets"]).pow(2).mean()
                loss = -surrogate.mean() + 0.5 * vf_loss - 0.01 * dist.entropy().mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.module.parameters(), 0.5)
                self.optimizer.step()


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    config = {"env": "CartPole-v1", "lr": 1e-3, "gamma": 0.99, "lambda_": 0.95, "clip_param": 0.2}
    config.update(num_epochs=4, minibatch_size=64)
    runner, learner = EnvRunner(config), Learner(config)
    for _ in range(10):
        runner.module.set_state(learner.module.state_dict())
        learner.update(runner.sample(256))
    print("episode length", np.mean(runner.lengths[-10:]))


main()
