"""The repaired twin of a program in which the following goes wrong.
Unsupervised pre-training with contrastive intrinsic control: the update encodes the observations without
gradients before it contrasts states with skills, so the encoder's own optimizer never has anything to do. After
rll-research/cic#5.

Round 36
Class: the line
"""

import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, SKILL_DIM, ACTION_DIM, FEATURE_DIM = 3604, 4, 2, 16


def soft_update_params(net, target_net, tau):
    with torch.no_grad():
        for p, target_p in zip(net.parameters(), target_net.parameters()):
            target_p.lerp_(p, tau)


class DotWorld:
    """A dot on an 8 x 8 picture moves by the action; an episode is cut after twenty steps."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.position, self.t = self.rng.uniform(1, 6, 2), 0
        return self.render()

    def step(self, action):
        self.t += 1
        self.position = np.clip(self.position + action, 0.0, 7.0)
        return self.render(), self.t >= 20

    def render(self):
        ys, xs = np.mgrid[0:8, 0:8]
        picture = np.exp(-((ys - self.position[0]) ** 2 + (xs - self.position[1]) ** 2) / 2.0)
        return picture[None].astype(np.float32)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.convnet = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 2), nn.ReLU())
        self.trunk = nn.Sequential(nn.Flatten(), nn.Linear(16 * 2 * 2, FEATURE_DIM), nn.Tanh())

    def forward(self, obs):
        return self.trunk(self.convnet(obs))


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, n_out))


class CIC(nn.Module):
    def __init__(self):
        super().__init__()
        self.state_net = mlp(FEATURE_DIM, SKILL_DIM)
        self.pred_net = mlp(2 * SKILL_DIM, SKILL_DIM)
        self.skill_net = mlp(SKILL_DIM, SKILL_DIM)

    def forward(self, obs, next_obs, skill):
        pair = torch.cat([self.state_net(obs), self.state_net(next_obs)], dim=1)
        return self.skill_net(skill), self.pred_net(pair)


class CICAgent:
    def __init__(self):
        self.encoder, self.cic = Encoder(), CIC()
        self.actor = mlp(FEATURE_DIM + SKILL_DIM, ACTION_DIM)
        self.critic = mlp(FEATURE_DIM + SKILL_DIM + ACTION_DIM, 1)
        self.critic_target = copy.deepcopy(self.critic)
        self.encoder_opt = torch.optim.Adam(self.encoder.parameters(), lr=1e-3)
        self.cic_opt = torch.optim.Adam(self.cic.parameters(), lr=1e-3)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    @torch.no_grad()
    def act(self, obs, skill):
        feature = self.encoder(torch.from_numpy(obs)[None])
        action = torch.tanh(self.actor(torch.cat([feature, torch.from_numpy(skill)[None]], dim=1)))[0]
        return (action + 0.3 * torch.randn_like(action)).clamp(-1, 1).numpy()

    def update_cic(self, obs, skill, next_obs, temperature=0.5):
        query, key = self.cic(obs, next_obs, skill)
        query, key = F.normalize(query, dim=1), F.normalize(key, dim=1)
        logits = query @ key.T / temperature
        loss = F.cross_entropy(logits, torch.arange(len(logits)))
        self.cic_opt.zero_grad(set_to_none=True)
        self.encoder_opt.zero_grad(set_to_none=True)
        loss.backward()
        self.cic_opt.step()
        self.encoder_opt.step()
        return loss.item()

    @torch.no_grad()
    def intrinsic_reward(self, obs, next_obs, k=5):
        source, target = self.cic.state_net(obs), self.cic.state_net(next_obs)
        nearest = torch.cdist(source, target).topk(k, dim=1, largest=False).values
        return torch.log(1.0 + nearest.mean(dim=1, keepdim=True))

    def update(self, batch):
        obs, action, next_obs, skill = batch
        with torch.no_grad():
            next_obs = self.encoder(next_obs)
        obs = self.encoder(obs)
        cic_loss = self.update_cic(obs, skill, next_obs)
        obs = obs.detach()

        reward = self.intrinsic_reward(obs, next_obs)
        with torch.no_grad():
            next_action = torch.tanh(self.actor(torch.cat([next_obs, skill], dim=1)))
            next_q = self.critic_target(torch.cat([next_obs, skill, next_action], dim=1))
            target_q = reward + 0.95 * next_q
        critic_loss = F.mse_loss(self.critic(torch.cat([obs, skill, action], dim=1)), target_q)
        self.critic_opt.zero_grad(set_to_none=True)
        critic_loss.backward()
        self.critic_opt.step()

        new_action = torch.tanh(self.actor(torch.cat([obs, skill], dim=1)))
        actor_loss = -self.critic(torch.cat([obs, skill, new_action], dim=1)).mean()
        self.actor_opt.zero_grad(set_to_none=True)
        actor_loss.backward()
        self.actor_opt.step()
        soft_update_params(self.critic, self.critic_target, 0.01)
        return cic_loss


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    env, agent, replay, losses = DotWorld(SEED), CICAgent(), [], []
    obs, skill = env.reset(), rng.uniform(size=SKILL_DIM).astype(np.float32)
    for step in range(180):
        action = agent.act(obs, skill)
        next_obs, cut = env.step(action)
        replay.append((obs, action, next_obs, skill))
        obs = next_obs
        if cut:
            obs, skill = env.reset(), rng.uniform(size=SKILL_DIM).astype(np.float32)
        if step >= 100:
            rows = [replay[i] for i in rng.integers(len(replay), size=48)]
            losses.append(agent.update([torch.from_numpy(np.stack(x)) for x in zip(*rows)]))
    print(f"contrastive loss {losses[0]:.3f} -> {losses[-1]:.3f}")


main()
