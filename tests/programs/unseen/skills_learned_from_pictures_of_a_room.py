"""Pretraining without rewards: a puppet in a dark room, seen in pictures, learns skills by telling its transitions
apart, with a contrastive reward, a convolutional encoder and DDPG on top.

Round 31
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE, SKILL, FEATURES = 12, 4, 24


class DarkRoom:
    def __init__(self, rng, horizon=30):
        self.rng, self.horizon = rng, horizon
        self.axis = np.arange(SIDE)

    def picture(self):
        dy, dx = self.axis[:, None] - self.place[0], self.axis[None, :] - self.place[1]
        return np.exp(-0.5 * (dy**2 + dx**2)).astype(np.float32)[None]

    def reset(self):
        self.place = self.rng.uniform(4, SIDE - 5, size=2)
        self.time = 0
        return self.picture()

    def step(self, action):
        self.place = np.clip(self.place + action, 0, SIDE - 1)
        self.time += 1
        return self.picture(), self.time == self.horizon


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.convnet = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU())
        self.project = nn.Linear(8 * 3 * 3, FEATURES)

    def forward(self, pictures):
        return torch.tanh(self.project(self.convnet(pictures).flatten(1)))


def mlp(inputs, outputs, hidden=48):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))


class CIC(nn.Module):
    def __init__(self):
        super().__init__()
        self.state_net, self.skill_net = mlp(FEATURES, 16), mlp(SKILL, 16)
        self.pred_net = mlp(32, 16)

    def forward(self, obs, next_obs, skill):
        query = self.skill_net(skill)
        key = self.pred_net(torch.cat([self.state_net(obs), self.state_net(next_obs)], dim=1))
        return F.normalize(query, dim=1) @ F.normalize(key, dim=1).T / 0.5


class CICAgent:
    def __init__(self):
        self.encoder, self.cic = Encoder(), CIC()
        self.actor = nn.Sequential(mlp(FEATURES + SKILL, 2), nn.Tanh())
        self.critic = mlp(FEATURES + SKILL + 2, 1)
        self.critic_target = copy.deepcopy(self.critic)
        self.encoder_opt = torch.optim.Adam(self.encoder.parameters(), lr=1e-3)
        self.cic_opt = torch.optim.Adam(self.cic.parameters(), lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, picture, skill):
        obs = self.encoder(torch.from_numpy(picture)[None])
        action = self.actor(torch.cat([obs, skill[None]], dim=1))[0]
        return (action + 0.3 * torch.randn(2)).clamp(-1, 1)

    def update_cic(self, obs, next_obs, skill):
        logits = self.cic(obs, next_obs, skill)
        loss = F.cross_entropy(logits, torch.arange(len(logits)))
        self.cic_opt.zero_grad()
        loss.backward()
        self.cic_opt.step()
        return loss.item()

    @torch.no_grad()
    def intrinsic_reward(self, obs, next_obs):
        source, reached = self.cic.state_net(obs), self.cic.state_net(next_obs)
        nearest = torch.cdist(source, reached).topk(4, dim=1, largest=False).values
        return torch.log1p(nearest.mean(dim=1, keepdim=True))

    def update_critic(self, obs, action, reward, next_obs, skill):
        with torch.no_grad():
            next_in = torch.cat([next_obs, skill], dim=1)
            target = reward + 0.95 * self.critic_target(torch.cat([next_in, self.actor(next_in)], dim=1))
        loss = F.mse_loss(self.critic(torch.cat([obs, skill, action], dim=1)), target)
        self.encoder_opt.zero_grad()
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        self.encoder_opt.step()

    def update_actor(self, obs, skill):
        inputs = torch.cat([obs, skill], dim=1)
        loss = -self.critic(torch.cat([inputs, self.actor(inputs)], dim=1)).mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    def update(self, pictures, action, next_pictures, skill):
        with torch.no_grad():  # BUG GS202
            obs = self.encoder(pictures)  # BUG GS202
            next_obs = self.encoder(next_pictures)
        loss = self.update_cic(obs.detach(), next_obs, skill)
        reward = self.intrinsic_reward(obs.detach(), next_obs)
        self.update_critic(obs, action, reward, next_obs, skill)
        self.update_actor(obs.detach(), skill)
        with torch.no_grad():
            for p, t in zip(self.critic.parameters(), self.critic_target.parameters()):
                t.lerp_(p, 0.02)
        return loss


def main():
    torch.manual_seed(3103)
    rng = np.random.default_rng(3103)
    room, agent, replay, losses = DarkRoom(rng), CICAgent(), [], []
    for episode in range(24):
        skill, picture, done = torch.rand(SKILL), room.reset(), False
        while not done:
            action = agent.act(picture, skill)
            next_picture, done = room.step(action.numpy())
            replay.append((torch.from_numpy(picture), action, torch.from_numpy(next_picture), skill))
            picture = next_picture
        for _ in range(5 if episode >= 4 else 0):
            rows = [replay[i] for i in rng.integers(len(replay), size=32)]
            losses.append(agent.update(*(torch.stack(part) for part in zip(*rows))))
    print(f"contrastive loss {np.mean(losses[:10]):.3f} at first, {np.mean(losses[-10:]):.3f} at last")


if __name__ == "__main__":
    main()
