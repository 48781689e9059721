"""PPO in notebook style over trajectory segments of several bots: behind the recursion, which stops at an
end already, the carried advantage is multiplied by the end of its own step, so the step before a crash
hears nothing of it. After alessiodm/drl-zh#13.

Round 37
Class: meaning
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions.normal import Normal


class LanderFleet:
    """Bots that fall towards the ground and must touch it softly; every landing or crash ends an episode."""

    def __init__(self, n_bots, seed):
        self.n, self.rng = n_bots, np.random.default_rng(seed)

    def reset(self):
        self.state = np.zeros((self.n, 3), dtype=np.float32)
        self._launch(np.ones(self.n, dtype=bool))
        return torch.from_numpy(self.state.copy())

    def _launch(self, who):
        k = int(who.sum())
        self.state[who] = np.stack(
            [self.rng.uniform(0.5, 1.0, k), self.rng.uniform(-0.2, 0.0, k), np.full(k, 1.0)], axis=1
        )

    def step(self, actions):
        thrust = np.clip(actions[:, 0], -1, 1)
        height, speed, fuel = self.state.T
        speed = speed - 0.06 + 0.1 * np.maximum(thrust, 0) * (fuel > 0)
        fuel = np.maximum(fuel - 0.03 * np.maximum(thrust, 0), 0)
        height = height + speed
        down = height <= 0
        away = height > 2.0
        soft = np.abs(speed) < 0.12
        rewards = np.where(down, np.where(soft, 2.0, -2.0), np.where(away, -2.0, -0.02)).astype(np.float32)
        self.state = np.stack([height, speed, fuel], axis=1).astype(np.float32)
        self._launch(down | away)
        dones = torch.from_numpy((down | away).astype(np.float32))
        return torch.from_numpy(self.state.copy()), torch.from_numpy(rewards), dones


@dataclass
class TrajectorySegment:
    states: torch.Tensor  # (M, N, S_dim)
    actions: torch.Tensor  # (M, N, A_dim)
    logprobs: torch.Tensor  # (M, N)
    values: torch.Tensor  # (M, N)
    rewards: torch.Tensor  # (M, N)
    dones: torch.Tensor  # (M, N): did the action end the episode?
    next_start_state: torch.Tensor  # (N, S_dim)

    def __len__(self):
        return self.states.shape[0]


class Agent(nn.Module):
    def __init__(self, state_size, action_size, lr=2e-3):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(state_size, 32), nn.Tanh(), nn.Linear(32, 1))
        self.actor_mean = nn.Sequential(nn.Linear(state_size, 32), nn.Tanh(), nn.Linear(32, action_size))
        self.actor_logstd = nn.Parameter(torch.full((1, action_size), -0.3))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr, eps=1e-5)

    def get_value(self, states):
        return self.critic(states).squeeze(-1)

    def get_action_probs(self, states):
        mean = self.actor_mean(states)
        return Normal(mean, self.actor_logstd.exp().expand_as(mean))

    def eval_action(self, states, actions):
        probs = self.get_action_probs(states)
        return probs.log_prob(actions).sum(-1), probs.entropy().sum(-1)


@torch.no_grad()
def collect_segment(agent, fleet, start, length=32):
    rows, state = [], start
    for _ in range(length):
        probs = agent.get_action_probs(state)
        action = probs.sample()
        next_state, reward, done = fleet.step(action.numpy())
        rows.append((state, action, probs.log_prob(action).sum(-1), agent.get_value(state), reward, done))
        state = next_state
    return TrajectorySegment(*(torch.stack(c) for c in zip(*rows)), state)


@torch.no_grad()
def gae_advantages_and_returns(agent, segment, gamma=0.99, gae_lambda=0.95):
    advantages = torch.zeros_like(segment.rewards)
    next_return = agent.get_value(segment.next_start_state)
    last_gae_lambda = torch.zeros(segment.rewards.shape[1])
    for t in reversed(range(len(segment))):
        next_non_terminal = 1.0 - segment.dones[t]
        td_error = segment.rewards[t] + gamma * next_return * next_non_terminal - segment.values[t]
        advantages[t] = td_error + gamma * gae_lambda * next_non_terminal * last_gae_lambda
        next_return = segment.values[t]
        last_gae_lambda = advantages[t] * next_non_terminal  # BUG GS806
    return advantages, advantages + segment.values


def learn(agent, segment, n_epochs=4, n_mini_batches=4, clip_eps=0.2):
    advantages, returns = gae_advantages_and_returns(agent, segment)
    data = [x.flatten(0, 1) for x in (segment.states, segment.actions, segment.logprobs, advantages, returns)]
    for _ in range(n_epochs):
        for idx in torch.randperm(len(data[0])).chunk(n_mini_batches):
            states, actions, logprobs, adv, ret = (x[idx] for x in data)
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            new_logprobs, entropy = agent.eval_action(states, actions)
            ratio = (new_logprobs - logprobs).exp()
            policy_loss = -torch.min(ratio * adv, ratio.clamp(1 - clip_eps, 1 + clip_eps) * adv).mean()
            value_loss = F.mse_loss(agent.get_value(states), ret)
            loss = policy_loss + 0.5 * value_loss - 0.001 * entropy.mean()
            agent.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            agent.optimizer.step()


torch.manual_seed(3714)
fleet, agent = LanderFleet(n_bots=8, seed=3714), Agent(3, 1)
start = fleet.reset()
for iteration in range(14):
    segment = collect_segment(agent, fleet, start)
    start = segment.next_start_state
    learn(agent, segment)
print("reward per step", round(segment.rewards.mean().item(), 3))
