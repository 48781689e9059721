"""A loss module for deterministic actor-critics asks its critic once for the actions of the replay and for those of the
policy, side by side in one batch, and hands out both losses. Each has an optimizer of its own and goes backward by
itself: the second finds that the first has freed the pass which they share.

Round 20
Class: forward errors
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self, inp, out, squash=False):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inp, 64), nn.ELU(), nn.Linear(64, out))
        self.squash = squash

    def forward(self, *inputs):
        y = self.body(torch.cat(inputs, dim=-1))
        return torch.tanh(y) if self.squash else y


class DeterministicLoss(nn.Module):
    """Gives {"loss_actor", "loss_qvalue"} for a batch of transitions."""

    def __init__(self, actor, qvalue, gamma=0.96, noise=0.2, noise_clip=0.4):
        super().__init__()
        self.actor, self.qvalue = actor, qvalue
        self.target_actor = copy.deepcopy(actor).requires_grad_(False)
        self.target_qvalue = copy.deepcopy(qvalue).requires_grad_(False)
        self.gamma, self.noise, self.noise_clip = gamma, noise, noise_clip

    @torch.no_grad()
    def target_value(self, batch):
        noise = (torch.randn_like(batch["action"]) * self.noise).clamp(-self.noise_clip, self.noise_clip)
        action = (self.target_actor(batch["next_obs"]) + noise).clamp(-1, 1)
        following = self.target_qvalue(batch["next_obs"], action).squeeze(-1)
        return batch["reward"] + self.gamma * (1 - batch["done"]) * following

    def forward(self, batch):
        target = self.target_value(batch)
        both_obs = torch.cat([batch["obs"], batch["obs"]])
        both_actions = torch.cat([self.actor(batch["obs"]), batch["action"]])
        q_policy, q_replay = self.qvalue(both_obs, both_actions).squeeze(-1).chunk(2)  # BUG GS402 GS304
        return {"loss_actor": -q_policy.mean(), "loss_qvalue": F.smooth_l1_loss(q_replay, target)}


class SoftUpdate:
    def __init__(self, loss_module, eps=0.98):
        self.module, self.eps = loss_module, eps

    @torch.no_grad()
    def step(self):
        for name in ("actor", "qvalue"):
            source, target = getattr(self.module, name), getattr(self.module, f"target_{name}")
            for p, t in zip(source.parameters(), target.parameters()):
                t.lerp_(p, 1 - self.eps)


class Collector:
    """Yields batches of a swarm of gliders; the wind is felt, the height is not."""

    def __init__(self, actor, frames, total):
        self.actor, self.frames, self.total = actor, frames, total
        self.state = torch.randn(frames, 3)

    def __iter__(self):
        for _ in range(self.total):
            obs = self.state
            with torch.no_grad():
                action = (self.actor(obs) + 0.3 * torch.randn(self.frames, 1)).clamp(-1, 1)
            height = obs[:, 0] + 0.2 * obs[:, 1] + 0.3 * action[:, 0]
            wind = 0.9 * obs[:, 1] + 0.2 * torch.randn(self.frames)
            after = torch.stack([height, wind, action[:, 0]], dim=1)
            reward, done = 1 - height.abs() - 0.1 * action[:, 0].pow(2), (height.abs() > 3).float()
            yield {
                "obs": obs,
                "action": action,
                "reward": reward - 3 * done,
                "next_obs": after,
                "done": done,
            }
            self.state = torch.where(done.bool().unsqueeze(1), torch.randn(self.frames, 3), after)


torch.manual_seed(2012)
actor, qvalue = MLP(3, 1, squash=True), MLP(4, 1)
loss_module = DeterministicLoss(actor, qvalue)
updater = SoftUpdate(loss_module)
optim_actor = torch.optim.Adam(actor.parameters(), lr=1e-3)
optim_qvalue = torch.optim.Adam(qvalue.parameters(), lr=2e-3)
rewards = []
for batch in Collector(actor, frames=40, total=60):
    loss = loss_module(batch)
    optim_actor.zero_grad()
    loss["loss_actor"].backward()
    optim_qvalue.zero_grad()
    loss["loss_qvalue"].backward()  # BUG GS402
    optim_actor.step()
    optim_qvalue.step()
    updater.step()
    rewards.append(batch["reward"].mean().item())
print("reward", rewards[0], "->", rewards[-1])
