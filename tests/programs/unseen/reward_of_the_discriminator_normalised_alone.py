"""Adversarial imitation: the generator's reward is the discriminator's score after a log-softmax over its only column,
which is zero whatever the score was.

Round 14
Class: axes
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

STATES, ACTIONS = 6, 3


class World:
    """A contextual walk; the expert takes the action whose feature is largest."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(size=STATES).astype(np.float32)

    def step(self, action):
        push = np.zeros(STATES, dtype=np.float32)
        push[3 + action] = 0.5
        self.state = (0.7 * self.state + push + 0.6 * self.rng.normal(size=STATES)).astype(np.float32)
        return self.state


def collect(world, choose, steps):
    states, actions = [], []
    for _ in range(steps):
        states.append(world.state)
        actions.append(choose(world.state))
        world.step(actions[-1])
    return torch.as_tensor(np.stack(states)), torch.tensor(actions)


class RewardNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.theta = nn.Sequential(nn.Linear(STATES + ACTIONS, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, states, actions):
        return self.theta(torch.cat([states, F.one_hot(actions, ACTIONS).float()], dim=1))


class DiscrimNet(nn.Module):
    entropy_weight = 0.2

    def __init__(self):
        super().__init__()
        self.reward_net = RewardNet()

    def disc_loss(self, states, actions, log_policy, labels):
        logits = self.reward_net(states, actions) - log_policy.unsqueeze(-1)
        return F.binary_cross_entropy_with_logits(logits.squeeze(-1), labels)

    @torch.no_grad()
    def reward_train(self, states, actions, log_policy):
        score = F.log_softmax(self.reward_net(states, actions), dim=-1)  # BUG GS604
        return score.squeeze(-1) - self.entropy_weight * log_policy


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(STATES, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
        self.vf = nn.Sequential(nn.Linear(STATES, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=3e-3)

    def dist(self, states):
        return Categorical(logits=self.pi(states))

    @torch.no_grad()
    def choose(self, state):
        return int(self.dist(torch.as_tensor(state)).sample())

    def train_batch(self, states, actions, rewards):
        values = self.vf(states).squeeze(-1)
        policy_loss = -(self.dist(states).log_prob(actions) * (rewards - values.detach())).mean()
        value_loss = F.mse_loss(values, rewards)
        self.optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss).backward()
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self.optimizer.step()


class Trainer:
    def __init__(self, demonstrations, batch=40):
        self.demos, self.batch = demonstrations, batch
        self.gen, self.disc, self.world = Generator(), DiscrimNet(), World(12)
        self.disc_optimizer = torch.optim.Adam(self.disc.parameters(), lr=3e-3)

    def train_disc(self, states, actions):
        chosen = torch.randint(len(self.demos[0]), (self.batch,))
        states = torch.cat([self.demos[0][chosen], states])
        actions = torch.cat([self.demos[1][chosen], actions])
        labels = torch.cat([torch.ones(self.batch), torch.zeros(self.batch)])
        with torch.no_grad():
            log_policy = self.gen.dist(states).log_prob(actions)
        loss = self.disc.disc_loss(states, actions, log_policy, labels)
        self.disc_optimizer.zero_grad()
        loss.backward()
        self.disc_optimizer.step()
        return loss.item()

    def train(self, rounds):
        for _ in range(rounds):
            states, actions = collect(self.world, self.gen.choose, self.batch)
            loss = self.train_disc(states, actions)
            with torch.no_grad():
                log_policy = self.gen.dist(states).log_prob(actions)
            self.gen.train_batch(states, actions, self.disc.reward_train(states, actions, log_policy))
        agreement = (self.gen.pi(self.demos[0]).argmax(-1) == self.demos[1]).float().mean().item()
        return loss, agreement


torch.manual_seed(1412)
expert = collect(World(11), lambda state: int(state[:ACTIONS].argmax()), 200)
print(Trainer(expert).train(50))
