"""Two agents with a summed value: the slow copies are averaged with themselves, so they keep the weights of the first
hour.

Round 22
Class: weights
"""

import copy

import numpy as np
import torch
from torch import nn

AGENTS, OBS, ACTIONS = 2, 3, 3


class Lift:
    """Two agents must choose the same floor, the one that both see in part."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.t, self.floor = 0, int(self.rng.integers(ACTIONS))
        return self._see()

    def _see(self):
        return np.eye(ACTIONS, dtype=np.float32)[[self.floor, (self.floor + 1) % ACTIONS]]

    def step(self, joint):
        right = [a == self.floor for a in joint]
        self.t += 1
        self.floor = (self.floor + 1 + int(joint[0])) % ACTIONS
        return self._see(), float(all(right)) - 0.1, self.t == 8


class Learner:
    def __init__(self):
        self.agents = [
            nn.Sequential(nn.Linear(OBS, 24), nn.ReLU(), nn.Linear(24, ACTIONS)) for _ in range(AGENTS)
        ]
        self.targets = [copy.deepcopy(agent) for agent in self.agents]
        self.params = [p for agent in self.agents for p in agent.parameters()]
        self.optimiser = torch.optim.RMSprop(self.params, lr=1e-3, alpha=0.99)
        self.updates = 0

    def total(self, networks, obs):
        return torch.stack([net(obs[:, i]) for i, net in enumerate(networks)], dim=1)

    def train(self, obs, actions, rewards, next_obs, ended):
        chosen = self.total(self.agents, obs).gather(2, actions.unsqueeze(2)).squeeze(2).sum(dim=1)
        with torch.no_grad():
            following = self.total(self.targets, next_obs).max(dim=2).values.sum(dim=1)
        targets = rewards + 0.9 * (1 - ended) * following
        loss = ((chosen - targets) ** 2).mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 10)
        self.optimiser.step()
        self.updates += 1
        self.update_targets(0.05)
        return loss.item()

    def update_targets(self, tau):
        for agent, target in zip(self.agents, self.targets):
            fresh = target.state_dict()  # BUG GS809 GS307
            slow = target.state_dict()
            mixed = {name: tau * fresh[name] + (1 - tau) * slow[name] for name in slow}
            target.load_state_dict(mixed)  # BUG GS809 GS307


torch.manual_seed(2222)
env, learner, memory = Lift(2222), Learner(), []
rng = np.random.default_rng(22)
for episode in range(60):
    obs, over = env.reset(), False
    while not over:
        joint = [int(rng.integers(ACTIONS)) for _ in range(AGENTS)]
        if rng.random() > 0.5:
            with torch.no_grad():
                joint = [int(net(torch.from_numpy(obs[i])).argmax()) for i, net in enumerate(learner.agents)]
        following, reward, over = env.step(joint)
        memory.append((obs, joint, reward, following, float(over)))
        obs = following
    if episode >= 10:
        rows = [memory[i] for i in rng.integers(0, len(memory), 32)]
        o, a, r, o2, e = (np.array(column) for column in zip(*rows))
        batch = [torch.as_tensor(x, dtype=torch.float32) for x in (o, r, o2, e)]
        loss = learner.train(batch[0], torch.from_numpy(a), *batch[1:])
print(round(loss, 4))
