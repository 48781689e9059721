"""A fused head and cross-entropy that computes its gradients in the forward, answer by answer; its backward hands
them out without the weight that comes in, so the advantages have no effect.

Round 23
Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(2305)
VOCAB, WIDTH, LENGTH, GROUP, PROMPTS = 12, 24, 7, 4, 3


class FusedAnswerLoss(torch.autograd.Function):
    """Negative log-likelihood of each answer, without keeping the logits."""

    @staticmethod
    def forward(ctx, hidden, weight, labels):
        logits = hidden @ weight.t()
        logp = logits.log_softmax(-1)
        nll = -logp.gather(-1, labels.unsqueeze(-1)).squeeze(-1).sum(1)
        slope = logp.exp()
        slope.scatter_add_(
            -1, labels.unsqueeze(-1), -torch.ones_like(labels, dtype=slope.dtype).unsqueeze(-1)
        )
        ctx.save_for_backward(slope, hidden, weight)
        return nll

    @staticmethod
    def backward(ctx, grad_output):  # BUG GS211
        slope, hidden, weight = ctx.saved_tensors
        grad_hidden = slope @ weight  # BUG GS211
        grad_weight = torch.einsum("btv,btw->vw", slope, hidden)  # BUG GS211
        return grad_hidden, grad_weight, None  # BUG GS211


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def nll(self, ids):
        hidden, _ = self.rnn(self.embed(ids[:, :-1]))
        return FusedAnswerLoss.apply(hidden, self.head.weight, ids[:, 1:])

    @torch.no_grad()
    def generate(self, first):
        ids = first
        for _ in range(LENGTH):
            hidden, _ = self.rnn(self.embed(ids))
            ids = torch.cat([ids, torch.multinomial(self.head(hidden[:, -1]).softmax(-1), 1)], 1)
        return ids


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
for step in range(40):
    first = torch.randint(0, VOCAB, (PROMPTS, 1)).repeat_interleave(GROUP, 0)
    ids = policy.generate(first)
    rewards = (ids[:, 1:] < 4).float().mean(1).view(PROMPTS, GROUP)
    advantages = (rewards - (rewards.sum(1, keepdim=True) - rewards) / (GROUP - 1)).flatten()
    loss = (advantages * policy.nll(ids)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
