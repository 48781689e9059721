"""Log-probabilities of the chosen tokens chunk by chunk, without keeping the logits: its backward gives the states
their gradient, and the head none. (After reports of fused losses: Liger issue 1082, VeOmni pull request 419.)"""

import torch
from torch import nn

torch.manual_seed(0)
VOCAB = 12


class ChunkedLogProb(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, targets):
        ctx.save_for_backward(hidden, weight, targets)
        parts = [
            (h @ weight.T).log_softmax(-1).gather(1, t[:, None]).squeeze(1)
            for h, t in zip(hidden.split(8), targets.split(8), strict=True)
        ]
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, grad):
        hidden, weight, targets = ctx.saved_tensors
        d_hidden, d_weight = torch.zeros_like(hidden), torch.zeros_like(weight)
        for start in range(0, len(hidden), 8):
            rows = slice(start, start + 8)
            p = (hidden[rows] @ weight.T).softmax(-1)
            d_logits = -p * grad[rows, None]
            d_logits.scatter_add_(1, targets[rows, None], grad[rows, None])
            d_hidden[rows] = d_logits @ weight
            d_weight += d_logits.T @ hidden[rows]
        return d_hidden, d_weight, None


trunk = nn.Sequential(nn.Embedding(VOCAB, 16), nn.Linear(16, 16), nn.Tanh())
head = nn.Linear(16, VOCAB, bias=False)
optimizer = torch.optim.AdamW([*trunk.parameters(), *head.parameters()], lr=1e-3)
for _ in range(12):
    tokens, advantages = torch.randint(VOCAB, (4, 7)), torch.randn(4, 1)
    hidden = trunk(tokens[:, :-1]).flatten(0, 1)
    logp = ChunkedLogProb.apply(hidden, head.weight, tokens[:, 1:].flatten()).view(4, 6)
    loss = -(advantages * logp).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
