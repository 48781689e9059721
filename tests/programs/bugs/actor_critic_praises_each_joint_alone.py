"""An actor-critic with a stored log-prob per joint, weighed by a column of advantages and averaged."""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(14)


class ActorCritic(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 32), nn.Tanh())
        self.mean, self.value = nn.Linear(32, act), nn.Linear(32, 1)
        self.log_std = nn.Parameter(torch.full((act,), -0.5))

    def forward(self, obs):
        features = self.body(obs)
        return Normal(self.mean(features), self.log_std.exp()), self.value(features)


class Learner:
    def __init__(self, obs, act):
        self.net = ActorCritic(obs, act)
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=7e-4)

    def update(self, obs, actions, returns):
        dist, value = self.net(obs)
        advantage = returns - value
        log_prob = dist.log_prob(actions)  # BUG GS603
        policy_loss = -(log_prob * advantage.detach()).mean()
        entropy = dist.entropy().sum(-1).mean()
        loss = policy_loss + 0.5 * advantage.pow(2).mean() - 0.01 * entropy
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Point(gym.Env):
    observation_space = gym.spaces.Box(-9, 9, (4,))
    action_space = gym.spaces.Box(-1, 1, (3,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.age = self.np_random.normal(size=4), 0
        return self.state.copy(), {}

    def step(self, action):
        self.state = 0.9 * self.state
        self.state[:3] += 0.1 * action
        self.age += 1
        return (
            self.state.copy(),
            -float((self.state**2).sum()),
            bool(abs(self.state[3]) < 0.05),
            self.age >= 25,
            {},
        )


env, learner = Point(), Learner(4, 3)
for episode in range(14):
    obs, _ = env.reset(seed=episode)
    seen, actions, rewards, over = [], [], [], False
    while not over:
        seen.append(torch.as_tensor(obs, dtype=torch.float32))
        with torch.no_grad():
            actions.append(learner.net(seen[-1])[0].sample())
        obs, reward, term, trunc, _ = env.step(actions[-1].numpy())
        rewards.append(reward)
        over = term or trunc
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + 0.97 * total
        returns.append(total)
    returns = torch.tensor(returns[::-1], dtype=torch.float32).unsqueeze(-1)
    learner.update(torch.stack(seen), torch.stack(actions), returns)
