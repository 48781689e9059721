"""REINFORCE sums the rewards from the last step to the first and appends every sum to a list, which is never turned round:
the first action of the episode is weighed by what came after the last one. The returns asked about in
hunkim/ReinforcementZeroToAll#1 and 4kasha/CartPole_PPO#1, misaligned in yet another way.

Round 25
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SEED = 2528


class PolicyNetwork(nn.Module):
    def __init__(self, state_size, action_size, hidden_size=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(state_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, action_size)
        )

    def forward(self, state):
        return Categorical(logits=self.net(state))


class ValueNetwork(nn.Module):
    def __init__(self, state_size, hidden_size=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_size, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 1))

    def forward(self, state):
        return self.net(state).squeeze(-1)


class ReinforceAgent:
    def __init__(self, state_size, action_size, gamma=0.99):
        self.gamma = gamma
        self.policy = PolicyNetwork(state_size, action_size)
        self.baseline = ValueNetwork(state_size)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.baseline_optimizer = torch.optim.Adam(self.baseline.parameters(), lr=5e-3)

    @torch.no_grad()
    def act(self, state):
        return self.policy(torch.as_tensor(state)).sample().item()

    def discounted_returns(self, rewards):
        returns, running = [], 0.0
        for reward in reversed(rewards):
            running = reward + self.gamma * running
            returns.append(running)  # BUG GS806
        return torch.tensor(returns)  # BUG GS806

    def learn(self, states, actions, rewards):
        states = torch.as_tensor(np.array(states))
        actions = torch.as_tensor(actions)
        returns = self.discounted_returns(rewards)  # BUG GS806

        values = self.baseline(states)
        baseline_loss = nn.functional.mse_loss(values, returns)
        self.baseline_optimizer.zero_grad()
        baseline_loss.backward()
        self.baseline_optimizer.step()

        advantages = returns - values.detach()
        log_probs = self.policy(states).log_prob(actions)
        policy_loss = -(log_probs * advantages).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.policy_optimizer.step()
        return policy_loss.item(), baseline_loss.item()


def run_episode(env, agent, seed=None):
    state, _ = env.reset(seed=seed)
    states, actions, rewards, done = [], [], [], False
    while not done:
        action = agent.act(state)
        next_state, reward, terminated, truncated, _ = env.step(action)
        states.append(state)
        actions.append(action)
        # a little is lost for being far from the middle, so that rewards differ
        rewards.append(float(reward) - 0.5 * abs(float(next_state[0])) - 2.0 * terminated)
        state, done = next_state, terminated or truncated
    return states, actions, rewards


def main():
    torch.manual_seed(SEED)
    env = gym.make("CartPole-v1")
    agent = ReinforceAgent(4, 2)
    for episode in range(45):
        trajectory = run_episode(env, agent, seed=SEED if episode == 0 else None)
        agent.learn(*trajectory)


if __name__ == "__main__":
    main()
