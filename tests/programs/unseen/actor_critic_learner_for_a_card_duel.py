"""Batched advantage actor-critic for a small betting game: hold a card, then fold, call or raise against a house
that plays by a fixed rule.

Round 31
Class: meaning
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

CARDS, ROUNDS = 6, 3
FOLD, CALL, RAISE = range(3)


class CardDuel:
    """The player sees the card it holds, the round and the pot; the house folds weak cards to a raise."""

    def __init__(self, rng):
        self.rng = rng

    def observation(self):
        seen = np.zeros(CARDS + ROUNDS + 1, dtype=np.float32)
        seen[self.mine] = 1.0
        seen[CARDS + self.round] = 1.0
        seen[-1] = self.stake / ROUNDS
        return seen

    def reset(self):
        self.mine, self.house = self.rng.choice(CARDS, size=2, replace=False)
        self.round, self.stake = 0, 1
        return self.observation()

    def step(self, action):
        showdown = float(self.stake if self.mine > self.house else -self.stake)
        if action == FOLD:
            return None, -0.5 * self.stake, True
        if action == CALL:
            return None, showdown, True
        if self.house < 2 and self.rng.random() < 0.6:
            return None, float(self.stake), True
        self.stake += 1
        self.round += 1
        if self.round == ROUNDS:
            return None, showdown + np.sign(showdown), True
        return self.observation(), 0.0, False


def compute_entropy(logits):
    return torch.sum(-F.softmax(logits, dim=-1) * F.log_softmax(logits, dim=-1), dim=-1)


class BatchA2CLoss:
    def __init__(self, entropy_cost=None):
        self.entropy_cost = entropy_cost

    def loss(self, logits, baseline, actions, returns):
        advantages = returns - baseline.detach()
        chosen = F.log_softmax(logits, dim=-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        total_loss = -torch.mean(chosen * advantages)
        if self.entropy_cost:
            entropy = torch.mean(compute_entropy(logits))
            total_loss = total_loss + self.entropy_cost * entropy  # BUG GS802
        return total_loss


class PolicyGradientAgent:
    def __init__(self, hidden=32, entropy_cost=0.05, critic_updates=2):
        size = CARDS + ROUNDS + 1
        self.policy = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, 3))
        self.critic = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.pi_optimizer = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-2)
        self.pi_loss = BatchA2CLoss(entropy_cost)
        self.critic_updates = critic_updates

    def act(self, observation):
        with torch.no_grad():
            logits = self.policy(torch.from_numpy(observation))
        return torch.multinomial(F.softmax(logits, dim=-1), 1).item()

    def learn(self, observations, actions, returns):
        observations = torch.from_numpy(np.stack(observations))
        actions, returns = torch.tensor(actions), torch.tensor(returns)
        for _ in range(self.critic_updates):
            critic_loss = F.mse_loss(self.critic(observations).squeeze(1), returns)
            self.critic_optimizer.zero_grad()
            critic_loss.backward()
            self.critic_optimizer.step()

        baseline = self.critic(observations).squeeze(1)
        pi_loss = self.pi_loss.loss(self.policy(observations), baseline, actions, returns)
        self.pi_optimizer.zero_grad()
        pi_loss.backward()
        self.pi_optimizer.step()


def play(game, agent):
    observation, over = game.reset(), False
    observations, actions, reward = [], [], 0.0
    while not over:
        observations.append(observation)
        actions.append(agent.act(observation))
        observation, reward, over = game.step(actions[-1])
    return observations, actions, reward


def main():
    torch.manual_seed(3101)
    game, agent = CardDuel(np.random.default_rng(3101)), PolicyGradientAgent()
    for update in range(80):
        observations, actions, returns = [], [], []
        for _ in range(24):
            seen, taken, reward = play(game, agent)
            observations += seen
            actions += taken
            returns += [float(reward)] * len(taken)
        agent.learn(observations, actions, returns)
        if update % 20 == 0:
            print(f"update {update}: mean return {np.mean(returns):+.2f}")


if __name__ == "__main__":
    main()
