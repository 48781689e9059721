"""A minimal proximal policy optimisation with Monte Carlo returns. The training loop gives every episode a greatest length
and starts the next one when it is reached; the memory is told what the game said, which is that nothing has ended. The
returns of a cut episode go on with the rewards of the next.

Round 20
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class RolloutBuffer:
    def __init__(self):
        self.clear()

    def clear(self):
        self.actions, self.states, self.logprobs = [], [], []
        self.rewards, self.is_terminals = [], []


class ActorCritic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(state_dim, 32), nn.Tanh(), nn.Linear(32, action_dim), nn.Softmax(-1)
        )
        self.critic = nn.Sequential(nn.Linear(state_dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def act(self, state):
        dist = Categorical(self.actor(state))
        action = dist.sample()
        return action, dist.log_prob(action)

    def evaluate(self, states, actions):
        dist = Categorical(self.actor(states))
        return dist.log_prob(actions), self.critic(states).squeeze(-1), dist.entropy()


class PPO:
    def __init__(
        self, state_dim, action_dim, lr_actor=3e-3, lr_critic=5e-3, gamma=0.95, K_epochs=4, eps_clip=0.2
    ):
        self.gamma, self.eps_clip, self.K_epochs = gamma, eps_clip, K_epochs
        self.buffer = RolloutBuffer()
        self.policy = ActorCritic(state_dim, action_dim)
        self.optimizer = torch.optim.Adam(
            [
                {"params": self.policy.actor.parameters(), "lr": lr_actor},
                {"params": self.policy.critic.parameters(), "lr": lr_critic},
            ]
        )

    @torch.no_grad()
    def select_action(self, state):
        state = torch.from_numpy(state)
        action, logprob = self.policy.act(state)
        self.buffer.states.append(state)
        self.buffer.actions.append(action)
        self.buffer.logprobs.append(logprob)
        return action.item()

    @torch.no_grad()
    def value_of(self, state):
        return self.policy.critic(torch.from_numpy(state)).item()

    def update(self):
        rewards, discounted_reward = [], 0.0
        for reward, is_terminal in zip(reversed(self.buffer.rewards), reversed(self.buffer.is_terminals)):
            if is_terminal:
                discounted_reward = 0.0
            discounted_reward = reward + self.gamma * discounted_reward  # BUG GS806
            rewards.insert(0, discounted_reward)
        returns = torch.tensor(rewards)
        old_states, old_actions = torch.stack(self.buffer.states), torch.stack(self.buffer.actions)
        old_logprobs = torch.stack(self.buffer.logprobs)
        for _ in range(self.K_epochs):
            logprobs, state_values, dist_entropy = self.policy.evaluate(old_states, old_actions)
            ratios = torch.exp(logprobs - old_logprobs)
            advantages = returns - state_values.detach()
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-7)
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 1 - self.eps_clip, 1 + self.eps_clip) * advantages
            value_error = (state_values - returns).pow(2)
            loss = -torch.min(surr1, surr2) + 0.5 * value_error - 0.01 * dist_entropy
            self.optimizer.zero_grad()
            loss.mean().backward()
            self.optimizer.step()
        self.buffer.clear()


class Balance:
    """A pole that falls when it leans too far; it never ends by itself otherwise."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.lean, self.speed = self.rng.uniform(-0.2, 0.2), 0.0
        return np.array([self.lean, self.speed], dtype=np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.3 * self.lean + (0.15 if action == 1 else -0.15)
        self.lean += self.speed + 0.02 * self.rng.normal()
        done = abs(self.lean) > 1.0
        state = np.array([self.lean, self.speed], dtype=np.float32)
        return state, 1.0 - abs(self.lean), done


torch.manual_seed(2005)
env = Balance(np.random.default_rng(2005))
max_ep_len, update_timestep = 8, 90
ppo_agent = PPO(state_dim=2, action_dim=2)
time_step, scores = 0, []
while time_step < 1800:
    state, score = env.reset(), 0.0
    for t in range(1, max_ep_len + 1):
        action = ppo_agent.select_action(state)
        state, reward, done = env.step(action)
        time_step += 1
        score += reward
        ppo_agent.buffer.rewards.append(reward)
        ppo_agent.buffer.is_terminals.append(done)  # BUG GS806
        if done:
            break
    scores.append(score)
    if len(ppo_agent.buffer.rewards) >= update_timestep:
        ppo_agent.update()
print("episodes", len(scores), "last scores", [round(s, 2) for s in scores[-5:]])
