"""Back-propagation is cut after every chunk by a helper that detaches a whole module. What it means is the hidden state that
the memory holds; what it also takes are the memory's weights, which need no gradient from then on.

Round 16
Class: weights
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1612)
ENVS, CHUNK, OBS, ACTIONS, WIDTH = 8, 10, 3, 2, 24
GAMMA, LAM = 0.95, 0.9


def detach_module(module):
    """Cuts a module off what it was computed from, in place, with everything below it."""
    for param in module._parameters.values():
        if param is not None:
            param.detach_()  # BUG GS207 GS202
    for key, buffer in module._buffers.items():
        if buffer is not None and buffer.requires_grad:
            module._buffers[key] = buffer.detach()
    for child in module.children():
        detach_module(child)


class Memory(nn.Module):
    """A recurrent cell that keeps its own state, one for every environment."""

    def __init__(self, inputs):
        super().__init__()
        self.cell = nn.GRUCell(inputs, WIDTH)
        self.register_buffer("hidden", torch.zeros(ENVS, WIDTH), persistent=False)

    def forward(self, x, begins):
        self.hidden = self.cell(x, self.hidden * (1 - begins).unsqueeze(-1))
        return self.hidden


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(OBS, WIDTH), nn.Tanh())
        self.memory = Memory(WIDTH)
        self.pi, self.v = nn.Linear(WIDTH, ACTIONS), nn.Linear(WIDTH, 1)

    def forward(self, obs, begins):
        hidden = self.memory(self.encode(obs), begins)
        return Categorical(logits=self.pi(hidden)), self.v(hidden).squeeze(-1)


class Recall:
    """The cue is shown at the first step of an episode; the reward asks for it at the others."""

    def __init__(self):
        self.begins = torch.ones(ENVS)
        self.cue = torch.zeros(ENVS, dtype=torch.long)

    def observe(self):
        fresh = torch.randint(ACTIONS, (ENVS,))
        self.cue = torch.where(self.begins.bool(), fresh, self.cue)
        shown = nn.functional.one_hot(self.cue, ACTIONS) * self.begins.unsqueeze(-1)
        return torch.cat([shown, torch.randn(ENVS, 1)], -1), self.begins

    def step(self, action):
        reward = (action == self.cue).float()
        done = (torch.rand(ENVS) < 0.2).float()
        self.begins = done
        return reward, done


class A2C:
    def __init__(self, agent):
        self.agent, self.env = agent, Recall()
        self.optimizer = torch.optim.RMSprop(agent.parameters(), lr=2e-3)

    def rollout(self):
        steps = []
        for _ in range(CHUNK):
            dist, value = self.agent(*self.env.observe())
            action = dist.sample()
            reward, done = self.env.step(action)
            steps.append((dist.log_prob(action), dist.entropy(), value, reward, done))
        return [torch.stack(column) for column in zip(*steps)]

    def advantages(self, values, rewards, dones):
        """Generalised advantages; the last step of the chunk is left to the next one."""
        gains, carry = [], torch.zeros(ENVS)
        for t in reversed(range(CHUNK - 1)):
            going = 1 - dones[t]
            delta = rewards[t] + GAMMA * going * values[t + 1] - values[t]
            carry = delta + GAMMA * LAM * going * carry
            gains.insert(0, carry)
        return torch.stack(gains)

    def update(self):
        log_probs, entropies, values, rewards, dones = self.rollout()
        gains = self.advantages(values.detach(), rewards, dones)
        returns = gains + values[:-1].detach()
        policy_loss = -(log_probs[:-1] * gains).mean()
        value_loss = (values[:-1] - returns).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropies.mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.agent.parameters(), 1.0)
        self.optimizer.step()
        detach_module(self.agent.memory)  # BUG GS207 GS202
        return loss.item(), rewards.mean().item()


trainer = A2C(Agent())
for update in range(60):
    loss, reward = trainer.update()
    if update % 20 == 0:
        print(update, loss, reward)
