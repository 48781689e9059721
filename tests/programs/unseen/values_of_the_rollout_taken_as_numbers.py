"""A notebook on generalised advantages. The rollout keeps the values as plain numbers, for the estimator; the error of the
value is later made of those numbers, and the value's head never hears of it. The policy's term hides that.

Round 20
Class: zero in part
"""

# %% imports
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(2001)
GAMMA, LAM = 0.97, 0.9
LENGTH = 9


# %% a corridor: the treasure lies at the right end, the left end is a pit
class Corridor:
    def reset(self):
        self.place, self.clock = LENGTH // 2, 0
        return self.observe()

    def observe(self):
        out = torch.zeros(LENGTH + 1)
        out[self.place] = 1.0
        out[-1] = self.clock / 30
        return out

    def step(self, action):
        slip = torch.rand(()).item() < 0.1
        self.place += (1 if action == 1 else -1) * (-1 if slip else 1)
        self.clock += 1
        if self.place <= 0:
            self.place = 0
            return self.observe(), -1.0, True
        if self.place >= LENGTH - 1:
            self.place = LENGTH - 1
            return self.observe(), 1.0, True
        return self.observe(), -0.02, False


# %% a network with two heads
class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return self.actor(h), self.critic(h).squeeze(-1)


# %% one episode
def rollout(env, model):
    log_probs, values, rewards, entropies = [], [], [], []
    obs, done = env.reset(), False
    while not done:
        logits, value = model(obs)
        dist = Categorical(logits=logits)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        values.append(value.item())  # BUG GS202
        rewards.append(reward)
        entropies.append(dist.entropy())
    return log_probs, values, rewards, entropies


# %% generalised advantages of a finished episode
def gae(rewards, values, gamma, lam):
    advantages, last = [], 0.0
    padded = [*values, 0.0]
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * padded[t + 1] - padded[t]
        last = delta + gamma * lam * last
        advantages.insert(0, last)
    return torch.tensor(advantages)


# %% training
def train_gae(epochs=90, lr=5e-3):
    env, model = Corridor(), ActorCritic(LENGTH + 1, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    for epoch in range(epochs):
        log_probs, values, rewards, entropies = rollout(env, model)
        values_t = torch.tensor(values)  # BUG GS202
        advantages = gae(rewards, values_t.tolist(), GAMMA, LAM)
        returns = advantages + values_t.detach()
        policy_loss = -(torch.stack(log_probs) * advantages).mean()
        v_loss = F.mse_loss(values_t, returns)
        loss = policy_loss + 0.5 * v_loss - 0.01 * torch.stack(entropies).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(sum(rewards))
    return model, history


model, history = train_gae()
print("mean score of the last twenty", sum(history[-20:]) / 20)
