"""The value of the next action is gathered from the estimates of the next states.

Round 15
Class: the line
"""

import math

import torch
from torch import nn

torch.manual_seed(1512)


class Algorithm:
    """What all value-based algorithms of the lab share."""

    def __init__(self, spec):
        self.spec, self.gamma = spec, spec["gamma"]
        self.net = nn.Sequential(
            nn.Linear(spec["state_dim"], 32), nn.SELU(), nn.Linear(32, spec["action_dim"])
        )
        self.optim = torch.optim.RMSprop(self.net.parameters(), lr=spec["lr"])
        self.loss_fn = nn.SmoothL1Loss()

    def calc_q_loss(self, batch):
        raise NotImplementedError

    def train(self, batch):
        loss = self.calc_q_loss(batch)
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optim.step()
        return loss.item()


class SARSA(Algorithm):
    def act(self, state, frame):
        epsilon = self.spec["epsilon_end"] + (1 - self.spec["epsilon_end"]) * math.exp(-frame / 400)
        with torch.no_grad():
            greedy = self.net(state).argmax(-1)
        random = torch.randint(self.spec["action_dim"], greedy.shape)
        return torch.where(torch.rand(greedy.shape) < epsilon, random, greedy)

    def calc_q_loss(self, batch):
        """TD(0) on the action that was in fact taken next."""
        q_preds = self.net(batch["states"])
        with torch.no_grad():
            next_q_preds = self.net(batch["next_states"])
        act_q_preds = q_preds.gather(-1, batch["actions"].unsqueeze(-1)).squeeze(-1)
        act_next_q_preds = next_q_preds.gather(-1, batch["next_actions"].unsqueeze(-1)).squeeze(-1)
        act_q_targets = batch["rewards"] + self.gamma * (1 - batch["dones"]) * act_next_q_preds
        return self.loss_fn(act_q_preds, act_q_targets)


class PendulumEnvs:
    """Several pendulums, pushed one way or the other; a swing too far ends the episode."""

    def __init__(self, count):
        self.angle, self.speed = 0.2 * torch.randn(count), torch.zeros(count)

    def observe(self):
        return torch.stack([self.angle.sin(), self.angle.cos(), self.speed], -1)

    def step(self, action):
        self.speed = 0.95 * self.speed + 0.1 * self.angle.sin() + 0.1 * (action.float() - 1)
        self.angle = self.angle + 0.2 * self.speed
        done = self.angle.abs() > 0.8
        reward = torch.where(done, torch.tensor(-1.0), 0.1 * self.angle.cos())
        reached = self.observe()
        self.angle = torch.where(done, 0.2 * torch.randn(len(done)), self.angle)
        self.speed = torch.where(done, torch.zeros(len(done)), self.speed)
        return reward, done.float(), reached


def run(agent, envs, frames, training_frequency):
    memory, losses = [], []
    state = envs.observe()
    action = agent.act(state, 0)
    for frame in range(1, frames + 1):
        reward, done, reached = envs.step(action)
        next_action = agent.act(envs.observe(), frame)
        memory.append((state, action, reward, done, reached, next_action))
        state, action = envs.observe(), next_action
        if frame % training_frequency == 0:
            names = ("states", "actions", "rewards", "dones", "next_states", "next_actions")
            batch = {name: torch.stack(column) for name, column in zip(names, zip(*memory))}
            losses.append(agent.train(batch))
            memory.clear()
    return losses


spec = {"state_dim": 3, "action_dim": 3, "gamma": 0.95, "lr": 2e-3, "epsilon_end": 0.1}
losses = run(SARSA(spec), PendulumEnvs(5), frames=400, training_frequency=8)
print(losses[0], losses[-1])
