"""A notebook with REINFORCE. The network is fed rows of one, so that each log-probability keeps an axis; stacked they
are a column, the returns are flat, and their product is a square whose sum is next to nothing.

Round 18
Class: axes
"""

# %% imports
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(42)
np.random.seed(42)


# %% the environment: stay in the middle of a windy bridge
class WindyBridge:
    n_actions, n_obs = 3, 2

    def reset(self):
        self.offset, self.drift, self.t = np.random.uniform(-0.3, 0.3), 0.0, 0
        return np.array([self.offset, self.drift])

    def step(self, action):
        self.drift = 0.8 * self.drift + 0.1 * np.random.randn()
        self.offset += 0.15 * (action - 1) + 0.2 * self.drift
        self.t += 1
        done = abs(self.offset) > 1 or self.t >= 30
        return np.array([self.offset, self.drift]), 1.0 - abs(self.offset), done


env = WindyBridge()

# %% the policy
policy = nn.Sequential(nn.Linear(env.n_obs, 32), nn.ReLU(), nn.Linear(32, env.n_actions))
optimizer = optim.Adam(policy.parameters(), lr=0.01)
gamma = 0.99


# %% helpers
def act(obs):
    obs = torch.FloatTensor(obs).unsqueeze(0)
    dist = torch.distributions.Categorical(logits=policy(obs))
    action = dist.sample()
    return action.item(), dist.log_prob(action)


def play_episode():
    log_probs, rewards = [], []
    obs, done = env.reset(), False
    while not done:
        action, log_prob = act(obs)
        obs, reward, done = env.step(action)
        log_probs.append(log_prob)
        rewards.append(reward)
    return log_probs, rewards


def discount(rewards):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.insert(0, running)
    out = torch.tensor(out, dtype=torch.float32)
    return (out - out.mean()) / (out.std() + 1e-8)


# %% training
history = []
for episode in range(80):
    log_probs, rewards = play_episode()
    returns = discount(rewards)
    log_probs = torch.stack(log_probs)  # BUG GS601
    loss = (-log_probs * returns).sum()  # BUG GS601

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    history.append(sum(rewards))
    if (episode + 1) % 20 == 0:
        print(f"episode {episode + 1}: mean return of the last 20: {np.mean(history[-20:]):.2f}")

# %% how it went
print("first ten:", np.round(history[:10], 1))
print("last ten: ", np.round(history[-10:], 1))
