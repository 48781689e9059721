"""Proximal policy optimisation with an acting copy: after the epochs the trained policy loads the weights of the
copy instead of handing its own over, so every update is thrown away. After nikhilbarhate99/PPO-PyTorch#10 and
thesouther/MARL#8 (which network loads from which).

Round 26
Class: meaning
"""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.states, self.actions, self.logprobs, self.rewards, self.ends = [], [], [], [], []


class ActorCritic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(state_dim, 48), nn.Tanh(), nn.Linear(48, action_dim))
        self.critic = nn.Sequential(nn.Linear(state_dim, 48), nn.Tanh(), nn.Linear(48, 1))

    @torch.no_grad()
    def act(self, state):
        dist = Categorical(logits=self.actor(state))
        action = dist.sample()
        return action, dist.log_prob(action)

    def evaluate(self, states, actions):
        dist = Categorical(logits=self.actor(states))
        return dist.log_prob(actions), self.critic(states).squeeze(-1), dist.entropy()


class PPO:
    def __init__(self, state_dim, action_dim, gamma=0.99, k_epochs=4, eps_clip=0.2):
        self.gamma, self.k_epochs, self.eps_clip = gamma, k_epochs, eps_clip
        self.buffer = RolloutBuffer()
        self.policy = ActorCritic(state_dim, action_dim)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-3)
        self.policy_old = ActorCritic(state_dim, action_dim)
        self.policy_old.load_state_dict(self.policy.state_dict())

    def select_action(self, state):
        state = torch.as_tensor(state, dtype=torch.float32)
        action, logprob = self.policy_old.act(state)
        self.buffer.states.append(state)
        self.buffer.actions.append(action)
        self.buffer.logprobs.append(logprob)
        return action.item()

    def monte_carlo_returns(self):
        returns, running = [], 0.0
        for reward, end in zip(reversed(self.buffer.rewards), reversed(self.buffer.ends)):
            running = reward + (0.0 if end else self.gamma * running)
            returns.insert(0, running)
        return torch.tensor(returns, dtype=torch.float32)

    def update(self):
        returns = self.monte_carlo_returns()
        returns = (returns - returns.mean()) / (returns.std() + 1e-7)
        states = torch.stack(self.buffer.states)
        actions = torch.stack(self.buffer.actions)
        old_logprobs = torch.stack(self.buffer.logprobs)
        for _ in range(self.k_epochs):
            logprobs, values, entropy = self.policy.evaluate(states, actions)
            ratios = torch.exp(logprobs - old_logprobs)
            advantages = returns - values.detach()
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 1 - self.eps_clip, 1 + self.eps_clip) * advantages
            loss = -torch.min(surr1, surr2) + 0.5 * (values - returns) ** 2 - 0.01 * entropy
            self.optimizer.zero_grad()
            loss.mean().backward()
            self.optimizer.step()
        self.policy.load_state_dict(self.policy_old.state_dict())  # BUG GS809
        self.buffer.clear()


def main():
    torch.manual_seed(2630)
    env = gym.make("CartPole-v1")
    agent = PPO(env.observation_space.shape[0], env.action_space.n)
    lengths = []
    for episode in range(48):
        state, _ = env.reset(seed=2630 + episode)
        done, length = False, 0
        while not done:
            state, reward, terminated, truncated, _ = env.step(agent.select_action(state))
            done = terminated or truncated
            agent.buffer.rewards.append(reward)
            agent.buffer.ends.append(done)
            length += 1
        lengths.append(length)
        if episode % 4 == 3:
            agent.update()
    print("first", sum(lengths[:12]) / 12, "last", sum(lengths[-12:]) / 12)


main()
