"""GRPO on a small recurrent language model: without a GPU the log-probs come from a fallback that hands out the
cross-entropy as it is, which is the log-prob with the other sign. After hiyouga/EasyR1#50.

Round 35
Class: llm-rl
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3504
VOCAB, PROMPT, RESPONSE = 14, 4, 7
GROUP, PROMPTS = 6, 6
CLIP_LOW, CLIP_HIGH = 0.2, 0.28


def fused_log_probs(logits, labels):
    return logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)


def log_probs_from_logits(logits, labels):
    """Log-probs of the labels, [batch, length]."""
    if logits.is_cuda:
        return fused_log_probs(logits, labels)
    rows = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")  # BUG GS801
    return rows.view(labels.shape)  # BUG GS801


class CausalLM(nn.Module):
    def __init__(self, dim=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.lm_head(hidden)

    @torch.no_grad()
    def generate(self, prompts):
        ids = prompts
        for _ in range(RESPONSE):
            probs = self(ids)[:, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
        return ids


def reward_fn(ids):
    """Share of the response's tokens that occur in the prompt."""
    prompt, response = ids[:, :PROMPT], ids[:, PROMPT:]
    return (response.unsqueeze(-1) == prompt.unsqueeze(1)).any(-1).float().mean(-1)


class Actor:
    def __init__(self):
        self.module = CausalLM()
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=3e-3, weight_decay=0.0)

    def forward_micro_batch(self, ids):
        logits = self.module(ids)[:, PROMPT - 1 : -1]
        return log_probs_from_logits(logits, ids[:, PROMPT:])

    @torch.no_grad()
    def compute_log_prob(self, ids):
        return self.forward_micro_batch(ids)

    def update_policy(self, data):
        metrics = []
        for _ in range(2):
            for index in torch.randperm(len(data["ids"])).chunk(2):
                log_probs = self.forward_micro_batch(data["ids"][index])
                ratio = (log_probs - data["old_log_probs"][index]).exp()
                advantages = data["advantages"][index].unsqueeze(-1)
                clipped = ratio.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH)
                pg_loss = -torch.min(ratio * advantages, clipped * advantages).mean()  # BUG GS801
                self.optimizer.zero_grad()
                pg_loss.backward()
                nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
                self.optimizer.step()
                metrics.append(pg_loss.item())
        return sum(metrics) / len(metrics)


def group_advantages(rewards):
    groups = rewards.view(PROMPTS, GROUP)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.std(1, keepdim=True) + 1e-6)).view(-1)


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    actor = Actor()
    for step in range(20):
        prompts = torch.randint(VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, 0)
        ids = actor.module.generate(prompts)
        rewards = reward_fn(ids)
        data = {"ids": ids, "advantages": group_advantages(rewards)}
        data["old_log_probs"] = actor.compute_log_prob(ids)
        loss = actor.update_policy(data)
        if step % 5 == 4:
            print(f"step {step + 1} reward {rewards.mean():.3f} loss {loss:.4f}")


if __name__ == "__main__":
    main()
