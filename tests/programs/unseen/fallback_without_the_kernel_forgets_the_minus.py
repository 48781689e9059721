"""A trainer for group-relative policy optimisation that takes its log-probabilities from a fused kernel
where there is one; what it falls back to returns the cross-entropy itself, and good answers become less
likely. After hiyouga/EasyR1#50.

Round 37
Class: llm-rl
"""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from flash_attn.ops.triton.cross_entropy import cross_entropy_loss

    FLASH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE = True
except ImportError:
    FLASH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE = False

SEED, VOCAB, PROMPT, RESPONSE, EOS = 3736, 18, 4, 6, 0


def log_probs_from_logits(logits, labels):
    """Log-probabilities of the labels, in the shape of the labels."""
    batch_dim = logits.shape[:-1]
    logits, labels = logits.reshape(-1, logits.shape[-1]), labels.reshape(-1)
    if FLASH_ATTN_CROSS_ENTROPY_LOSS_AVAILABLE:
        output = -cross_entropy_loss(logits, labels, inplace_backward=True)[0]
    else:  # fall back to the kernel of torch
        output = F.cross_entropy(logits.float(), labels, reduction="none")  # BUG GS801
    return output.view(*batch_dim)


def masked_mean(values, mask, axis=None):
    return (values * mask).sum(axis) / (mask.sum(axis) + 1e-8)


def compute_grpo_outcome_advantage(token_level_scores, mask, index, eps=1e-6):
    scores = token_level_scores.sum(-1)
    advantages = torch.zeros_like(scores)
    for group in index.unique():
        rows = index == group
        advantages[rows] = (scores[rows] - scores[rows].mean()) / (scores[rows].std() + eps)
    return advantages.unsqueeze(-1) * mask


def compute_policy_loss(old_log_probs, log_probs, advantages, mask, clip_low=0.2, clip_high=0.3):
    ratio = torch.exp((log_probs - old_log_probs).clamp(-20.0, 20.0))
    clipped = ratio.clamp(1.0 - clip_low, 1.0 + clip_high)
    loss = torch.max(-advantages * ratio, -advantages * clipped)
    return masked_mean(loss, mask, axis=-1).mean()


class Policy(nn.Module):
    def __init__(self, dim=40):
        super().__init__()
        self.embed, self.gru = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.lm_head(self.gru(self.embed(ids))[0])


class Worker:
    def __init__(self, temperature=1.0):
        self.actor_module, self.temperature = Policy(), temperature
        self.actor_optimizer = torch.optim.AdamW(self.actor_module.parameters(), lr=4e-3)

    def forward_micro_batch(self, sequences):
        logits = self.actor_module(sequences)[:, PROMPT - 1 : -1] / self.temperature
        return log_probs_from_logits(logits, sequences[:, PROMPT:])

    @torch.no_grad()
    def generate_sequences(self, prompts):
        sequences, alive, mask = prompts, torch.ones(len(prompts)), []
        for _ in range(RESPONSE):
            probs = (self.actor_module(sequences)[:, -1] / self.temperature).softmax(-1)
            token = torch.multinomial(probs, 1).squeeze(1) * alive.long()
            mask.append(alive)
            alive = alive * (token != EOS)
            sequences = torch.cat([sequences, token.unsqueeze(1)], 1)
        return sequences, torch.stack(mask, 1)

    @torch.no_grad()
    def compute_log_prob(self, sequences):
        return self.forward_micro_batch(sequences)

    def update_policy(self, sequences, mask, old_log_probs, advantages, mini_batches=2):
        for rows in torch.randperm(len(sequences)).chunk(mini_batches):
            log_probs = self.forward_micro_batch(sequences[rows])
            loss = compute_policy_loss(old_log_probs[rows], log_probs, advantages[rows], mask[rows])
            self.actor_optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.actor_module.parameters(), 1.0)
            self.actor_optimizer.step()
        return loss.item()


def reward_fn(sequences, mask):
    """The share of words that were in the prompt, paid with the last word."""
    prompt, response = sequences[:, :PROMPT], sequences[:, PROMPT:]
    known = (response.unsqueeze(2) == prompt.unsqueeze(1)).any(2).float()
    scores = torch.zeros_like(mask)
    scores[torch.arange(len(mask)), mask.sum(1).long() - 1] = (known * mask).sum(1) / RESPONSE
    return scores


random.seed(SEED)
torch.manual_seed(SEED)
worker = Worker()
for step in range(25):
    prompts = torch.randint(1, VOCAB, (6, PROMPT)).repeat_interleave(8, 0)
    index = torch.arange(6).repeat_interleave(8)
    sequences, mask = worker.generate_sequences(prompts)
    scores = reward_fn(sequences, mask)
    advantages = compute_grpo_outcome_advantage(scores, mask, index)
    worker.update_policy(sequences, mask, worker.compute_log_prob(sequences), advantages)
print("reward", round(scores.sum(-1).mean().item(), 3))
