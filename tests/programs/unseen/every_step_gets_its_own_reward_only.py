"""The function that should discount the rewards of an episode multiplies each reward with a power of gamma and sums
nothing up: no step hears of what came after it, and late steps hardly of themselves.

Round 24
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
from torch import nn

env = gym.make("Pendulum-v1", max_episode_steps=60)
torch.manual_seed(2408)

input_size = env.observation_space.shape[0]
hidden_layer_neurons = 24
torques = [-2.0, 0.0, 2.0]
output_size = len(torques)
learning_rate = 1e-2
gamma = 0.95

policy = nn.Sequential(
    nn.Linear(input_size, hidden_layer_neurons),
    nn.ReLU(),
    nn.Linear(hidden_layer_neurons, output_size),
)
optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate)


def discount_rewards(r, gamma):
    """Takes the rewards of one episode, gives one number for every step."""
    r = np.asarray(r, dtype=np.float32)
    d_rewards = np.array([val * (gamma**i) for i, val in enumerate(r)], dtype=np.float32)  # BUG GS806
    d_rewards -= d_rewards.mean()
    d_rewards /= d_rewards.std() + 1e-8
    return d_rewards


def play_episode(seed):
    states, actions, rewards = [], [], []
    state, _ = env.reset(seed=seed)
    while True:
        with torch.no_grad():
            probs = torch.softmax(policy(torch.as_tensor(state)), dim=-1)
        action = torch.multinomial(probs, 1).item()
        states.append(state)
        actions.append(action)
        state, reward, terminated, truncated, _ = env.step(np.array([torques[action]], dtype=np.float32))
        rewards.append(reward)
        if terminated or truncated:
            return np.stack(states), np.array(actions), rewards


def train_model(states, actions, advantages):
    log_probs = torch.log_softmax(policy(torch.from_numpy(states)), dim=-1)
    picked = log_probs[torch.arange(len(actions)), torch.from_numpy(actions)]
    loss = -(picked * torch.from_numpy(advantages)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


scores = []
for episode in range(40):
    states, actions, rewards = play_episode(seed=episode)
    discounted = discount_rewards(rewards, gamma)  # BUG GS806
    loss = train_model(states, actions, discounted)
    scores.append(sum(rewards))
    if (episode + 1) % 20 == 0:
        print(f"[Episode {episode + 1:>3}] Score: {np.mean(scores[-20:]):>7.1f} Loss: {loss:>8.4f}")
env.close()
