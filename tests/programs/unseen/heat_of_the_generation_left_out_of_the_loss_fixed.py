"""Leave-one-out policy gradients with two passes over every batch: answers are drawn and scored at the same
temperature.

Round 30
Class: llm-rl
"""

import math

import torch
from torch import nn

torch.manual_seed(3024)

vocab_size, d_model, n_prompt, n_answer = 14, 32, 3, 6
n_prompts, k, temperature, eps = 8, 4, 0.6, 0.2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        n = x.shape[1]
        weights = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(d_model)
        weights = weights.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -torch.inf)
        return self.out(weights.softmax(dim=-1) @ self.value(x))


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.where = nn.Parameter(0.1 * torch.randn(n_prompt + n_answer, d_model))
        self.attention, self.norm = Attention(), nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, 64), nn.SiLU(), nn.Linear(64, d_model))
        self.unembed = nn.Linear(d_model, vocab_size)

    def forward(self, ids):
        x = self.embed(ids) + self.where[: ids.shape[1]]
        x = x + self.attention(self.norm(x))
        return self.unembed(x + self.mlp(x))


def rises(answers):
    """A verifiable reward: in how many places does the answer go up?"""
    return (answers[:, 1:] > answers[:, :-1]).float().sum(dim=1)


@torch.inference_mode()
def write(writer, prompts):
    ids, kept = prompts, []
    for _ in range(n_answer):
        logprobs = torch.log_softmax(writer(ids)[:, -1] / temperature, dim=-1)
        token = torch.multinomial(logprobs.exp(), 1)
        kept.append(logprobs.gather(1, token))
        ids = torch.cat([ids, token], dim=1)
    return ids, torch.cat(kept, dim=1)


def leave_one_out(rewards):
    groups = rewards.view(n_prompts, k)
    others = (groups.sum(dim=1, keepdim=True) - groups) / (k - 1)
    return (groups - others).view(-1, 1)


def per_token_logps(writer, ids):
    logits = writer(ids[:, :-1])[:, n_prompt - 1 :] / temperature
    return torch.log_softmax(logits, dim=-1).gather(2, ids[:, n_prompt:, None]).squeeze(2)


writer = Writer()
optimizer = torch.optim.Adam(writer.parameters(), lr=1e-3)
for update in range(25):
    prompts = torch.randint(vocab_size, (n_prompts, n_prompt)).repeat_interleave(k, dim=0)
    generated, kept = write(writer, prompts)
    ids, old_logps = generated.clone(), kept.clone()
    rewards = rises(ids[:, n_prompt:])
    advantages = leave_one_out(rewards)
    for _ in range(2):
        ratio = torch.exp(per_token_logps(writer, ids) - old_logps)
        objective = torch.min(ratio * advantages, ratio.clamp(1 - eps, 1 + eps) * advantages)
        optimizer.zero_grad()
        (-objective.mean()).backward()
        nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimizer.step()
    if update % 8 == 0:
        print(f"update {update}: reward {rewards.mean().item():.2f}")
