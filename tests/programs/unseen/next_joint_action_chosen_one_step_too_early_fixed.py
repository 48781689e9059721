"""QMIX with double Q-learning on batches of episodes: the action with which the next step is valued is the best one of
the present step, for the slice starts where the chosen actions start. After ray-project/ray#5731.
Repaired here.

Round 35
Class: meaning
"""

import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3525
N_AGENTS, N_ACTIONS, GRID, LIMIT = 2, 5, 4, 14
OBS, STATE = 3 * GRID + 2, 4 * GRID + 2


class Rendezvous:
    """Two robots on a grid have to stand on their own plate at the same time; each sees only half."""

    moves = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0]])

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.place = self.rng.integers(0, GRID, size=(2, 2))
        self.plate = np.array([[0, 0], [GRID - 1, GRID - 1]])[self.rng.permutation(2)]
        self.t = 0

    def observe(self):
        hot = np.eye(GRID, dtype=np.float32)
        rows = []
        for i in range(2):
            one = np.concatenate([hot[self.place[i, 0]], hot[self.place[i, 1]], hot[self.plate[i, 0]]])
            rows.append(np.concatenate([one, np.eye(2, dtype=np.float32)[i]]))
        swapped = np.eye(2, dtype=np.float32)[int(self.plate[0, 0] > 0)]
        return np.stack(rows), np.concatenate([hot[self.place.flatten()].flatten(), swapped])

    def step(self, actions):
        self.place = np.clip(self.place + self.moves[actions], 0, GRID - 1)
        self.t += 1
        there = (self.place == self.plate).all(axis=1)
        return -0.1 + 0.1 * there.sum() + 2.0 * there.all(), bool(there.all()), self.t >= LIMIT


class RNNAgent(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1, self.rnn = nn.Linear(OBS, hidden), nn.GRU(hidden, hidden, batch_first=True)
        self.fc2 = nn.Linear(hidden, N_ACTIONS)

    def forward(self, obs, hidden=None):
        """[rows, time, OBS] → [rows, time, N_ACTIONS]"""
        out, hidden = self.rnn(F.relu(self.fc1(obs)), hidden)
        return self.fc2(out), hidden


class QMixer(nn.Module):
    def __init__(self, embed=16):
        super().__init__()
        self.embed = embed
        self.hyper_w_1, self.hyper_b_1 = nn.Linear(STATE, embed * N_AGENTS), nn.Linear(STATE, embed)
        self.hyper_w_final = nn.Linear(STATE, embed)
        self.V = nn.Sequential(nn.Linear(STATE, embed), nn.ReLU(), nn.Linear(embed, 1))

    def forward(self, qs, states):
        w1 = self.hyper_w_1(states).abs().unflatten(-1, (N_AGENTS, self.embed))
        hidden = F.elu((qs.unsqueeze(-2) @ w1).squeeze(-2) + self.hyper_b_1(states))
        return (hidden * self.hyper_w_final(states).abs()).sum(-1, keepdim=True) + self.V(states)


class QLearner:
    def __init__(self, gamma=0.95, lr=2e-3):
        self.mac, self.mixer, self.gamma = RNNAgent(), QMixer(), gamma
        self.target_mac, self.target_mixer = copy.deepcopy(self.mac), copy.deepcopy(self.mixer)
        self.params = [*self.mac.parameters(), *self.mixer.parameters()]
        self.optimiser = torch.optim.RMSprop(self.params, lr=lr, alpha=0.99, eps=1e-5)

    def unroll(self, mac, obs):
        b, t = obs.shape[:2]
        out, _ = mac(obs.transpose(1, 2).reshape(b * N_AGENTS, t, OBS))
        return out.view(b, N_AGENTS, t, N_ACTIONS).transpose(1, 2)

    def train(self, batch):
        rewards, terminated, mask = batch["reward"], batch["terminated"], batch["mask"]
        mac_out = self.unroll(self.mac, batch["obs"])
        chosen = mac_out[:, :-1].gather(3, batch["actions"].unsqueeze(3)).squeeze(3)
        with torch.no_grad():
            target_mac_out = self.unroll(self.target_mac, batch["obs"])[:, 1:]
            cur_max_actions = mac_out[:, 1:].argmax(dim=3, keepdim=True)
            target_max = target_mac_out.gather(3, cur_max_actions).squeeze(3)
            target_max = self.target_mixer(target_max, batch["state"][:, 1:])
            targets = rewards + self.gamma * (1 - terminated) * target_max
        q_tot = self.mixer(chosen, batch["state"][:, :-1])
        loss = (((q_tot - targets) * mask) ** 2).sum() / mask.sum()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimiser.step()
        return loss.item()

    def update_targets(self):
        self.target_mac.load_state_dict(self.mac.state_dict())
        self.target_mixer.load_state_dict(self.mixer.state_dict())


@torch.no_grad()
def run_episode(env, mac, epsilon):
    episode = {
        "obs": torch.zeros(LIMIT + 1, N_AGENTS, OBS),
        "state": torch.zeros(LIMIT + 1, STATE),
        "actions": torch.zeros(LIMIT, N_AGENTS, dtype=torch.long),
        "reward": torch.zeros(LIMIT, 1),
        "terminated": torch.zeros(LIMIT, 1),
        "mask": torch.zeros(LIMIT, 1),
    }
    env.reset()
    hidden, ended, t = None, False, 0
    while not ended:
        obs, state = env.observe()
        episode["obs"][t], episode["state"][t] = torch.from_numpy(obs), torch.from_numpy(state)
        q, hidden = mac(episode["obs"][t].unsqueeze(1), hidden)
        explore = torch.rand(N_AGENTS) < epsilon
        actions = torch.where(explore, torch.randint(N_ACTIONS, (N_AGENTS,)), q.squeeze(1).argmax(-1))
        reward, done, late = env.step(actions.numpy())
        episode["actions"][t], episode["reward"][t] = actions, reward
        episode["terminated"][t], episode["mask"][t] = float(done), 1.0
        ended, t = done or late, t + 1
    obs, state = env.observe()
    episode["obs"][t], episode["state"][t] = torch.from_numpy(obs), torch.from_numpy(state)
    return episode


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env, learner, memory = Rendezvous(SEED), QLearner(), []
    for number in range(110):
        memory.append(run_episode(env, learner.mac, max(0.1, 1.0 - number / 80)))
        if len(memory) >= 16:
            picked = random.sample(memory, 16)
            loss = learner.train({k: torch.stack([e[k] for e in picked]) for k in picked[0]})
        if number % 20 == 19:
            learner.update_targets()
    print("loss", round(loss, 4), "return", sum(e["reward"].sum().item() for e in memory[-10:]) / 10)


main()
