"""Advantage actor-critic with an experience source of several games: the value's loss squeezes the values, the
advantage does not, and a square of advantages weighs the actions. After
PacktPublishing/Deep-Reinforcement-Learning-Hands-On#33.

Round 36
Class: axes
"""

from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA = 0.99
LEARNING_RATE = 3e-3
ENTROPY_BETA = 0.01
BATCH_SIZE = 32
NUM_ENVS = 4
REWARD_STEPS = 4
CLIP_GRAD = 0.5
SEED = 3624

ExperienceFirstLast = namedtuple("ExperienceFirstLast", ("state", "action", "reward", "last_state"))


class CartA2C(nn.Module):
    def __init__(self, n_obs, n_actions):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU())
        self.policy = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions))
        self.value = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        base_out = self.base(x)
        return self.policy(base_out), self.value(base_out)


class PolicyAgent:
    def __init__(self, net):
        self.net = net

    @torch.no_grad()
    def __call__(self, states):
        logits, _ = self.net(torch.as_tensor(np.array(states)))
        return torch.distributions.Categorical(logits=logits).sample().tolist()


class ExperienceSourceFirstLast:
    """Goes round the games; gives out a step with the discounted sum of the next rewards of its own game."""

    def __init__(self, envs, agent, gamma, steps_count):
        self.envs, self.agent, self.gamma, self.steps_count = envs, agent, gamma, steps_count
        self.total_rewards = []

    def _fold(self, window, last_state):
        total = 0.0
        for _, _, reward in reversed(window):
            total = reward + self.gamma * total
        return ExperienceFirstLast(window[0][0], window[0][1], total, last_state)

    def __iter__(self):
        states = [env.reset(seed=SEED + i)[0] for i, env in enumerate(self.envs)]
        windows = [deque() for _ in self.envs]
        scores = [0.0] * len(self.envs)
        while True:
            actions = self.agent(states)
            for i, env in enumerate(self.envs):
                next_state, reward, terminated, truncated, _ = env.step(actions[i])
                assert not truncated, "games do not get that long here"
                windows[i].append((states[i], actions[i], float(reward)))
                scores[i] += float(reward)
                if terminated:
                    while windows[i]:
                        yield self._fold(windows[i], None)
                        windows[i].popleft()
                    self.total_rewards.append(scores[i])
                    scores[i], next_state = 0.0, env.reset()[0]
                elif len(windows[i]) == self.steps_count:
                    yield self._fold(windows[i], next_state)
                    windows[i].popleft()
                states[i] = next_state


def unpack_batch(batch, net):
    states = torch.as_tensor(np.array([exp.state for exp in batch]))
    actions = torch.tensor([exp.action for exp in batch])
    rewards = np.array([exp.reward for exp in batch], dtype=np.float32)
    not_done_idx = [i for i, exp in enumerate(batch) if exp.last_state is not None]
    if not_done_idx:
        last_states_v = torch.as_tensor(np.array([batch[i].last_state for i in not_done_idx]))
        with torch.no_grad():
            last_vals_v = net(last_states_v)[1][:, 0]
        rewards[not_done_idx] += GAMMA**REWARD_STEPS * last_vals_v.numpy()
    return states, actions, torch.from_numpy(rewards)


if __name__ == "__main__":
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    envs = [gym.make("CartPole-v1") for _ in range(NUM_ENVS)]
    net = CartA2C(envs[0].observation_space.shape[0], int(envs[0].action_space.n))
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-3)
    exp_source = ExperienceSourceFirstLast(envs, PolicyAgent(net), GAMMA, REWARD_STEPS)

    batch, updates = [], 0
    for exp in exp_source:
        batch.append(exp)
        if len(batch) < BATCH_SIZE:
            continue
        states_v, actions_t, vals_ref_v = unpack_batch(batch, net)
        batch.clear()

        optimizer.zero_grad()
        logits_v, value_v = net(states_v)
        loss_value_v = F.mse_loss(value_v.squeeze(-1), vals_ref_v)

        log_prob_v = F.log_softmax(logits_v, dim=1)
        adv_v = vals_ref_v - value_v.detach()  # BUG GS601
        log_prob_actions_v = adv_v * log_prob_v[range(BATCH_SIZE), actions_t]
        loss_policy_v = -log_prob_actions_v.mean()

        prob_v = F.softmax(logits_v, dim=1)
        entropy_loss_v = ENTROPY_BETA * (prob_v * log_prob_v).sum(dim=1).mean()

        loss_v = loss_policy_v + entropy_loss_v + loss_value_v
        loss_v.backward()
        nn.utils.clip_grad_norm_(net.parameters(), CLIP_GRAD)
        optimizer.step()
        updates += 1
        if updates == 70:
            break
    print(f"loss {loss_v.item():.3f}, reward of the last ten {np.mean(exp_source.total_rewards[-10:]):.1f}")
