"""A single file of proximal policy optimisation over a frozen lake with several walkers. The buffer holds, for every
step, whether that step ended its episode; the estimator looks one step ahead, as it would where the buffer holds
whether a step began one. The value behind an end is counted, and the one before the last step is not.

Round 21
Class: meaning
"""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical

SIZE = 4
HOLES = {(1, 1), (1, 3), (2, 3), (3, 0)}


class FrozenLake:
    """Down, up, right, left; now and then one slips. Holes and the goal end the walk."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.cell = (0, 0)
        return self.observe()

    def observe(self):
        out = np.zeros(SIZE * SIZE, dtype=np.float32)
        out[self.cell[0] * SIZE + self.cell[1]] = 1.0
        return out

    def step(self, action):
        if self.rng.random() < 0.1:
            action = int(self.rng.integers(4))
        row, col = self.cell
        row += (action == 0) - (action == 1)
        col += (action == 2) - (action == 3)
        self.cell = (int(np.clip(row, 0, SIZE - 1)), int(np.clip(col, 0, SIZE - 1)))
        if self.cell in HOLES:
            return self.observe(), -1.0, True
        if self.cell == (SIZE - 1, SIZE - 1):
            return self.observe(), 2.0, True
        return self.observe(), -0.05, False


def layer_init(layer, std=1.41):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        n = SIZE * SIZE
        self.critic = nn.Sequential(
            layer_init(nn.Linear(n, 64)), nn.Tanh(), layer_init(nn.Linear(64, 1), std=1.0)
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(n, 64)), nn.Tanh(), layer_init(nn.Linear(64, 4), std=0.01)
        )

    def get_value(self, x):
        return self.critic(x).squeeze(-1)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.get_value(x)


num_envs, num_steps, gamma, gae_lambda, clip_coef, ent_coef = 8, 32, 0.95, 0.95, 0.2, 0.01
torch.manual_seed(342)
envs = [FrozenLake(seed) for seed in range(num_envs)]
agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)

obs = torch.zeros(num_steps, num_envs, SIZE * SIZE)
actions = torch.zeros(num_steps, num_envs, dtype=torch.long)
logprobs, rewards, dones, values = (torch.zeros(num_steps, num_envs) for _ in range(4))
next_obs = torch.from_numpy(np.stack([env.reset() for env in envs]))

for iteration in range(1, 37):
    for step in range(num_steps):
        obs[step] = next_obs
        with torch.no_grad():
            actions[step], logprobs[step], _, values[step] = agent.get_action_and_value(next_obs)
        following = []
        for i, env in enumerate(envs):
            state, reward, done = env.step(actions[step, i].item())
            rewards[step, i], dones[step, i] = reward, float(done)
            following.append(env.reset() if done else state)
        next_obs = torch.from_numpy(np.stack(following))

    with torch.no_grad():
        next_value = agent.get_value(next_obs)
        advantages, gae = torch.zeros_like(rewards), 0.0
        for t in reversed(range(num_steps)):
            if t == num_steps - 1:
                nextnonterminal, nextvalues = 1.0 - dones[t], next_value
            else:
                nextnonterminal, nextvalues = 1.0 - dones[t + 1], values[t + 1]  # BUG GS805 GS806
            delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]  # BUG GS805 GS806
            gae = delta + gamma * gae_lambda * nextnonterminal * gae  # BUG GS805 GS806
            advantages[t] = gae
        returns = advantages + values

    flat = [x.flatten(0, 1) for x in (obs, actions, logprobs, advantages, returns)]
    for epoch in range(3):
        for index in torch.randperm(num_envs * num_steps).split(64):
            b_obs, b_actions, b_logprobs, b_advantages, b_returns = (x[index] for x in flat)
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs, b_actions)
            ratio = (newlogprob - b_logprobs).exp()
            b_advantages = (b_advantages - b_advantages.mean()) / (b_advantages.std() + 1e-8)
            pg_loss = torch.max(
                -b_advantages * ratio, -b_advantages * ratio.clamp(1 - clip_coef, 1 + clip_coef)
            ).mean()
            v_loss = 0.5 * (newvalue - b_returns).pow(2).mean()
            loss = pg_loss - ent_coef * entropy.mean() + 0.5 * v_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if iteration % 12 == 0:
        print(f"iteration {iteration}: reward of a step {rewards.mean():.3f}, ends {int(dones.sum())}")
