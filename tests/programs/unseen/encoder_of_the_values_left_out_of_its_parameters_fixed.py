"""Multi-agent actor-critic with separate encoders for the policy and for the values. The model lists its actor's and
its critic's parameters for two optimizers, and the list of the critic has the last layer only: the encoder in front
of it gets gradients at every update and stays as it was made.
Repaired here.

Round 21
Class: the line
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

N_AGENTS, N_CELLS, HORIZON = 3, 7, 10


class BaseMLP(nn.Module):
    """Every agent acts on its own view; the centralised critic reads everybody's."""

    def __init__(self, obs_dim, state_dim, num_outputs, hidden=48):
        super().__init__()
        self.p_encoder = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.vf_encoder = nn.Sequential(nn.Linear(state_dim, hidden), nn.Tanh())
        self.p_branch = nn.Linear(hidden, num_outputs)
        self.vf_branch = nn.Linear(hidden, 1)

    def forward(self, obs):
        return self.p_branch(self.p_encoder(obs))

    def central_value_function(self, state):
        return self.vf_branch(self.vf_encoder(state)).squeeze(-1)

    def actor_parameters(self):
        return list(self.p_encoder.parameters()) + list(self.p_branch.parameters())

    def critic_parameters(self):
        return list(self.vf_encoder.parameters()) + list(self.vf_branch.parameters())


class Landmarks:
    """Three agents on a line, each with a landmark of its own to stand on; they are rewarded together."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.position = self.rng.integers(0, N_CELLS, size=N_AGENTS)
        self.landmarks = self.rng.choice(N_CELLS, size=N_AGENTS, replace=False)
        self.clock = 0
        return self.observe()

    def observe(self):
        agents, marks = np.eye(N_CELLS)[self.position], np.eye(N_CELLS)[self.landmarks]
        clock = [self.clock / HORIZON]
        state = np.concatenate([agents.flatten(), marks.flatten(), clock]).astype(np.float32)
        obs = [np.concatenate([agents[i], marks[i], np.eye(N_AGENTS)[i], clock]) for i in range(N_AGENTS)]
        return np.stack(obs).astype(np.float32), state

    def step(self, actions):
        self.position = np.clip(self.position + np.asarray(actions) - 1, 0, N_CELLS - 1)
        self.clock += 1
        distance = np.abs(self.position - self.landmarks).mean()
        return self.observe(), -distance / N_CELLS, self.clock == HORIZON


def rollout(env, model):
    rows, done = [], False
    obs, state = env.reset()
    while not done:
        with torch.no_grad():
            actions = Categorical(logits=model(torch.from_numpy(obs))).sample()
        (next_obs, next_state), reward, done = env.step(actions.tolist())
        rows.append((obs, state, actions.numpy(), reward))
        obs, state = next_obs, next_state
    return rows


def postprocess(rows, gamma):
    total, returns = 0.0, []
    for *_, reward in reversed(rows):
        total = reward + gamma * total
        returns.append(total)
    return returns[::-1]


class MAA2C:
    def __init__(self, model, actor_lr=1e-2, critic_lr=5e-3, gamma=0.9, entropy_coeff=0.01):
        self.model, self.gamma, self.entropy_coeff = model, gamma, entropy_coeff
        self.actor_optimizer = torch.optim.Adam(model.actor_parameters(), lr=actor_lr)
        self.critic_optimizer = torch.optim.Adam(model.critic_parameters(), lr=critic_lr)

    def learn(self, episodes):
        returns = torch.tensor(
            [postprocess(rows, self.gamma) for rows in episodes], dtype=torch.float32
        ).flatten()
        rows = [row for episode in episodes for row in episode]
        obs, states, actions = (torch.as_tensor(np.stack([row[i] for row in rows])) for i in range(3))
        values = self.model.central_value_function(states)
        advantages = (returns - values).detach()[:, None]
        dist = Categorical(logits=self.model(obs))
        policy_loss = (
            -(dist.log_prob(actions) * advantages).mean() - self.entropy_coeff * dist.entropy().mean()
        )
        critic_loss = (values - returns).pow(2).mean()
        self.model.zero_grad()
        policy_loss.backward()
        critic_loss.backward()
        self.actor_optimizer.step()
        self.critic_optimizer.step()
        return critic_loss.item()


torch.manual_seed(21)
env = Landmarks(np.random.default_rng(21))
model = BaseMLP(2 * N_CELLS + N_AGENTS + 1, 2 * N_AGENTS * N_CELLS + 1, num_outputs=3)
algorithm = MAA2C(model)
for iteration in range(80):
    episodes = [rollout(env, model) for _ in range(6)]
    loss = algorithm.learn(episodes)
    if iteration % 20 == 19:
        reward = np.mean([row[3] for rows in episodes for row in rows])
        print(f"iteration {iteration + 1}: reward {reward:.3f}, critic loss {loss:.3f}")
