"""RLOO: the baseline of each answer is the mean of the others of its prompt; the KL is part of the reward, the
log-probability is that of the whole answer, and there is one update per batch."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, PROMPT, ANSWER, K = 12, 3, 4, 4


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class TinyLM(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB, bias=False)
        self.layers = nn.ModuleList([Block(width), Block(width)])

    def hidden(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


def answer_log_prob(model, tokens, mask):
    logp = model(tokens[:, :-1])[:, PROMPT - 1 :].log_softmax(-1)
    return (logp.gather(-1, tokens[:, PROMPT:, None]).squeeze(-1) * mask).sum(1)


policy = TinyLM()
reference = copy.deepcopy(policy)
for p in reference.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 12)
for _ in range(12):
    tokens = torch.randint(1, VOCAB, (2, PROMPT)).repeat(K, 1)
    with torch.no_grad():
        for _ in range(ANSWER):
            chosen = torch.multinomial(policy(tokens)[:, -1].softmax(-1), 1)
            tokens = torch.cat([tokens, chosen], 1)
        mask = torch.ones(2 * K, ANSWER)
        old, ref = (answer_log_prob(m, tokens, mask) for m in (policy, reference))
        score = (tokens[:, PROMPT:] == 5).float().sum(1) - 0.05 * (old - ref)
        score = score.view(K, 2)
        baseline = (score.sum(0) - score) / (K - 1)
        advantage = (score - baseline).flatten()
    new = answer_log_prob(policy, tokens, mask)
    ratio = torch.exp(new - old)
    loss = torch.max(-ratio * advantage, -ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
