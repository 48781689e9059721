"""A port of QMIX gives its optimizer the parameters of the agents' network only: the hypernetworks of the mixer receive
gradient at every update and nobody steps them. ray-project/ray#5003.

Round 25
Class: weights
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2505)
rng = np.random.default_rng(2505)
N_AGENTS, N_ACTIONS, OBS, STATE, T = 3, 3, 5, 8, 6


class RNNAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.rnn, self.fc2 = nn.Linear(OBS, 32), nn.GRUCell(32, 32), nn.Linear(32, N_ACTIONS)

    def init_hidden(self, n):
        return self.fc1.weight.new_zeros(n, 32)

    def forward(self, obs, h):
        h = self.rnn(F.relu(self.fc1(obs)), h)
        return self.fc2(h), h


class QMixer(nn.Module):
    def __init__(self, embed=16):
        super().__init__()
        self.embed = embed
        self.hyper_w1 = nn.Linear(STATE, N_AGENTS * embed)
        self.hyper_b1 = nn.Linear(STATE, embed)
        self.hyper_w2 = nn.Linear(STATE, embed)
        self.hyper_b2 = nn.Sequential(nn.Linear(STATE, embed), nn.ReLU(), nn.Linear(embed, 1))

    def forward(self, qs, states):
        batch, steps = qs.shape[:2]
        states, qs = states.reshape(-1, STATE), qs.reshape(-1, 1, N_AGENTS)
        w1 = self.hyper_w1(states).abs().view(-1, N_AGENTS, self.embed)
        hidden = F.elu(torch.bmm(qs, w1) + self.hyper_b1(states).unsqueeze(1))
        w2 = self.hyper_w2(states).abs().unsqueeze(2)
        return (torch.bmm(hidden, w2).squeeze(2) + self.hyper_b2(states)).view(batch, steps)


class QMixPolicy:
    def __init__(self, config):
        self.config = config
        self.model, self.target_model = RNNAgent(), RNNAgent()
        self.mixer = QMixer()
        self.target_mixer = copy.deepcopy(self.mixer)
        self.update_target()
        self.params = list(self.model.parameters())  # BUG GS205
        self.optimiser = torch.optim.RMSprop(self.params, lr=config["lr"], eps=1e-5)  # BUG GS205

    def update_target(self):
        self.target_model.load_state_dict(self.model.state_dict())
        self.target_mixer.load_state_dict(self.mixer.state_dict())

    @staticmethod
    def unroll(model, obs):
        h, out = model.init_hidden(obs.shape[0] * N_AGENTS), []
        for t in range(obs.shape[1]):
            q, h = model(obs[:, t].reshape(-1, OBS), h)
            out.append(q.view(obs.shape[0], N_AGENTS, N_ACTIONS))
        return torch.stack(out, 1)

    def learn(self, batch):
        obs, state, actions, reward, terminated = batch
        q_all = self.unroll(self.model, obs)
        chosen = q_all[:, :-1].gather(3, actions.unsqueeze(3)).squeeze(3)
        with torch.no_grad():
            best = q_all[:, 1:].argmax(3, keepdim=True)
            next_q = self.unroll(self.target_model, obs)[:, 1:].gather(3, best).squeeze(3)
            next_total = self.target_mixer(next_q, state[:, 1:])
            targets = reward + self.config["gamma"] * (1 - terminated) * next_total
        loss = F.mse_loss(self.mixer(chosen, state[:, :-1]), targets)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimiser.step()
        return loss.item()

    def act(self, obs, h, epsilon):
        with torch.no_grad():
            q, h = self.model(torch.from_numpy(obs), h)
        random = rng.integers(N_ACTIONS, size=N_AGENTS)
        return np.where(rng.random(N_AGENTS) < epsilon, random, q.argmax(1).numpy()), h


def episode(policy, epsilon):
    """The team is paid where all agents pick the action that the hidden signal of the state names."""
    rows, h = [], policy.model.init_hidden(N_AGENTS)
    for t in range(T + 1):
        signal = rng.integers(N_ACTIONS)
        state = rng.normal(size=STATE).astype(np.float32)
        state[:N_ACTIONS] = np.eye(N_ACTIONS)[signal]
        obs = state[:OBS] + 0.1 * rng.normal(size=(N_AGENTS, OBS)).astype(np.float32)
        actions, h = policy.act(obs, h, epsilon)
        reward = np.float32((actions == signal).mean() ** 2)
        rows.append((obs, state, actions, reward, np.float32(t == T - 1)))
    obs, state, actions, reward, terminated = (np.stack(x) for x in zip(*rows))
    return obs, state, actions[:-1], reward[:-1], terminated[:-1]


policy = QMixPolicy({"gamma": 0.9, "lr": 2e-3})
buffer = [episode(policy, 1.0) for _ in range(32)]
for update in range(40):
    buffer.append(episode(policy, 0.3))
    chosen_rows = [buffer[i] for i in rng.integers(len(buffer), size=16)]
    policy.learn([torch.from_numpy(np.stack(x)) for x in zip(*chosen_rows)])
    if update % 10 == 9:
        policy.update_target()
