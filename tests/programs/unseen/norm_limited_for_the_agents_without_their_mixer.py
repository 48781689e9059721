"""QMIX: one optimizer steps the agents and the mixer, the norm is limited over the agents' parameters only, and the
hypernetworks of the mixer step with whatever they got. After ray-project/ray#5003 (the list of parameters was made
before the mixer's were added to it).

Round 27
Class: magnitude
"""

import copy
from types import SimpleNamespace

import numpy as np
import torch as th
import torch.nn as nn
import torch.nn.functional as F

args = SimpleNamespace(
    n_agents=3,
    n_actions=3,
    obs=4,
    state=6,
    embed=8,
    rnn=16,
    gamma=0.95,
    lr=1e-3,
    grad_norm_clip=1.0,
    sync=10,
    seed=2715,
)
th.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)


class Lift:
    """Three agents lift a load together; it is worth much only when all push alike."""

    length = 6

    def reset(self):
        self.t = 0
        self.wish = rng.integers(0, args.n_actions)
        return self.get()

    def get(self):
        obs = np.zeros((args.n_agents, args.obs), dtype=np.float32)
        obs[:, self.wish] = 1.0
        obs[:, 3] = np.arange(args.n_agents) / args.n_agents
        state = np.zeros(args.state, dtype=np.float32)
        state[self.wish], state[3] = 1.0, self.t / self.length
        return obs, state

    def step(self, actions):
        self.t += 1
        agreed = int((actions == self.wish).sum())
        self.wish = rng.integers(0, args.n_actions)
        return self.get(), 8.0 if agreed == args.n_agents else float(agreed), self.t == self.length


class RNNAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(args.obs, args.rnn)
        self.rnn = nn.GRU(args.rnn, args.rnn, batch_first=True)
        self.fc2 = nn.Linear(args.rnn, args.n_actions)

    def forward(self, obs):
        """obs: batch, time, agents, features."""
        b, t, n, _ = obs.shape
        x = F.relu(self.fc1(obs)).transpose(1, 2).reshape(b * n, t, -1)
        return self.fc2(self.rnn(x)[0]).reshape(b, n, t, -1).transpose(1, 2)


class QMixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(args.state, args.embed * args.n_agents)
        self.b1 = nn.Linear(args.state, args.embed)
        self.w2 = nn.Linear(args.state, args.embed)
        self.v = nn.Sequential(nn.Linear(args.state, args.embed), nn.ReLU(), nn.Linear(args.embed, 1))

    def forward(self, qs, state):
        w1 = self.w1(state).abs().view(*state.shape[:-1], args.n_agents, args.embed)
        hidden = F.elu((qs.unsqueeze(-2) @ w1).squeeze(-2) + self.b1(state))
        return (hidden * self.w2(state).abs()).sum(-1) + self.v(state).squeeze(-1)


class Learner:
    def __init__(self):
        self.mac, self.mixer = RNNAgent(), QMixer()
        self.target_mac, self.target_mixer = copy.deepcopy(self.mac), copy.deepcopy(self.mixer)
        self.params = list(self.mac.parameters())  # BUG GS505
        self.optimiser = th.optim.RMSprop(self.params + list(self.mixer.parameters()), lr=args.lr)
        self.episodes = 0

    def train(self, obs, state, actions, rewards, terminated):
        mac_out = self.mac(obs)
        chosen = mac_out[:, :-1].gather(-1, actions.unsqueeze(-1)).squeeze(-1)
        with th.no_grad():
            best = mac_out[:, 1:].argmax(-1, keepdim=True)
            later = self.target_mac(obs)[:, 1:].gather(-1, best).squeeze(-1)
            targets = rewards + args.gamma * (1 - terminated) * self.target_mixer(later, state[:, 1:])
        loss = (self.mixer(chosen, state[:, :-1]) - targets).pow(2).mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, args.grad_norm_clip)  # BUG GS505
        self.optimiser.step()
        self.episodes += 1
        if self.episodes % args.sync == 0:
            self.target_mac.load_state_dict(self.mac.state_dict())
            self.target_mixer.load_state_dict(self.mixer.state_dict())
        return loss.item()


def episode(env, mac, epsilon):
    (obs, state), rows, end = env.reset(), [], False
    seen = [obs]
    while not end:
        with th.no_grad():
            q = mac(th.tensor(np.stack(seen))[None])[0, -1]
        random_moves = rng.integers(0, args.n_actions, args.n_agents)
        moves = np.where(rng.random(args.n_agents) < epsilon, random_moves, q.argmax(-1).numpy())
        (nxt, nxt_state), reward, end = env.step(moves)
        rows.append((state, moves, np.float32(reward), np.float32(end)))
        seen.append(nxt)
        state = nxt_state
    states, moves, rewards, ends = (np.stack(c) for c in zip(*rows))
    return np.stack(seen), np.concatenate([states, state[None]]), moves, rewards, ends


env, learner, buffer = Lift(), Learner(), []
for i in range(60):
    buffer.append(episode(env, learner.mac, max(0.1, 1 - i / 40)))
    if len(buffer) >= 10:
        rows = [buffer[k] for k in rng.integers(0, len(buffer), 8)]
        loss = learner.train(*(th.tensor(np.stack(c)) for c in zip(*rows)))
print("loss", loss, "return", np.mean([e[3].sum() for e in buffer[-10:]]))
