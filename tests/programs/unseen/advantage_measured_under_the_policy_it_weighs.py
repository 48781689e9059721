"""Advantage-weighted actor-critic from recorded games, as in a course's homework: the baseline is an
expectation under the policy that is being learned, and the weight made of it stays attached. After
ccmoony/UCB-CS285#2.

Round 36
Class: stays alive
"""

import copy

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical


def build_mlp(input_size, output_size, n_layers=2, size=64):
    layers, in_size = [], input_size
    for _ in range(n_layers):
        layers += [nn.Linear(in_size, size), nn.Tanh()]
        in_size = size
    return nn.Sequential(*layers, nn.Linear(in_size, output_size))


def collect_dataset(env, n_steps, seed):
    """A leaning rule that errs in every third step."""
    rng = np.random.default_rng(seed)
    rows = {"observations": [], "actions": [], "rewards": [], "next_observations": [], "dones": []}
    observation, _ = env.reset(seed=seed)
    for _ in range(n_steps):
        lean = int(observation[2] + 0.5 * observation[3] > 0)
        action = lean if rng.random() > 1 / 3 else int(rng.integers(2))
        next_observation, reward, terminated, truncated, _ = env.step(action)
        for key, x in zip(rows, (observation, action, reward, next_observation, float(terminated))):
            rows[key].append(x)
        observation = env.reset()[0] if terminated or truncated else next_observation
    dtypes = (np.float32, np.int64, np.float32, np.float32, np.float32)
    return {k: np.array(v, dtype=d) for (k, v), d in zip(rows.items(), dtypes)}


class AWACAgent(nn.Module):
    def __init__(self, observation_dim, num_actions, discount=0.97, temperature=1.0, target_update_period=20):
        super().__init__()
        self.discount, self.temperature, self.target_update_period = (
            discount,
            temperature,
            target_update_period,
        )
        self.critic = build_mlp(observation_dim, num_actions)
        self.target_critic = copy.deepcopy(self.critic)
        self.actor = build_mlp(observation_dim, num_actions)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=2e-3)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    def get_action_dist(self, observations):
        return Categorical(logits=self.actor(observations))

    def compute_critic_loss(self, observations, actions, rewards, next_observations, dones):
        with torch.no_grad():
            next_dist = self.get_action_dist(next_observations)
            next_qs = (next_dist.probs * self.target_critic(next_observations)).sum(dim=-1)
            target_values = rewards + self.discount * (1 - dones) * next_qs
        q_values = self.critic(observations).gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        assert q_values.shape == target_values.shape
        return nn.functional.mse_loss(q_values, target_values)

    def compute_advantage(self, observations, actions, action_dist=None):
        action_dist = action_dist or self.get_action_dist(observations)
        qs = self.critic(observations)
        q_values = qs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        values = (action_dist.probs * qs).sum(dim=-1)
        return q_values - values  # BUG GS303

    def compute_actor_loss(self, observations, actions):
        dist = self.get_action_dist(observations)
        log_probs = dist.log_prob(actions)
        advantages = self.compute_advantage(observations, actions, dist)  # BUG GS303
        weights = torch.exp(advantages / self.temperature).clamp(max=20.0)  # BUG GS303
        return -(weights * log_probs).mean()

    def update(self, step, observations, actions, rewards, next_observations, dones):
        critic_loss = self.compute_critic_loss(observations, actions, rewards, next_observations, dones)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        actor_loss = self.compute_actor_loss(observations, actions)
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        if step % self.target_update_period == 0:
            self.target_critic.load_state_dict(self.critic.state_dict())
        return {"critic_loss": critic_loss.item(), "actor_loss": actor_loss.item()}


def evaluate(env, agent, n=3):
    lengths = []
    for i in range(n):
        (observation, _), done, length = env.reset(seed=1000 + i), False, 0
        while not done:
            with torch.no_grad():
                action = agent.actor(torch.from_numpy(observation)[None]).argmax(dim=-1).item()
            observation, _, terminated, truncated, _ = env.step(action)
            done, length = terminated or truncated, length + 1
        lengths.append(length)
    return float(np.mean(lengths))


def run_training_loop(seed=3614, total_steps=150, batch_size=64):
    np.random.seed(seed)
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    dataset = collect_dataset(env, 1500, seed)
    agent = AWACAgent(4, 2)
    for step in range(1, total_steps + 1):
        index = np.random.randint(0, len(dataset["rewards"]), size=batch_size)
        metrics = agent.update(step, **{k: torch.from_numpy(v[index]) for k, v in dataset.items()})
    print({k: round(v, 3) for k, v in metrics.items()}, "length", evaluate(env, agent))


run_training_loop()
