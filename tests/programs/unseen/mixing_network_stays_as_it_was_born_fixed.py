"""QMIX for two couriers who must lift the same crate. Its optimizer owns the agents and the mixer.

Round 32
Class: the line
"""

import copy
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_AGENTS, N_ACTIONS, STATE, EMBED = 2, 3, 5, 16


class Crates:
    """A crate is lifted when both choose it, for its price. Three lifts or six tries make a shift."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.price, self.lifts, self.tries = self.rng.uniform(0, 1, N_ACTIONS), 0, 0
        return self.state()

    def state(self):
        return np.array([*self.price, self.lifts / 3, self.tries / 6], dtype=np.float32)

    def observe(self):
        """Every courier sees the clock and a blurred half of the prices."""
        state = np.tile(self.state(), (N_AGENTS, 1))
        state[0, 2], state[1, 0] = 0.0, 0.0
        return np.concatenate([state, np.eye(N_AGENTS, dtype=np.float32)], axis=1)

    def step(self, actions):
        self.tries += 1
        reward = -0.1
        if actions[0] == actions[1]:
            reward, self.lifts = float(self.price[actions[0]]), self.lifts + 1
            self.price = self.rng.uniform(0, 1, N_ACTIONS)
        return reward, self.lifts == 3 or self.tries == 6


class AgentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATE + N_AGENTS, 32), nn.Tanh(), nn.Linear(32, N_ACTIONS))

    def forward(self, obs):
        return self.net(obs)


class QMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.hyper_w1 = nn.Linear(STATE, N_AGENTS * EMBED)
        self.hyper_b1 = nn.Linear(STATE, EMBED)
        self.hyper_w2 = nn.Linear(STATE, EMBED)
        self.hyper_b2 = nn.Sequential(nn.Linear(STATE, EMBED), nn.Tanh(), nn.Linear(EMBED, 1))

    def forward(self, qs, state):
        w1 = self.hyper_w1(state).abs().view(-1, N_AGENTS, EMBED)
        hidden = F.elu(torch.bmm(qs.unsqueeze(1), w1).squeeze(1) + self.hyper_b1(state))
        return (hidden * self.hyper_w2(state).abs()).sum(-1) + self.hyper_b2(state).squeeze(-1)


class QLearner:
    def __init__(self, gamma=0.95, lr=2e-3, sync_every=30):
        self.mac = AgentNet()
        self.target_mac = copy.deepcopy(self.mac)
        self.params = list(self.mac.parameters())
        self.mixer = QMixer()
        self.target_mixer = copy.deepcopy(self.mixer)
        self.params += list(self.mixer.parameters())
        self.optimiser = torch.optim.RMSprop(self.params, lr=lr, alpha=0.99, eps=1e-5)
        self.gamma, self.sync_every, self.updates = gamma, sync_every, 0

    def train(self, batch):
        obs, state, actions, reward, obs2, state2, done = batch
        chosen = self.mac(obs).gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        with torch.no_grad():
            best = self.mac(obs2).argmax(-1, keepdim=True)
            following = self.target_mac(obs2).gather(-1, best).squeeze(-1)
            target = reward + self.gamma * (1 - done) * self.target_mixer(following, state2)
        loss = (self.mixer(chosen, state) - target).pow(2).mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimiser.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.target_mac.load_state_dict(self.mac.state_dict())
            self.target_mixer.load_state_dict(self.mixer.state_dict())


def main():
    random.seed(2)
    torch.manual_seed(2)
    env, learner, memory, income = Crates(2), QLearner(), [], []
    for episode in range(120):
        state, done, total = env.reset(), False, 0.0
        while not done:
            obs = env.observe()
            with torch.no_grad():
                actions = learner.mac(torch.from_numpy(obs)).argmax(-1).tolist()
            actions = [random.randrange(N_ACTIONS) if random.random() < 0.3 else a for a in actions]
            reward, done = env.step(actions)
            total += reward
            memory.append((obs, state, actions, reward, env.observe(), env.state(), float(done)))
            state = env.state()
        income.append(total)
        if len(memory) >= 64:
            rows = zip(*random.sample(memory, 32))
            obs, state_, act, rew, obs2, state2, over = (torch.tensor(np.array(row)) for row in rows)
            learner.train((obs, state_, act, rew.float(), obs2, state2, over.float()))
    print(f"income of the first and the last shifts: {np.mean(income[:30]):.2f}, {np.mean(income[-30:]):.2f}")


if __name__ == "__main__":
    main()
