"""A2C with two heads over batches of n-step experience: the value of the last state is added to the
reference values with its graph, so the value loss chases itself and the advantage, although its own value
is detached, carries gradient into the value head. After
PacktPublishing/Deep-Reinforcement-Learning-Hands-On-Second-Edition#60.

Round 37
Class: meaning
"""

import collections
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

GAMMA = 0.98
LEARNING_RATE = 0.002
ENTROPY_BETA = 0.01
BATCH_SIZE = 32
NUM_ENVS = 4
REWARD_STEPS = 4
CLIP_GRAD = 0.5

Experience = collections.namedtuple("Experience", "state action reward last_state steps")


class PoleA2C(nn.Module):
    def __init__(self, input_size, n_actions):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(input_size, 64), nn.ReLU())
        self.policy = nn.Linear(64, n_actions)
        self.value = nn.Linear(64, 1)

    def forward(self, x):
        base = self.base(x)
        return self.policy(base), self.value(base)


class ExperienceSourceFirstLast:
    """From every environment in turn, all first-to-last pieces of a short run."""

    def __init__(self, envs, net):
        self.envs, self.net = envs, net
        self.states = [env.reset(seed=70 + i)[0] for i, env in enumerate(envs)]

    @torch.no_grad()
    def choose(self, state):
        logits = self.net(torch.as_tensor(state, dtype=torch.float32).unsqueeze(0))[0]
        return torch.distributions.Categorical(logits=logits).sample().item()

    def __iter__(self):
        while True:
            for i, env in enumerate(self.envs):
                run, terminated, truncated = [], False, False
                while len(run) < REWARD_STEPS and not (terminated or truncated):
                    state = self.states[i]
                    action = self.choose(state)
                    self.states[i], reward, terminated, truncated, _ = env.step(action)
                    run.append((state, action, 0.1 * reward))
                last_state = None if terminated else self.states[i]
                total = 0.0
                for steps, (state, action, reward) in enumerate(reversed(run), 1):
                    total = reward + GAMMA * total
                    yield Experience(state, action, total, last_state, steps)
                if terminated or truncated:
                    self.states[i], _ = env.reset()


def unpack_batch(batch, net):
    """Training tensors of a batch: states, actions, reference values."""
    states = torch.as_tensor(np.array([e.state for e in batch]), dtype=torch.float32)
    actions = torch.tensor([e.action for e in batch])
    rewards_v = torch.tensor([e.reward for e in batch], dtype=torch.float32)
    not_done_idx = [i for i, e in enumerate(batch) if e.last_state is not None]
    if not_done_idx:
        last_states_v = torch.as_tensor(
            np.array([batch[i].last_state for i in not_done_idx]), dtype=torch.float32
        )
        discount = torch.tensor([GAMMA ** batch[i].steps for i in not_done_idx])
        last_vals_v = net(last_states_v)[1].squeeze(-1)  # BUG GS301 GS303
        rows = torch.tensor(not_done_idx)
        rewards_v = rewards_v.index_add(0, rows, discount * last_vals_v)  # BUG GS301 GS303
    return states, actions, rewards_v


if __name__ == "__main__":
    random.seed(3703)
    np.random.seed(3703)
    torch.manual_seed(3703)
    envs = [gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    net = PoleA2C(4, 2)
    optimizer = optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)

    batch, updates = [], 0
    for exp in ExperienceSourceFirstLast(envs, net):
        batch.append(exp)
        if len(batch) < BATCH_SIZE:
            continue
        states_v, actions_t, vals_ref_v = unpack_batch(batch, net)
        batch.clear()

        optimizer.zero_grad()
        logits_v, value_v = net(states_v)
        value_v = value_v.squeeze(-1)
        loss_value_v = F.mse_loss(value_v, vals_ref_v)
        log_prob_v = F.log_softmax(logits_v, dim=1)
        adv_v = vals_ref_v - value_v.detach()
        loss_policy_v = -(adv_v * log_prob_v[range(BATCH_SIZE), actions_t]).mean()
        prob_v = F.softmax(logits_v, dim=1)
        entropy_loss_v = ENTROPY_BETA * (prob_v * log_prob_v).sum(dim=1).mean()
        (entropy_loss_v + loss_value_v + loss_policy_v).backward()
        nn.utils.clip_grad_norm_(net.parameters(), CLIP_GRAD)
        optimizer.step()
        updates += 1
        if updates == 60:
            break
    print("value loss", loss_value_v.item())
