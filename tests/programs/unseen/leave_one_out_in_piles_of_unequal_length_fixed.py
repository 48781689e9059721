"""A language model learns with a leave-one-out baseline to close what it opened; an update sees sixteen
answers in four piles. Each pile's loss is divided by the words of all four piles.

Round 33
Class: llm-rl
"""

import torch
from torch import nn

PAD, BOS, OPEN, CLOSE, END = range(5)
MAX_LENGTH, PROMPTS, SAMPLES, PILES = 10, 4, 4, 4


class Bracketeer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(5, width)
        self.cell = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 5)
        self.register_buffer("never", torch.tensor([True, True, False, False, False]))

    def forward(self, ids):
        logits = self.head(self.cell(self.embed(ids))[0])
        return logits.masked_fill(self.never, -1e9).log_softmax(-1)


@torch.no_grad()
def rollout(model):
    opened = torch.randint(1, 4, (PROMPTS,)).repeat_interleave(SAMPLES)
    prompt = torch.full((len(opened), 4), BOS)
    for row, count in enumerate(opened):
        prompt[row, 4 - count :] = OPEN
    ids, alive = prompt, torch.ones(len(opened), 1, dtype=torch.bool)
    mask = torch.zeros_like(prompt, dtype=torch.bool)
    for _ in range(MAX_LENGTH):
        word = torch.multinomial(model(ids)[:, -1].exp(), 1)
        ids = torch.cat([ids, torch.where(alive, word, PAD)], 1)
        mask = torch.cat([mask, alive], 1)
        alive = alive & (word != END)
    return ids, mask


def reward_of(ids, mask):
    depth = (ids == OPEN).sum(1) - (ids == CLOSE).sum(1)
    ended = (ids == END).any(1)
    return ended.float() - 0.3 * depth.abs().float() - 0.02 * mask.sum(1).float()


def leave_one_out(rewards):
    grouped = rewards.view(PROMPTS, SAMPLES)
    baseline = (grouped.sum(1, keepdim=True) - grouped) / (SAMPLES - 1)
    return (grouped - baseline).flatten()


def update(model, optimizer):
    ids, mask = rollout(model)
    rewards = reward_of(ids, mask)
    advantages = leave_one_out(rewards)
    targets, target_mask = ids[:, 1:], mask[:, 1:].float()
    order = target_mask.sum(1).argsort()
    optimizer.zero_grad()
    words = target_mask.sum()
    for rows in order.chunk(PILES):
        log_probs = model(ids[rows, :-1]).gather(2, targets[rows].unsqueeze(2)).squeeze(2)
        pile_mask = target_mask[rows]
        token_loss = -log_probs * advantages[rows].unsqueeze(1) * pile_mask
        loss = token_loss.sum() / words
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return rewards.mean().item()


if __name__ == "__main__":
    torch.manual_seed(90)
    model = Bracketeer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    history = [update(model, optimizer) for _ in range(60)]
    for start in range(0, 60, 15):
        print(f"updates {start}-{start + 14}: reward {sum(history[start : start + 15]) / 15:.3f}")
