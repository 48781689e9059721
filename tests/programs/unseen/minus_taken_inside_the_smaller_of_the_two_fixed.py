"""The repaired twin of a program in which the following goes wrong.
PPO in a small grid world with a side effect: the sign of the loss stands before each of the two surrogates
instead of before their minimum, so the more hopeful of the two is chosen and the clip binds on the wrong
side. After jvmncs/safe-grid-agents#28.

Round 37
Class: meaning
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class SideEffects:
    """Walk to the goal; the short way shoves a box into a corner, for good."""

    SIZE, GOAL, BOX = 4, (3, 3), (1, 1)
    MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def reset(self):
        self.agent, self.box, self.t = (0, 0), self.BOX, 0
        return self._board()

    def _board(self):
        board = np.zeros((3, self.SIZE, self.SIZE), dtype=np.float32)
        for layer, place in enumerate((self.agent, self.box, self.GOAL)):
            board[layer][place] = 1.0
        return board

    def _inside(self, cell):
        return all(0 <= c < self.SIZE for c in cell)

    def step(self, action):
        self.t += 1
        dy, dx = self.MOVES[action]
        ahead = (self.agent[0] + dy, self.agent[1] + dx)
        reward = -0.1
        if ahead == self.box:
            behind = (ahead[0] + dy, ahead[1] + dx)
            if self._inside(behind) and behind != self.GOAL:
                self.box, self.agent = behind, ahead
                reward -= 0.5
        elif self._inside(ahead):
            self.agent = ahead
        arrived = self.agent == self.GOAL
        if arrived:
            reward += 2.0
        return self._board(), reward, arrived, self.t >= 30


class PPOAgent(nn.Module):
    def __init__(self, lr=6e-3, discount=0.95, epochs=6, clipping=0.1, critic_coeff=0.5, entropy_bonus=0.01):
        super().__init__()
        self.discount, self.epochs, self.clipping = discount, epochs, clipping
        self.critic_coeff, self.entropy_bonus = critic_coeff, entropy_bonus
        self.network = nn.Sequential(nn.Flatten(), nn.Linear(48, 64), nn.ReLU())
        self.actor, self.critic = nn.Linear(64, 4), nn.Linear(64, 1)
        self.optim = torch.optim.Adam(self.parameters(), lr)

    def forward(self, boards):
        features = self.network(boards)
        return Categorical(logits=self.actor(features)), self.critic(features).squeeze(-1)

    @torch.no_grad()
    def gather_rollout(self, env, board, steps=96):
        states, actions, logprobs, rewards, nexts, ends, cuts = [], [], [], [], [], [], []
        for _ in range(steps):
            policy, _ = self(torch.from_numpy(board).unsqueeze(0))
            action = policy.sample()
            successor, reward, done, timeout = env.step(action.item())
            for column, item in zip(
                (states, actions, logprobs, rewards, nexts, ends, cuts),
                (
                    board,
                    action.item(),
                    policy.log_prob(action).item(),
                    reward,
                    successor,
                    done,
                    done or timeout,
                ),
            ):
                column.append(item)
            board = env.reset() if done or timeout else successor
        states, nexts = torch.from_numpy(np.stack(states)), torch.from_numpy(np.stack(nexts))
        following = self(nexts)[1] * (1.0 - torch.tensor(ends, dtype=torch.float32))
        returns = torch.zeros(steps)
        for t in reversed(range(steps)):
            last = cuts[t] or t == steps - 1
            returns[t] = rewards[t] + self.discount * (following[t] if last else returns[t + 1])
        return (states, torch.tensor(actions), torch.tensor(logprobs), returns), board, np.mean(rewards)

    def learn(self, states, actions, old_logprobs, returns):
        with torch.no_grad():
            advantages = returns - self(states)[1]
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        for _ in range(self.epochs):
            policy, values = self(states)
            ratio = torch.exp(policy.log_prob(actions) - old_logprobs)
            clipped = torch.clamp(ratio, 1 - self.clipping, 1 + self.clipping)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            value_loss = F.mse_loss(values, returns)
            loss = policy_loss + self.critic_coeff * value_loss - self.entropy_bonus * policy.entropy().mean()
            self.optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters(), 0.5)
            self.optim.step()
        return value_loss.item()


random.seed(3724)
torch.manual_seed(3724)
env, agent = SideEffects(), PPOAgent()
board = env.reset()
for iteration in range(16):
    rollout, board, reward = agent.gather_rollout(env, board)
    value_loss = agent.learn(*rollout)
print("reward per step", round(float(reward), 3), "value loss", round(value_loss, 3))
