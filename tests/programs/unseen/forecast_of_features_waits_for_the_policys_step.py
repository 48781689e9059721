"""An actor-critic with a curiosity bonus: a forward model predicts the next features of the agent's own
encoder. Its loss hangs on the encoder and is still waiting for its backward when the agent's optimizer has
already moved the encoder.

Round 34
Class: the line
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

ACTIONS, WIDTH, ROLLOUT, GAMMA = 4, 24, 40, 0.95


class Rooms:
    """A walker on an 8 x 8 board looks for the far corner; a game ends there or after forty steps."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def reset(self):
        self.at, self.clock = np.zeros(2, dtype=np.int64), 0
        return self.observe()

    def observe(self):
        return torch.tensor([self.at[0] / 7, self.at[1] / 7, self.clock / 40], dtype=torch.float32)

    def step(self, action):
        self.at = np.clip(self.at + self.moves[action], 0, 7)
        self.clock += 1
        found = bool((self.at == 7).all())
        return self.observe(), float(found), found or self.clock == 40


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(3, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.actor = nn.Linear(WIDTH, ACTIONS)
        self.critic = nn.Linear(WIDTH, 1)


class Curious:
    def __init__(self):
        self.agent = Agent()
        self.model = nn.Sequential(nn.Linear(WIDTH + ACTIONS, 32), nn.ReLU(), nn.Linear(32, WIDTH))
        self.agent_optimizer = torch.optim.Adam(self.agent.parameters(), lr=2e-3)
        self.model_optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def forecast_error(self, obs, action, next_obs):
        features = self.agent.encoder(obs)  # BUG GS102 GS304
        with torch.no_grad():
            wanted = self.agent.encoder(next_obs)
        move = F.one_hot(action, ACTIONS).float()
        guess = self.model(torch.cat([features, move], dim=1))  # BUG GS102 GS304
        return (guess - wanted).pow(2).mean(dim=1)

    def update(self, obs, action, reward, next_obs, ended):
        error = self.forecast_error(obs, action, next_obs)  # BUG GS102 GS304
        model_loss = error.mean()
        reward = reward + 0.5 * error.detach()

        features = self.agent.encoder(obs)
        value = self.agent.critic(features).squeeze(1)
        with torch.no_grad():
            next_value = self.agent.critic(self.agent.encoder(next_obs)).squeeze(1)
            target = reward + GAMMA * (1 - ended) * next_value
        dist = Categorical(logits=self.agent.actor(features))
        policy_loss = -(dist.log_prob(action) * (target - value.detach())).mean()
        agent_loss = policy_loss + 0.5 * F.mse_loss(value, target) - 0.01 * dist.entropy().mean()

        self.agent_optimizer.zero_grad()
        agent_loss.backward()
        self.agent_optimizer.step()  # BUG GS102

        self.model_optimizer.zero_grad()
        model_loss.backward()  # BUG GS102
        self.model_optimizer.step()
        return model_loss.item()


def main(updates=40):
    torch.manual_seed(341)
    learner, env = Curious(), Rooms()
    obs = env.reset()
    for _ in range(updates):
        steps = []
        for _ in range(ROLLOUT):
            with torch.no_grad():
                logits = learner.agent.actor(learner.agent.encoder(obs))
            action = Categorical(logits=logits).sample()
            next_obs, reward, ended = env.step(action.item())
            steps.append((obs, action, torch.tensor(reward), next_obs, torch.tensor(float(ended))))
            obs = env.reset() if ended else next_obs
        error = learner.update(*(torch.stack(column) for column in zip(*steps)))
    print(f"error of the forward model after {updates} updates: {error:.5f}")


if __name__ == "__main__":
    main()
