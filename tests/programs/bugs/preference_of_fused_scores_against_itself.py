"""DPO with a fused last layer (no logits to be seen): the reference is the policy under another name."""

import torch
from torch import nn

torch.manual_seed(3)
VOCABULARY, WIDTH = 11, 16


class TokenScores(torch.autograd.Function):
    """log p(token) for `hidden @ weight.T`, a few rows of the vocabulary at a time."""

    @staticmethod
    def forward(ctx, hidden, weight, tokens, temperature):
        total = torch.full(tokens.shape, -float("inf"))
        chosen = torch.zeros(tokens.shape)
        for start in range(0, len(weight), 4):
            part = hidden @ weight[start : start + 4].t() / temperature
            total = torch.logaddexp(total, part.logsumexp(-1))
            local = tokens - start
            here = (local >= 0) & (local < part.shape[-1])
            picked = part.gather(-1, local.clamp(0, part.shape[-1] - 1).unsqueeze(-1)).squeeze(-1)
            chosen = torch.where(here, picked, chosen)
        ctx.save_for_backward(hidden, weight, tokens, total)
        ctx.temperature = temperature
        return chosen - total

    @staticmethod
    def backward(ctx, grad):
        hidden, weight, tokens, total = ctx.saved_tensors
        probs = (hidden @ weight.t() / ctx.temperature - total.unsqueeze(-1)).exp()
        share = nn.functional.one_hot(tokens, len(weight)) - probs
        share = share * grad.unsqueeze(-1) / ctx.temperature
        return share @ weight, share.flatten(0, -2).t() @ hidden.flatten(0, -2), None, None


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def scores(self, tokens):
        hidden, _ = self.body(self.embed(tokens[:, :-1]))
        return TokenScores.apply(hidden, self.head.weight, tokens[:, 1:], 0.9).sum(1)


policy = Writer()
reference = policy  # BUG GS808
opt = torch.optim.AdamW(policy.parameters(), lr=1e-2)

for step in range(20):
    chosen, rejected = torch.randint(VOCABULARY, (8, 7)), torch.randint(VOCABULARY, (8, 7))
    with torch.no_grad():
        kept = reference.scores(chosen) - reference.scores(rejected)  # BUG GS808
    margin = policy.scores(chosen) - policy.scores(rejected) - kept
    loss = -nn.functional.logsigmoid(0.1 * margin).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
