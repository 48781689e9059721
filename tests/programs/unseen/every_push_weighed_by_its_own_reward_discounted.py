"""Policy gradients on the pole, an episode at a time: the weight of a push is the reward of that very push,
discounted from the start, and not the sum of the rewards that follow it.

Round 30
Class: meaning
"""

# %% the pole and the policy
import gymnasium as gym
import torch
from torch import nn

torch.manual_seed(3007)
env = gym.make("CartPole-v1")
policy = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2), nn.LogSoftmax(dim=-1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
gamma = 0.97


# %% one episode, kept as three lists
def play(seed):
    states, pushes, rewards = [], [], []
    state, _ = env.reset(seed=seed)
    finished = False
    while not finished:
        with torch.no_grad():
            log_probs = policy(torch.from_numpy(state))
        push = torch.multinomial(log_probs.exp(), 1).item()
        states.append(torch.from_numpy(state))
        pushes.append(push)
        state, reward, terminated, truncated, _ = env.step(push)
        rewards.append(float(reward))
        finished = terminated or truncated
    return torch.stack(states), torch.tensor(pushes), rewards


# %% what each push was worth
def weights_of(rewards):
    weights = torch.tensor([reward * gamma**i for i, reward in enumerate(rewards)])  # BUG GS806
    return (weights - weights.mean()) / (weights.std() + 1e-6)


# %% learning
lengths = []
for episode in range(60):
    states, pushes, rewards = play(seed=3007 + episode)
    weights = weights_of(rewards)  # BUG GS806
    chosen = policy(states).gather(1, pushes.unsqueeze(1)).squeeze(1)
    loss = -(weights * chosen).sum()  # BUG GS806
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(rewards))

# %% how long it stood
print("first ten", sum(lengths[:10]) / 10, "last ten", sum(lengths[-10:]) / 10)
env.close()
