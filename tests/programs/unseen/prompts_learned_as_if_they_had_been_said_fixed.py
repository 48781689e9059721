"""The repaired twin of a program in which the following goes wrong.
REINFORCE with a batch baseline on a language model: the loss is masked with the attention mask of the whole
sequence, so the words of the prompt, which nobody chose, are reinforced like the answer's. After
modelscope/ms-swift#3069 (the completion mask holds parts of the prompt).

Round 27
Class: llm-rl
"""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, EOS, VOCAB = 0, 1, 17


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


class CausalModel(nn.Module):
    """Decoder of one layer; prompts are padded on the left, so places are counted on the mask."""

    def __init__(self, width=32, places=16):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, width)
        self.pos = nn.Embedding(places, width)
        self.attn = nn.MultiheadAttention(width, 2, batch_first=True)
        self.ff = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
        self.out = nn.Linear(width, VOCAB)

    def forward(self, ids, mask):
        n = ids.shape[1]
        x = self.tok(ids) + self.pos((mask.cumsum(1) - 1).clamp(min=0))
        hidden = torch.triu(torch.ones(n, n, dtype=torch.bool), 1) | (mask == 0)[:, None, :]
        hidden = hidden & ~torch.eye(n, dtype=torch.bool)
        x = x + self.attn(x, x, x, attn_mask=hidden.repeat_interleave(2, 0), need_weights=False)[0]
        return self.out(x + self.ff(x))


def make_prompts(n, longest=5):
    ids, mask = torch.full((n, longest), PAD), torch.zeros(n, longest, dtype=torch.long)
    for row in range(n):
        size = random.randint(2, longest)
        ids[row, -size:] = torch.randint(2, VOCAB, (size,))
        mask[row, -size:] = 1
    return ids, mask


@torch.no_grad()
def rollout(model, n, new_tokens=6):
    ids, mask = make_prompts(n)
    prompt_length = ids.shape[1]
    alive = torch.ones(n, dtype=torch.long)
    for _ in range(new_tokens):
        logits = model(ids, mask)[:, -1]
        logits[:, PAD] = float("-inf")
        nxt = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
        nxt = torch.where(alive == 1, nxt, PAD)
        ids, mask = torch.cat([ids, nxt[:, None]], 1), torch.cat([mask, alive[:, None]], 1)
        alive = alive * (nxt != EOS).long()
    return ids, mask, prompt_length


def score(ids, mask, prompt_length):
    """Answers should keep rising."""
    answer, said = ids[:, prompt_length:], mask[:, prompt_length:]
    rises = (answer[:, 1:] > answer[:, :-1]).float() * said[:, 1:]
    return rises.sum(1) / 5


def policy_loss(model, ids, mask, prompt_length, advantages):
    logits = model(ids, mask)[:, :-1]
    forbidden = F.one_hot(torch.tensor(PAD), VOCAB).bool()
    logits = logits.masked_fill(forbidden, -1e9)
    targets = ids[:, 1:].clamp(min=EOS)
    log_probs = F.log_softmax(logits, -1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss_mask = mask[:, 1:].float()
    loss_mask[:, : prompt_length - 1] = 0.0
    return -(log_probs * advantages[:, None] * loss_mask).sum() / loss_mask.sum()


def main():
    seed_everything(2719)
    model = CausalModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(30):
        model.eval()
        ids, mask, prompt_length = rollout(model, 32)
        model.train()
        rewards = score(ids, mask, prompt_length)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        loss = policy_loss(model, ids, mask, prompt_length, advantages)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(
                step,
                f"reward {rewards.mean():.3f} length {mask[:, prompt_length:].sum(1).float().mean():.2f}",
            )


main()
