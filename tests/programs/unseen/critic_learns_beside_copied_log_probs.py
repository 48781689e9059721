"""Actor-critic in a small lab of algorithms with a memory: the stored log-probabilities are made into a new
tensor for the policy's loss, so only the critic learns from the sum of the losses. After kengz/SLM-Lab#133.

Round 36
Class: the line
"""

import random
from abc import ABC, abstractmethod
from itertools import pairwise

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SPEC = {
    "algorithm": {"gamma": 0.99, "val_loss_coef": 0.5, "training_frequency": 1},
    "net": {"hid_layers": [64], "lr": 0.005},
    "meta": {"seed": 3602, "max_episode": 40},
}


def build_mlp(sizes):
    layers = []
    for n_in, n_out in pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.SELU()]
    return nn.Sequential(*layers[:-1])


class OnPolicyMemory:
    keys = ("states", "log_probs", "rewards", "next_states", "terminals", "dones")

    def __init__(self):
        self.reset()

    def reset(self):
        self.data = {k: [] for k in self.keys}

    def add(self, **experience):
        for k in self.keys:
            self.data[k].append(experience[k])

    def sample(self):
        batch = dict(self.data)
        self.reset()
        return batch


class Algorithm(ABC):
    def __init__(self, spec, state_dim, action_dim):
        self.spec = spec["algorithm"]
        self.memory = OnPolicyMemory()
        self.init_nets(spec["net"], state_dim, action_dim)

    @abstractmethod
    def init_nets(self, net_spec, state_dim, action_dim): ...

    @abstractmethod
    def train(self): ...


class ActorCritic(Algorithm):
    def init_nets(self, net_spec, state_dim, action_dim):
        hid = net_spec["hid_layers"]
        self.actor = build_mlp([state_dim, *hid, action_dim])
        self.critic = build_mlp([state_dim, *hid, 1])
        params = [*self.actor.parameters(), *self.critic.parameters()]
        self.optim = torch.optim.Adam(params, lr=net_spec["lr"])

    def act(self, state):
        pd = Categorical(logits=self.actor(torch.from_numpy(state).float()))
        action = pd.sample()
        return action.item(), pd.log_prob(action)

    def calc_returns(self, batch):
        last_next_state = torch.from_numpy(batch["next_states"][-1]).float()
        with torch.no_grad():
            ret = self.critic(last_next_state).squeeze(-1) * (1.0 - batch["terminals"][-1])
        rets = []
        for reward in reversed(batch["rewards"]):
            ret = reward + self.spec["gamma"] * ret
            rets.insert(0, ret)
        return torch.stack(rets)

    def calc_policy_loss(self, batch, advs):
        log_probs = torch.tensor(batch["log_probs"])  # BUG GS202 GS201
        assert log_probs.shape == advs.shape
        return -(log_probs * advs).mean()

    def train(self):
        batch = self.memory.sample()
        rets = self.calc_returns(batch)
        values = self.critic(torch.from_numpy(np.stack(batch["states"])).float()).squeeze(-1)
        advs = (rets - values).detach()
        policy_loss = self.calc_policy_loss(batch, advs)
        val_loss = (values - rets).pow(2).mean()
        loss = policy_loss + self.spec["val_loss_coef"] * val_loss
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.optim.param_groups[0]["params"], 1.0)
        self.optim.step()
        return loss.item()


class Session:
    def __init__(self, spec):
        self.spec = spec
        seed = spec["meta"]["seed"]
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        self.env = gym.make("CartPole-v1")
        self.agent = ActorCritic(spec, self.env.observation_space.shape[0], self.env.action_space.n)

    def run(self):
        total_rewards = []
        for epi in range(self.spec["meta"]["max_episode"]):
            state, _ = self.env.reset(seed=self.spec["meta"]["seed"] + epi)
            done, total = False, 0.0
            while not done:
                action, log_prob = self.agent.act(state)
                next_state, reward, terminated, truncated, _ = self.env.step(action)
                done = terminated or truncated
                self.agent.memory.add(
                    states=state,
                    log_probs=log_prob,
                    rewards=reward,
                    next_states=next_state,
                    terminals=float(terminated),
                    dones=done,
                )
                state, total = next_state, total + reward
            loss = self.agent.train()
            total_rewards.append(total)
        self.env.close()
        print(f"last loss {loss:.3f}, mean of the last ten {np.mean(total_rewards[-10:]):.1f}")


Session(SPEC).run()
