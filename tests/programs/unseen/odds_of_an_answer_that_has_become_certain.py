"""Odds-ratio preference optimisation under bfloat16 autocast: the log-probs stay in half words, round to zero once
the chosen answer is certain, and the logarithm of one minus their exponential is minus infinity. After
huggingface/trl#3237, hpcaitech/ColossalAI#6407 and huggingface/optimum-neuron#719.

Round 26
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, BETA, STEPS = 16, 48, 0.2, 70


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Parameter(torch.randn(8, WIDTH) * 0.02)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 96), nn.GELU(), nn.Linear(96, WIDTH))
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.words(ids) + self.places[: ids.shape[1]]
        q, k, v = self.qkv(self.norm1(x)).unsqueeze(1).chunk(3, dim=-1)
        x = x + self.merge(F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1))
        x = x + self.mlp(self.norm2(x))
        return self.head(self.norm3(x))


def pairs(count):
    prompt = torch.randint(0, VOCAB, (count, 1))
    chosen = (prompt + torch.arange(5)) % VOCAB
    rejected = (prompt - torch.arange(5)) % VOCAB
    return chosen, rejected


def average_logps(model, ids):
    """The mean log-prob of the answer: everything behind the first word."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(ids[:, :-1])
    logps = logits.log_softmax(dim=-1)  # BUG GS503
    return logps.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1).mean(dim=1)


def log_one_minus_exp(x):
    return torch.log1p(-torch.exp(x))  # BUG GS503


def orpo_loss(model, chosen, rejected):
    chosen_logps = average_logps(model, chosen)
    rejected_logps = average_logps(model, rejected)
    log_odds = chosen_logps - rejected_logps
    log_odds = log_odds - (log_one_minus_exp(chosen_logps) - log_one_minus_exp(rejected_logps))
    odds_term = -F.logsigmoid(log_odds).mean()
    return -chosen_logps.mean() + BETA * odds_term


def main():
    torch.manual_seed(2613)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, weight_decay=0.0)
    for step in range(STEPS):
        loss = orpo_loss(model, *pairs(16))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(step, round(loss.item(), 4))


main()
