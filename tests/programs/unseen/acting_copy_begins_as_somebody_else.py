"""A clipped policy acts with a copy that is refreshed after every update. Before the first one nobody has copied
anything: the acting network has random weights of its own, and the first ratios compare two strangers.

Round 17
Class: late and rare
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(1710)
OBS, ACTION, ROLLOUT, EPOCHS = 3, 2, 100, 4


class Reacher:
    """Two pushes move a point towards a goal; an episode lasts twenty-five steps and then is over."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.where, self.clock = self.rng.uniform(-1, 1, 2), 0
        return self.observe()

    def observe(self):
        return np.array([*self.where, self.clock / 25], dtype=np.float32)

    def step(self, action):
        self.where = np.clip(self.where + 0.1 * np.clip(action, -1, 1), -2, 2)
        self.clock += 1
        return self.observe(), -float(np.abs(self.where).sum()), self.clock == 25


class ActorCritic(nn.Module):
    def __init__(self, spread):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, ACTION), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(OBS, 32), nn.Tanh(), nn.Linear(32, 1))
        self.spread = spread

    def choice(self, obs):
        mean = self.actor(obs)
        return Independent(Normal(mean, torch.full_like(mean, self.spread)), 1)

    @torch.no_grad()
    def act(self, obs, memory):
        choice = self.choice(obs)
        action = choice.sample()
        memory["obs"].append(obs)
        memory["action"].append(action)
        memory["log_prob"].append(choice.log_prob(action))  # BUG GS803
        memory["value"].append(self.critic(obs).squeeze(-1))
        return action.numpy()


class Clipped:
    def __init__(self, spread=0.4, clip=0.2, discount=0.95):
        self.clip, self.discount = clip, discount
        self.policy = ActorCritic(spread)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=1e-3)
        self.acting = ActorCritic(spread)  # BUG GS803 GS808
        self.clear()

    def clear(self):
        self.memory = {key: [] for key in ("obs", "action", "log_prob", "value", "reward", "ended")}

    def select(self, obs):
        return self.acting.act(torch.from_numpy(obs), self.memory)  # BUG GS803

    def returns(self):
        total, found = 0.0, []
        for reward, ended in zip(reversed(self.memory["reward"]), reversed(self.memory["ended"])):
            total = reward + self.discount * total * (not ended)
            found.append(total)
        return torch.tensor(found[::-1])

    def update(self):
        obs, action, before, value = (
            torch.stack(self.memory[key]) for key in ("obs", "action", "log_prob", "value")
        )
        returns = self.returns()
        advantage = returns - value
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        for _ in range(EPOCHS):
            ratio = (self.policy.choice(obs).log_prob(action) - before).exp()
            limited = ratio.clamp(1 - self.clip, 1 + self.clip)
            surrogate = torch.min(ratio * advantage, limited * advantage).mean()
            error = (self.policy.critic(obs).squeeze(-1) - returns).pow(2).mean()
            self.optimizer.zero_grad()
            (0.5 * error - surrogate).backward()
            self.optimizer.step()
        self.acting.load_state_dict(self.policy.state_dict())
        self.clear()


agent, env = Clipped(), Reacher(4)
for _ in range(12):
    obs = env.reset()
    for _ in range(ROLLOUT):
        obs, reward, ended = env.step(agent.select(obs))
        agent.memory["reward"].append(reward)
        agent.memory["ended"].append(ended)
        obs = env.reset() if ended else obs
    agent.update()
