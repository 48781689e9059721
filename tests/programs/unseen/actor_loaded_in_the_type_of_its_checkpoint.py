"""An actor for group-relative policy optimisation is loaded in bfloat16, as its checkpoint was saved, and
plain AdamW steps those very weights at a learning rate for fine-tuning: most updates are smaller than the
spacing of the numbers. After areal-project/AReaL#1634 (and the change before it, #1369).

Round 37
Class: magnitude
"""

import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class OptimizerConfig:
    lr: float = 1.7e-5
    weight_decay: float = 0.0
    gradient_clipping: float = 1.0


@dataclass
class ActorConfig:
    dtype: str = "bfloat16"
    group_size: int = 8
    n_prompts: int = 6
    eps_clip: float = 0.2
    ppo_n_minibatches: int = 2
    optimizer: OptimizerConfig = None


VOCAB, PROMPT, ANSWER = 32, 4, 6


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.up, self.down = nn.Linear(dim, 2 * dim, bias=False), nn.Linear(2 * dim, dim, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(F.silu(self.up(self.norm2(x))))


class CausalLM(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.place = nn.Embedding(PROMPT + ANSWER, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(2))
        self.norm = nn.RMSNorm(dim)
        self.lm_head = nn.Linear(dim, VOCAB, bias=False)

    def forward(self, ids):
        x = self.embed(ids) + self.place(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.norm(x))


class FSDPActor:
    def __init__(self, config):
        self.config = config
        self.dtype = getattr(torch, config.dtype)
        self.model = CausalLM()
        self.model.to(dtype=self.dtype)  # BUG GS508
        self.optimizer = torch.optim.AdamW(  # BUG GS508
            self.model.parameters(), lr=config.optimizer.lr, weight_decay=config.optimizer.weight_decay
        )

    def logits(self, ids):
        with torch.autocast("cpu", dtype=self.dtype):
            return self.model(ids).float()

    def compute_logp(self, ids):
        logp = F.log_softmax(self.logits(ids[:, :-1])[:, PROMPT - 1 :], -1)
        return logp.gather(-1, ids[:, PROMPT:].unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def generate(self):
        prompts = torch.randint(VOCAB, (self.config.n_prompts, PROMPT))
        ids = prompts.repeat_interleave(self.config.group_size, 0)
        for _ in range(ANSWER):
            probs = self.logits(ids)[:, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], 1)
        return ids

    @torch.no_grad()
    def compute_advantages(self, ids):
        rewards = (ids[:, PROMPT:] % 4 == ids[:, :1] % 4).float().mean(1)
        groups = rewards.view(self.config.n_prompts, self.config.group_size)
        advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        return advantages.flatten(), rewards.mean().item()

    def ppo_update(self, ids, prox_logp, advantages):
        eps = self.config.eps_clip
        for rows in torch.randperm(len(ids)).chunk(self.config.ppo_n_minibatches):
            ratio = torch.exp(self.compute_logp(ids[rows]) - prox_logp[rows])
            adv = advantages[rows].unsqueeze(1)
            loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - eps, 1 + eps)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.optimizer.gradient_clipping)
            self.optimizer.step()


random.seed(3710)
torch.manual_seed(3710)
actor = FSDPActor(ActorConfig(optimizer=OptimizerConfig()))
for step in range(16):
    ids = actor.generate()
    with torch.no_grad():
        prox_logp = actor.compute_logp(ids)
    advantages, reward = actor.compute_advantages(ids)
    actor.ppo_update(ids, prox_logp, advantages)
print("reward", round(reward, 3))
