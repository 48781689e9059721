"""GRPO in micro-batches: the loss of every micro-batch is divided by its own number of tokens and the sum by the number
of micro-batches, so that a token weighs more in a micro-batch of short answers.

Round 28
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2824)

EOS, VOCAB, PROMPT, NEW = 0, 13, 3, 10
GROUP, PROMPTS, MICRO = 4, 6, 6


class Model(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.proj = nn.Linear(dim, VOCAB)

    def forward(self, x):
        return self.proj(self.gru(self.emb(x))[0])


@torch.no_grad()
def rollout(model):
    seq = torch.randint(1, VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, dim=0)
    for _ in range(NEW):
        probs = F.softmax(model(seq)[:, -1], dim=-1)
        seq = torch.cat([seq, torch.multinomial(probs, 1)], dim=1)
    completion = seq[:, PROMPT:]
    before_end = (completion == EOS).long().cumsum(1) - (completion == EOS).long()
    return seq, (before_end == 0).float()


def token_logps(model, seq):
    logits = model(seq[:, :-1])[:, PROMPT - 1 :]
    return -F.cross_entropy(logits.transpose(1, 2), seq[:, PROMPT:], reduction="none")


def rewards_for(seq, mask):
    """Odd words are good, and so is coming to an end."""
    odd = (seq[:, PROMPT:] % 2 == 1).float() * mask
    ended = ((seq[:, PROMPT:] == EOS).any(1)).float()
    return odd.sum(1) / mask.sum(1) + 0.3 * ended


def group_advantages(rewards):
    r = rewards.view(PROMPTS, GROUP)
    return ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)).reshape(-1, 1)


def policy_loss(logps, old_logps, advantages):
    ratio = torch.exp(logps - old_logps)
    return -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.28) * advantages)


def main():
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(16):
        seq, mask = rollout(model)
        rewards = rewards_for(seq, mask)
        advantages = group_advantages(rewards)
        with torch.no_grad():
            old_logps = token_logps(model, seq)

        for _ in range(2):
            micro_batches = torch.randperm(len(seq)).split(MICRO)
            optimizer.zero_grad()
            for rows in micro_batches:
                per_token = policy_loss(token_logps(model, seq[rows]), old_logps[rows], advantages[rows])
                loss = (per_token * mask[rows]).sum() / mask[rows].sum()  # BUG GS407
                loss = loss / len(micro_batches)  # BUG GS407
                loss.backward()  # BUG GS407
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 4 == 0:
            print(f"step {step}: reward {rewards.mean():.3f}, tokens {int(mask.sum())}")


main()
