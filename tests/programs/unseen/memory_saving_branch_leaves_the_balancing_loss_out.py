"""GRPO on a small mixture of experts: the branch with the chunked loss returns before the router's balancing loss is
added, and with one normalised expert per token nothing else trains the router. After huggingface/trl#7009.

Round 35
Class: llm-rl
"""

import random
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn

SEED = 3507
VOCAB, PROMPT_LEN, COMPLETION_LEN = 12, 3, 6


class SparseMoeBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.top_k, self.num_experts = config.num_experts_per_tok, config.num_experts
        self.gate = nn.Linear(config.dim, config.num_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(
                nn.Linear(config.dim, 2 * config.dim), nn.SiLU(), nn.Linear(2 * config.dim, config.dim)
            )
            for _ in range(config.num_experts)
        )

    def forward(self, x):
        flat = x.flatten(0, -2)
        router_logits = self.gate(flat)
        weights, chosen = router_logits.softmax(-1).topk(self.top_k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)  # BUG GS208 GS209
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows, slot = (chosen == i).nonzero(as_tuple=True)
            out = out.index_add(0, rows, expert(flat[rows]) * weights[rows, slot].unsqueeze(-1))
        return out.view_as(x), router_logits


def load_balancing_loss(router_logits, num_experts, top_k):
    probs = router_logits.softmax(-1)
    chosen = probs.topk(top_k, dim=-1).indices
    share = torch.zeros(num_experts).scatter_add(0, chosen.flatten(), torch.ones(chosen.numel()))
    return num_experts * (share / chosen.numel() * probs.mean(0)).sum()


class MoeForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(VOCAB, config.dim)
        self.rnn = nn.GRU(config.dim, config.dim, batch_first=True)
        self.moe = SparseMoeBlock(config)
        self.norm = nn.LayerNorm(config.dim)
        self.lm_head = nn.Linear(config.dim, VOCAB, bias=False)

    def hidden_states(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        mixed, router_logits = self.moe(hidden)
        return self.norm(hidden + mixed), router_logits

    def forward(self, ids):
        return self.lm_head(self.hidden_states(ids)[0])


class GRPOTrainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.aux_loss_enabled = args.router_aux_loss_coef > 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)  # BUG GS204

    @torch.no_grad()
    def generate(self):
        ids = torch.randint(VOCAB, (self.args.num_prompts, PROMPT_LEN))
        ids = ids.repeat_interleave(self.args.num_generations, 0)
        for _ in range(COMPLETION_LEN):
            ids = torch.cat([ids, torch.multinomial(self.model(ids)[:, -1].softmax(-1), 1)], dim=1)
        return ids

    def advantages(self, rewards):
        grouped = rewards.view(-1, self.args.num_generations)
        normed = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        return normed.view(-1)

    def policy_loss(self, hidden, labels, advantages):
        logp = self.model.lm_head(hidden).log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        return -((logp - logp.detach()).exp() * advantages.unsqueeze(-1)).sum() / labels.size(1)

    def compute_liger_loss(self, hidden, labels, advantages):
        """The logits of a few rows at a time, to keep the peak low."""
        rows = zip(hidden.split(8), labels.split(8), advantages.split(8))
        return sum(self.policy_loss(*chunk) for chunk in rows) / len(hidden)

    def compute_loss(self, ids, advantages):
        hidden, router_logits = self.model.hidden_states(ids)
        hidden, labels = hidden[:, PROMPT_LEN - 1 : -1], ids[:, PROMPT_LEN:]
        if self.args.use_liger_loss:
            return self.compute_liger_loss(hidden, labels, advantages)  # BUG GS204 GS208 GS209
        loss = self.policy_loss(hidden, labels, advantages) / len(hidden)
        if self.aux_loss_enabled:
            loss = loss + self.args.router_aux_loss_coef * self.auxiliary(router_logits)
        return loss

    def auxiliary(self, router_logits):
        config = self.model.config
        return load_balancing_loss(router_logits, config.num_experts, config.num_experts_per_tok)

    def train(self):
        for step in range(self.args.max_steps):
            ids = self.generate()
            rewards = (ids[:, PROMPT_LEN:] == ids[:, :1]).float().mean(-1)
            loss = self.compute_loss(ids, self.advantages(rewards))
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            if step % 20 == 19:
                print(f"step {step + 1} reward {rewards.mean():.3f}")


if __name__ == "__main__":
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    config = SimpleNamespace(dim=32, num_experts=4, num_experts_per_tok=1)
    args = SimpleNamespace(num_prompts=8, num_generations=6, use_liger_loss=True, max_steps=60)
    args.router_aux_loss_coef = 0.02
    GRPOTrainer(MoeForCausalLM(config), args).train()
