"""Soft actor-critic for a drone on a plane that two rotors push about: twin critics, a squashed Gaussian actor and a
temperature that is learned.

Round 31
Class: axes
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

OBS_DIM, ACT_DIM, GAMMA, TAU, BATCH = 4, 2, 0.96, 0.02, 48


class Drone:
    """Come near the origin and stay; whoever leaves the square has crashed, a flight is cut after 40 steps."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.place, self.speed, self.time = self.rng.uniform(-1, 1, 2), np.zeros(2), 0
        return self.observe()

    def observe(self):
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.15 * action
        self.place = self.place + 0.3 * self.speed
        self.time += 1
        crashed = bool((np.abs(self.place) > 1.5).any())
        reward = -np.linalg.norm(self.place) - 0.05 * np.square(action).sum() - 5.0 * crashed
        return self.observe(), reward, crashed, self.time == 40


def mlp(sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS_DIM, 48), nn.ReLU())
        self.mu, self.log_std = nn.Linear(48, ACT_DIM), nn.Linear(48, ACT_DIM)

    def forward(self, obs):
        features = self.body(obs)
        return self.mu(features), self.log_std(features).clamp(-5, 1).exp()

    def process_actions(self, mean, std, eps=1e-6):
        normal = Normal(mean, std)
        raw_actions = normal.rsample()
        log_prob_u = normal.log_prob(raw_actions)
        actions = torch.tanh(raw_actions)
        log_prob = (log_prob_u - torch.log(1 - actions.pow(2) + eps)).sum()  # BUG GS603
        return actions, log_prob


class Agent:
    def __init__(self):
        self.actor = Actor()
        self.critics = nn.ModuleList([mlp([OBS_DIM + ACT_DIM, 48, 48, 1]) for _ in range(2)])
        self.targets = nn.ModuleList([mlp([OBS_DIM + ACT_DIM, 48, 48, 1]) for _ in range(2)])
        self.targets.load_state_dict(self.critics.state_dict())
        self.log_alpha = torch.tensor(-2.0, requires_grad=True)
        self.target_entropy = -float(ACT_DIM)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critics.parameters(), lr=1e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    @torch.no_grad()
    def act(self, obs):
        mean, std = self.actor(torch.from_numpy(obs).unsqueeze(0))
        return self.actor.process_actions(mean, std)[0].squeeze(0).numpy()

    def smallest(self, critics, obs, actions):
        inputs = torch.cat([obs, actions], dim=1)
        return torch.min(critics[0](inputs), critics[1](inputs))

    def update(self, obs, actions, rewards, next_obs, crashed):
        alpha = self.log_alpha.exp().detach()
        with torch.no_grad():
            next_actions, next_log_prob = self.actor.process_actions(*self.actor(next_obs))
            soft_value = self.smallest(self.targets, next_obs, next_actions) - alpha * next_log_prob
            y = rewards + GAMMA * (1 - crashed) * soft_value
        inputs = torch.cat([obs, actions], dim=1)
        critic_loss = sum(F.mse_loss(critic(inputs), y) for critic in self.critics)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        new_actions, log_prob = self.actor.process_actions(*self.actor(obs))
        actor_loss = (alpha * log_prob - self.smallest(self.critics, obs, new_actions)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        alpha_loss = -(self.log_alpha * (log_prob.detach() + self.target_entropy)).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()

        with torch.no_grad():
            for p, t in zip(self.critics.parameters(), self.targets.parameters()):
                t.mul_(1 - TAU).add_(TAU * p)
        return critic_loss.item(), alpha.item()


def main(steps=420, warm_up=200):
    torch.manual_seed(3116)
    rng = np.random.default_rng(3116)
    drone, agent, memory = Drone(rng), Agent(), []
    obs = drone.reset()
    for step in range(steps):
        action = rng.uniform(-1, 1, ACT_DIM).astype(np.float32) if step < warm_up else agent.act(obs)
        next_obs, reward, crashed, cut = drone.step(action)
        memory.append((obs, action, [reward], next_obs, [crashed]))
        obs = drone.reset() if crashed or cut else next_obs
        if step >= warm_up and step % 2 == 0:
            rows = [memory[i] for i in rng.integers(len(memory), size=BATCH)]
            batch = [torch.from_numpy(np.array(part, dtype=np.float32)) for part in zip(*rows)]
            critic_loss, alpha = agent.update(*batch)
            if step % 60 == 0:
                print(f"step {step}: critics {critic_loss:.3f}, temperature {alpha:.3f}")


if __name__ == "__main__":
    main()
