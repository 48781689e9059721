"""Monte-Carlo policy gradient on a game of falling fruit, one update after every few games. A game is five pieces of
fruit, each of which is caught with the basket or lost.

Round 31
Class: meaning
"""

import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class FruitGame:
    rows, columns, fruits = 6, 5, 5

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def drop(self):
        self.row, self.column = 0, int(self.rng.integers(self.columns))

    def screen(self):
        board = np.zeros((self.rows, self.columns), dtype=np.float32)
        board[self.row, self.column] = 1.0
        board[-1, self.basket] = 1.0
        return board.ravel()

    def reset(self):
        self.basket, self.left = self.columns // 2, self.fruits
        self.drop()
        return self.screen()

    def step(self, action):
        self.basket = min(max(self.basket + action - 1, 0), self.columns - 1)
        self.row += 1
        reward = 0.0
        if self.row == self.rows - 1:
            reward = 1.0 if self.column == self.basket else -1.0
            self.left -= 1
            self.drop()
        return self.screen(), reward, self.left == 0


class Policy(nn.Module):
    def __init__(self, n_inputs, n_outputs, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(n_inputs, hidden)
        self.fc2 = nn.Linear(hidden, n_outputs)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def discount_rewards(rewards, gamma):
    discounts = gamma ** np.arange(len(rewards))  # BUG GS806
    discounted = np.asarray(rewards) * discounts  # BUG GS806
    return discounted.astype(np.float32)


def standardize(x):
    return (x - x.mean()) / (x.std() + 1e-8)


def run_episode(env, policy):
    state, done = env.reset(), False
    states, actions, rewards = [], [], []
    while not done:
        with torch.no_grad():
            action = Categorical(logits=policy(torch.from_numpy(state))).sample().item()
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    return states, actions, rewards


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--seed", type=int, default=3102)
    args = parser.parse_args([])

    torch.manual_seed(args.seed)
    env = FruitGame(args.seed)
    policy = Policy(env.rows * env.columns, 3)
    optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)

    scores = []
    for update in range(args.updates):
        states, actions, weights = [], [], []
        for _ in range(args.games):
            seen, taken, rewards = run_episode(env, policy)
            states += seen
            actions += taken
            weights.append(discount_rewards(rewards, args.gamma))  # BUG GS806
            scores.append(sum(rewards))
        weights = torch.from_numpy(standardize(np.concatenate(weights)))
        log_probs = Categorical(logits=policy(torch.from_numpy(np.stack(states)))).log_prob(
            torch.tensor(actions)
        )
        loss = -(log_probs * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 20 == 19:
            print(f"update {update + 1}: loss {loss.item():+.4f}, score {np.mean(scores[-40:]):+.2f}")


if __name__ == "__main__":
    main()
