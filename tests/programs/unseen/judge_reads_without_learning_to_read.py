"""A reward model on pairs of answers: the body is run without gradients and only the scalar head learns, though the
optimizer owns the body and means to tune it. After huggingface/trl#5596 (a no_grad block inside the helper that the
loss uses), on the pairwise loss of CarperAI/trlx#308.

Round 27
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2707)

VOCAB, PAD, LENGTH, WIDTH = 20, 0, 10, 32


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, WIDTH)
        self.positions = nn.Embedding(LENGTH, WIDTH)
        self.block = nn.TransformerEncoderLayer(WIDTH, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, input_ids, attention_mask):
        n = input_ids.shape[1]
        x = self.tokens(input_ids) + self.positions(torch.arange(n))
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
        return self.norm(self.block(x, src_mask=causal, src_key_padding_mask=attention_mask == 0))


class RewardModel(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.score = nn.Linear(WIDTH, 1, bias=False)

    def forward(self, input_ids, attention_mask):
        with torch.no_grad():  # BUG GS202
            hidden = self.backbone(input_ids, attention_mask)  # BUG GS202
        last = attention_mask.sum(1) - 1
        pooled = hidden[torch.arange(len(last)), last]
        return self.score(pooled).squeeze(-1)


class Preferences:
    """The better answer repeats fewer words of its prompt."""

    def __init__(self, n):
        self.rows = [self.make() for _ in range(n)]

    def make(self):
        prompt = torch.randint(1, VOCAB, (3,))
        answers = []
        for share in (0.2, 0.7):
            size = int(torch.randint(3, LENGTH - 3, (1,)))
            fresh = torch.randint(1, VOCAB, (size,))
            copied = prompt[torch.randint(3, (size,))]
            answers.append(torch.cat([prompt, torch.where(torch.rand(size) < share, copied, fresh)]))
        return tuple(answers)

    def batches(self, size):
        order = torch.randperm(len(self.rows)).tolist()
        for start in range(0, len(order) - size + 1, size):
            rows = [self.rows[i] for i in order[start : start + size]]
            yield collate([r[0] for r in rows]), collate([r[1] for r in rows])


def collate(sequences):
    ids = torch.full((len(sequences), LENGTH), PAD)
    mask = torch.zeros(len(sequences), LENGTH, dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
        mask[row, : len(sequence)] = 1
    return ids, mask


def train(model, data, epochs=5):
    optimizer = torch.optim.AdamW(
        [
            {"params": model.backbone.parameters(), "lr": 1e-3},
            {"params": model.score.parameters(), "lr": 5e-3},
        ],
        weight_decay=0.01,
    )
    for epoch in range(epochs):
        right = total = 0
        for chosen, rejected in data.batches(16):
            reward_chosen = model(*chosen)
            reward_rejected = model(*rejected)
            loss = -F.logsigmoid(reward_chosen - reward_rejected).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            right += (reward_chosen > reward_rejected).sum().item()
            total += len(reward_chosen)
        print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {right / total:.3f}")


train(RewardModel(Backbone()), Preferences(128))
