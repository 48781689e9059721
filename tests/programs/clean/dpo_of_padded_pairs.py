"""DPO: chosen and rejected answers in one padded batch, log-probabilities of the answers only, label smoothing,
and an SFT term on the chosen ones (RPO)."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH = 12, 8


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


def batch(n=4):
    tokens = torch.randint(1, VOCAB, (2 * n, LENGTH))
    lengths = torch.randint(4, LENGTH + 1, (2 * n, 1))
    positions = torch.arange(LENGTH)
    return tokens.masked_fill(positions >= lengths, 0), ((positions >= 3) & (positions < lengths)).float()


def answer_log_probs(model, tokens, mask):
    logp = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return (logp * mask[:, 1:]).sum(-1)


policy = TinyLM()
reference = copy.deepcopy(policy).eval()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=1e-3)
for _ in range(10):
    tokens, mask = batch()
    chosen, rejected = answer_log_probs(policy, tokens, mask).chunk(2)
    with torch.no_grad():
        ref_chosen, ref_rejected = answer_log_probs(reference, tokens, mask).chunk(2)
    margin = 0.1 * ((chosen - ref_chosen) - (rejected - ref_rejected))
    losses = -0.9 * F.logsigmoid(margin) - 0.1 * F.logsigmoid(-margin)
    sft = -(chosen / mask[:4, 1:].sum(-1)).mean()
    loss = losses.mean() + 0.2 * sft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
