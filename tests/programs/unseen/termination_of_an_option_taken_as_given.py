"""Option-critic in a corridor of rooms: the probability of ending the option is detached for the target, and
the same constant then stands in the termination's loss, so the termination head learns nothing. After
lweitkamp/option-critic-pytorch#2.

Round 36
Class: the line
"""

import random
from collections import deque
from copy import deepcopy

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical

SEED = 3606
GAMMA, TERMINATION_REG, ENTROPY_REG = 0.95, 0.01, 0.01
NUM_OPTIONS, NUM_ACTIONS, SIZE = 2, 4, 5


class TwoRooms:
    """Two rooms of 5 x 5 with a door between them; the goal is in the far corner, a game is cut after 60 steps."""

    moves = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def reset(self):
        self.cell, self.t = (random.randrange(SIZE), random.randrange(SIZE)), 0
        return self.observation()

    def observation(self):
        y, x = self.cell
        return torch.tensor([y / SIZE, x / (2 * SIZE), float(x > SIZE), float(y == SIZE // 2)])

    def step(self, action):
        self.t += 1
        y, x = self.cell[0] + self.moves[action][0], self.cell[1] + self.moves[action][1]
        wall = x == SIZE and y != SIZE // 2
        if 0 <= y < SIZE and 0 <= x < 2 * SIZE + 1 and not wall:
            self.cell = (y, x)
        terminated = self.cell == (SIZE - 1, 2 * SIZE)
        return self.observation(), 1.0 if terminated else -0.01, terminated, self.t >= 60


class OptionCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64), nn.ReLU())
        self.Q = nn.Linear(64, NUM_OPTIONS)
        self.terminations = nn.Linear(64, NUM_OPTIONS)
        self.options = nn.ModuleList(nn.Linear(64, NUM_ACTIONS) for _ in range(NUM_OPTIONS))

    def termination_probs(self, phi):
        return self.terminations(phi).sigmoid()

    def action_dist(self, phi, option):
        return Categorical(logits=self.options[option](phi))


def actor_loss_fn(model, model_prime, obs, option, log_prob, entropy, reward, terminated, next_obs):
    not_done = 1.0 - float(terminated)
    phi, next_phi = model.features(obs), model.features(next_obs)
    q, next_q = model.Q(phi).detach(), model.Q(next_phi).detach()
    with torch.no_grad():
        next_q_prime = model_prime.Q(model_prime.features(next_obs))

    beta = model.termination_probs(next_phi)[option].detach()  # BUG GS202
    continuing = (1.0 - beta) * next_q_prime[option] + beta * next_q_prime.max()
    gt = (reward + not_done * GAMMA * continuing).detach()

    termination_loss = beta * (next_q[option] - next_q.max() + TERMINATION_REG) * not_done  # BUG GS202
    policy_loss = -log_prob * (gt - q[option]) - ENTROPY_REG * entropy
    return termination_loss + policy_loss


def critic_loss_fn(model, model_prime, batch):
    obs, options, rewards, next_obs, terminated = batch
    q = model.Q(model.features(obs)).gather(1, options.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        next_q_prime = model_prime.Q(model_prime.features(next_obs))
        beta = model.termination_probs(model.features(next_obs)).gather(1, options.unsqueeze(1)).squeeze(1)
        kept = next_q_prime.gather(1, options.unsqueeze(1)).squeeze(1)
        gt = rewards + (1.0 - terminated) * GAMMA * (
            (1.0 - beta) * kept + beta * next_q_prime.max(dim=1).values
        )
    return 0.5 * (q - gt).pow(2).mean()


def sample(buffer, n=32):
    obs, options, rewards, next_obs, terminated = zip(*random.sample(buffer, n))
    return (
        torch.stack(obs),
        torch.tensor(options),
        torch.tensor(rewards),
        torch.stack(next_obs),
        torch.tensor(terminated).float(),
    )


def run(max_steps=350, start_training=60, update_frequency=4, freeze_interval=80):
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env, model = TwoRooms(), OptionCritic()
    model_prime = deepcopy(model)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    buffer = deque(maxlen=2000)
    obs, option_ended, option = env.reset(), True, 0
    for step in range(max_steps):
        phi = model.features(obs)
        if option_ended:
            greedy = int(model.Q(phi).argmax())
            option = random.randrange(NUM_OPTIONS) if random.random() < 0.2 else greedy
        dist = model.action_dist(phi, option)
        action = dist.sample()
        next_obs, reward, terminated, truncated = env.step(action.item())
        buffer.append((obs, option, reward, next_obs, terminated))

        if step >= start_training:
            loss = actor_loss_fn(
                model,
                model_prime,
                obs,
                option,
                dist.log_prob(action),
                dist.entropy(),
                reward,
                terminated,
                next_obs,
            )
            if step % update_frequency == 0:
                loss = loss + critic_loss_fn(model, model_prime, sample(buffer))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % freeze_interval == 0:
                model_prime.load_state_dict(model.state_dict())

        with torch.no_grad():
            beta = model.termination_probs(model.features(next_obs))[option]
        option_ended = bool(Bernoulli(probs=beta).sample()) or terminated or truncated
        obs = env.reset() if terminated or truncated else next_obs
    print(f"last loss {loss.item():.4f}")


run()
