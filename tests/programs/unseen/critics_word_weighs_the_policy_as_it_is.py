"""An actor is told by a table-like critic how good its moves were: the log-probability of each is weighed
by the critic's value of it. That value is still attached, so the term for the policy also raises what the
critic thinks of likely moves.

Round 34
Class: weights
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Corridor:
    """Nine cells, a prize at the right end, a smaller one at the left end."""

    def reset(self):
        self.cell = 4
        return self.cell

    def step(self, action):
        self.cell += 1 if action == 1 else -1
        reward = {0: 0.3, 8: 1.0}.get(self.cell, -0.02)
        return self.cell, reward, self.cell in (0, 8)


class QActorCritic:
    def __init__(self, cells=9, actions=2, gamma=0.95, lr=5e-3):
        self.cells = cells
        self.gamma = gamma
        self.actor = nn.Sequential(nn.Linear(cells, 32), nn.Tanh(), nn.Linear(32, actions))
        self.critic = nn.Sequential(nn.Linear(cells, 32), nn.Tanh(), nn.Linear(32, actions))
        params = [{"params": self.actor.parameters()}, {"params": self.critic.parameters(), "lr": 2 * lr}]
        self.optimizer = torch.optim.Adam(params, lr=lr)

    def one_hot(self, cells):
        return F.one_hot(torch.as_tensor(cells), self.cells).float()

    @torch.no_grad()
    def act(self, cell):
        return Categorical(logits=self.actor(self.one_hot(cell))).sample().item()

    def update(self, cells, actions, rewards, next_cells, ended):
        obs, next_obs = self.one_hot(cells), self.one_hot(next_cells)
        actions = torch.tensor(actions)
        rewards = torch.tensor(rewards)
        alive = 1 - torch.tensor(ended, dtype=torch.float32)

        with torch.no_grad():
            next_chances = self.actor(next_obs).softmax(dim=1)
            next_value = (next_chances * self.critic(next_obs)).sum(dim=1)
            target = rewards + self.gamma * alive * next_value

        taken = self.critic(obs).gather(1, actions[:, None]).squeeze(1)  # BUG GS303 GS304
        critic_loss = F.mse_loss(taken, target)

        dist = Categorical(logits=self.actor(obs))
        actor_loss = -(dist.log_prob(actions) * taken).mean()  # BUG GS303 GS304

        loss = actor_loss + critic_loss - 0.01 * dist.entropy().mean()  # BUG GS303 GS304
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run_episode(env, agent, limit=60):
    steps, score = [], 0.0
    cell = env.reset()
    for _ in range(limit):
        action = agent.act(cell)
        next_cell, reward, ended = env.step(action)
        steps.append((cell, action, reward, next_cell, ended))
        score += reward
        cell = next_cell
        if ended:
            break
    return steps, score


if __name__ == "__main__":
    torch.manual_seed(344)
    env, agent, scores = Corridor(), QActorCritic(), []
    for _ in range(150):
        steps, score = run_episode(env, agent)
        agent.update(*zip(*steps))
        scores.append(score)
    print("mean score of the last thirty games:", round(float(np.mean(scores[-30:])), 3))
