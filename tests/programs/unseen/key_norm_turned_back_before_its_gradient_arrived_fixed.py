"""The repaired twin of a program in which the following goes wrong.
A diffusion transformer plans chunks of actions, its attention split over the heads of two simulated ranks
by a function of its own; in that function's backward the norm of the keys is turned back with what is there
before the exchange, and the gradient that arrives then takes its place as it came. After
ByteDance-Seed/VeOmni#419.

Round 37
Class: custom functions
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, RANKS, CHUNK, DIM, HEADS = 3721, 2, 8, 32, 4


class Exchange:
    """All-to-all between the ranks of one process: launched now, collected by wait()."""

    def __init__(self, x, gather_sequence):
        self.x, self.gather_sequence = x, gather_sequence

    def wait(self):
        ranks, batch, length, width = self.x.shape
        if self.gather_sequence:  # [P, B, S/P, C] -> [P, B, S, C/P]
            parts = self.x.view(ranks, batch, length, RANKS, width // RANKS)
            return parts.permute(3, 1, 0, 2, 4).reshape(RANKS, batch, length * ranks, width // RANKS)
        parts = self.x.view(ranks, batch, RANKS, length // RANKS, width)  # and the other way round
        return parts.permute(2, 1, 3, 0, 4).reshape(RANKS, batch, length // RANKS, width * ranks)


def rms_forward(x, weight, eps=1e-6):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x * scale * weight, scale


def rms_backward(grad, x, scale, weight):
    normed = x * scale
    grad_weight = (grad * normed).flatten(0, -2).sum(0)
    grad = grad * weight
    return scale * (grad - normed * (grad * normed).mean(-1, keepdim=True)), grad_weight


class AsyncQKVProjection(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, q_weight, k_weight, v_weight, q_norm, k_norm):
        q, k = x @ q_weight.t(), x @ k_weight.t()
        q_out, q_scale = rms_forward(q, q_norm)
        k_out, k_scale = rms_forward(k, k_norm)
        q_res, k_res = Exchange(q_out, True), Exchange(k_out, True)
        v_res = Exchange(x @ v_weight.t(), True)
        ctx.save_for_backward(x, q, k, q_scale, k_scale, q_weight, k_weight, v_weight, q_norm, k_norm)
        return q_res.wait(), k_res.wait(), v_res.wait()

    @staticmethod
    def backward(ctx, grad_q, grad_k, grad_v):
        x, q, k, q_scale, k_scale, q_weight, k_weight, v_weight, q_norm, k_norm = ctx.saved_tensors
        grad_q_res, grad_k_res = Exchange(grad_q, False), Exchange(grad_k, False)
        grad_v_res = Exchange(grad_v, False)
        rows = x.flatten(0, -2)

        grad_q = grad_q_res.wait()
        grad_q, grad_q_norm = rms_backward(grad_q, q, q_scale, q_norm)
        grad_q_weight = grad_q.flatten(0, -2).t() @ rows

        grad_k = grad_k_res.wait()
        grad_k, grad_k_norm = rms_backward(grad_k, k, k_scale, k_norm)
        grad_k_weight = grad_k.flatten(0, -2).t() @ rows

        grad_v = grad_v_res.wait()
        grad_v_weight = grad_v.flatten(0, -2).t() @ rows
        grad_x = grad_q @ q_weight + grad_k @ k_weight + grad_v @ v_weight
        return grad_x, grad_q_weight, grad_k_weight, grad_v_weight, grad_q_norm, grad_k_norm


class DiTBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(DIM, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(DIM, elementwise_affine=False)
        self.to_q, self.to_k, self.to_v = (nn.Linear(DIM, DIM, bias=False) for _ in range(3))
        self.q_norm, self.k_norm = nn.Parameter(torch.ones(DIM)), nn.Parameter(torch.ones(DIM))
        self.out = nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 64), nn.GELU(), nn.Linear(64, DIM))
        self.modulation = nn.Linear(DIM, 2 * DIM)

    def forward(self, x, cond):
        shift, scale = self.modulation(cond).unsqueeze(1).chunk(2, -1)
        h = self.norm1(x) * (1 + scale) + shift
        shards = torch.stack(h.chunk(RANKS, dim=1))
        weights = (self.to_q.weight, self.to_k.weight, self.to_v.weight)
        q, k, v = AsyncQKVProjection.apply(shards, *weights, self.q_norm, self.k_norm)
        q, k, v = (t.unflatten(-1, (HEADS // RANKS, -1)).transpose(-3, -2) for t in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(-3, -2).flatten(-2)
        attended = torch.cat(list(Exchange(mixed, False).wait()), dim=1)
        x = x + self.out(attended)
        return x + self.mlp(self.norm2(x))


class ChunkPlanner(nn.Module):
    """The velocity of a flow from noise to a chunk of actions."""

    def __init__(self, obs_dim=4):
        super().__init__()
        self.embed_action, self.embed_obs = nn.Linear(1, DIM), nn.Linear(obs_dim + 1, DIM)
        self.place = nn.Parameter(0.1 * torch.randn(CHUNK, DIM))
        self.blocks = nn.ModuleList(DiTBlock() for _ in range(2))
        self.head = nn.Linear(DIM, 1)

    def forward(self, noisy, t, obs):
        cond = F.silu(self.embed_obs(torch.cat([obs, t.unsqueeze(1)], 1)))
        x = self.embed_action(noisy.unsqueeze(-1)) + self.place
        for block in self.blocks:
            x = block(x, cond)
        return self.head(x).squeeze(-1)


def replayed_chunks(rng, n):
    """Chunks of an old controller for a sine-shaped task, with their rewards."""
    obs = rng.uniform(-1, 1, (n, 4)).astype(np.float32)
    best = np.sin(obs[:, :1] * 3 + np.arange(CHUNK) * (1 + obs[:, 1:2]))
    chunks = best + rng.normal(0, 0.5, (n, CHUNK))
    rewards = -((chunks - best) ** 2).mean(1)
    return (torch.tensor(x, dtype=torch.float32) for x in (obs, chunks, rewards))


random.seed(SEED)
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
planner = ChunkPlanner()
optimizer = torch.optim.AdamW(planner.parameters(), lr=2e-3)
for step in range(80):
    obs, chunks, rewards = replayed_chunks(rng, 48)
    weight = torch.softmax(rewards / 0.1, 0)
    t, noise = torch.rand(len(obs)), torch.randn_like(chunks)
    noisy = (1 - t).unsqueeze(1) * noise + t.unsqueeze(1) * chunks
    error = (planner(noisy, t, obs) - (chunks - noise)).pow(2).mean(1)
    loss = (weight * error).sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(planner.parameters(), 1.0)
    optimizer.step()
print("loss", round(loss.item(), 4))
