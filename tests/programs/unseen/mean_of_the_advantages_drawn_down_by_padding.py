"""Policy optimisation of answers of many lengths with a value head: before the update the advantages are
normalised with a mean over all places, those of the padding among them, while the variance is taken over the
answers only. After NovaSky-AI/SkyRL#1305 and MarcoMeter/recurrent-ppo-truncated-bptt#10.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class PPOArgs:
    vocab: int = 18
    width: int = 32
    rows: int = 20
    longest: int = 10
    gamma: float = 1.0
    lam: float = 0.95
    clip: float = 0.2
    vf_coef: float = 0.1
    epochs: int = 2
    updates: int = 25
    seed: int = 2604


EOS, PAD = 1, 2


class ActorCritic(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embed = nn.Embedding(args.vocab, args.width)
        self.body = nn.GRU(args.width, args.width, batch_first=True)
        self.lm_head = nn.Linear(args.width, args.vocab)
        self.v_head = nn.Linear(args.width, 1)

    def forward(self, ids):
        hidden, _ = self.body(self.embed(ids))
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def normalize_advantages(advantages, mask):
    mean = advantages.mean()  # BUG GS605
    var = masked_mean((advantages - mean) ** 2, mask)
    return (advantages - mean) * torch.rsqrt(var + 1e-8)


def compute_gae(rewards, values, mask, gamma, lam):
    advantages = torch.zeros_like(rewards)
    carry = torch.zeros(rewards.shape[0])
    for t in reversed(range(rewards.shape[1])):
        last = t + 1 == rewards.shape[1]
        following = torch.zeros(rewards.shape[0]) if last else values[:, t + 1] * mask[:, t + 1]
        delta = rewards[:, t] + gamma * following - values[:, t]
        carry = (delta + gamma * lam * carry) * mask[:, t]
        advantages[:, t] = carry
    return advantages, (advantages + values) * mask


def selected_logps(logits, ids):
    return torch.log_softmax(logits, dim=-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def rollout(model, args):
    ids = torch.randint(3, args.vocab, (args.rows, 1))
    ended = torch.zeros(args.rows, dtype=torch.bool)
    mask = []
    for _ in range(args.longest):
        probs = torch.softmax(model(ids)[0][:, -1], dim=-1)
        token = torch.multinomial(probs, 1).squeeze(1)
        token = torch.where(ended, torch.full_like(token, PAD), token)
        mask.append(~ended)
        ended = ended | (token == EOS)
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    mask = torch.stack(mask, dim=1).float()
    score = ((ids[:, 1:] > 10).float() * mask).sum(1) / mask.sum(1)
    rewards = torch.zeros_like(mask)
    rewards[torch.arange(args.rows), mask.sum(1).long() - 1] = score
    logits, values = model(ids[:, :-1])
    advantages, returns = compute_gae(rewards, values, mask, args.gamma, args.lam)
    advantages = normalize_advantages(advantages, mask)
    return ids, mask, selected_logps(logits, ids[:, 1:]), advantages, returns, score.mean().item()


def train(args):
    torch.manual_seed(args.seed)
    model = ActorCritic(args)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for update in range(args.updates):
        ids, mask, old, advantages, returns, score = rollout(model, args)
        for _ in range(args.epochs):
            logits, values = model(ids[:, :-1])
            ratio = torch.exp(selected_logps(logits, ids[:, 1:]) - old)
            clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
            pg_loss = masked_mean(torch.max(-advantages * ratio, -advantages * clipped), mask)
            vf_loss = masked_mean((values - returns) ** 2, mask)
            optimizer.zero_grad()
            (pg_loss + args.vf_coef * vf_loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if update % 5 == 0:
            print(update, round(score, 3))


train(PPOArgs())
