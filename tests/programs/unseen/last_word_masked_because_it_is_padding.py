"""Supervised warm-up of a small chat model whose padding token is its end token: the labels are masked wherever
the id is the padding's, which takes the real end of every answer along, so the model never learns to stop.
After huggingface/trl#1623, huggingface/alignment-handbook#127 and mlabonne/llm-course#33.

Round 26
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, LONGEST = 24, 32, 14
BOS, EOS, SEP = 0, 1, 2
PAD = EOS  # BUG GS605


class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        batch, time, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, time, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, time, width))
        return x + self.mlp(self.norm2(x))


class ChatModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.Sequential(Block(WIDTH), Block(WIDTH))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def make_example(generator):
    """The answer repeats the question's words backwards."""
    count = int(torch.randint(2, 6, (1,), generator=generator))
    question = torch.randint(3, VOCAB, (count,), generator=generator).tolist()
    return [BOS, *question, SEP], [*reversed(question), EOS]


def collate(examples):
    rows = [prompt + answer for prompt, answer in examples]
    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), PAD)
    attention_mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    prompt_mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, (row, (prompt, _)) in enumerate(zip(rows, examples)):
        ids[i, : len(row)] = torch.tensor(row)
        attention_mask[i, : len(row)] = True
        prompt_mask[i, : len(prompt)] = True
    labels = ids.masked_fill(ids == PAD, -100)  # BUG GS605
    labels = labels.masked_fill(prompt_mask, -100)
    return {"ids": ids, "attention_mask": attention_mask, "labels": labels}


def training_step(model, optimizer, batch):
    logits = model(batch["ids"])[:, :-1]
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), batch["labels"][:, 1:].reshape(-1), ignore_index=-100)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


@torch.no_grad()
def answer_length(model, prompt):
    ids = torch.tensor([prompt])
    for _ in range(LONGEST - len(prompt)):
        ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
        if ids[0, -1] == EOS:
            break
    return ids.shape[1] - len(prompt)


if __name__ == "__main__":
    torch.manual_seed(2602)
    generator = torch.Generator().manual_seed(2602)
    model = ChatModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(60):
        batch = collate([make_example(generator) for _ in range(16)])
        loss = training_step(model, optimizer, batch)
        if step % 20 == 0:
            prompt, _ = make_example(generator)
            print(step, round(loss, 3), answer_length(model, prompt))
