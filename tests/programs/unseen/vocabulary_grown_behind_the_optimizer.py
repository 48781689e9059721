"""Direct preference optimisation with two new words for the turns of a talk: the vocabulary is grown once the
optimizer has been made, which goes on to hold the embedding and the head that are no longer there.

Round 30
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3023)

WORDS, NEW_WORDS, WIDTH, BETA = 24, 2, 32, 0.2
ASKER, HELPER = WORDS, WORDS + 1


class TalkModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.mix = nn.GRU(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, talk):
        hidden, _ = self.mix(self.embed(talk))
        return self.head(self.norm(hidden))

    def grow_vocabulary(self, more):
        words, width = self.embed.weight.shape
        embed = nn.Embedding(words + more, width)  # BUG GS205 GS206
        head = nn.Linear(width, words + more, bias=False)  # BUG GS205 GS206
        with torch.no_grad():
            embed.weight[:words] = self.embed.weight
            embed.weight[words:] = self.embed.weight.mean(dim=0)
            head.weight[:words] = self.head.weight
            head.weight[words:] = self.head.weight.mean(dim=0)
        self.embed, self.head = embed, head


def preferences(pairs=32, length=5):
    """The helper should answer with words of the same parity as the asker's first word."""
    question = torch.randint(0, WORDS, (pairs, 3))
    parity = question[:, :1] % 2
    even = torch.randint(0, WORDS // 2, (2, pairs, length)) * 2
    asker, helper = torch.full((pairs, 1), ASKER), torch.full((pairs, 1), HELPER)
    start = torch.cat([asker, question, helper], dim=1)
    chosen = torch.cat([start, even[0] + parity], dim=1)
    rejected = torch.cat([start, even[1] + (1 - parity)], dim=1)
    return chosen, rejected


def log_prob_of_answer(model, talk, start=5):
    scores = model(talk[:, :-1]).log_softmax(dim=-1)
    taken = scores.gather(-1, talk[:, 1:].unsqueeze(-1)).squeeze(-1)
    return taken[:, start - 1 :].sum(dim=-1)


policy = TalkModel()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)  # BUG GS205 GS206
policy.grow_vocabulary(NEW_WORDS)  # BUG GS205 GS206
reference = copy.deepcopy(policy).eval().requires_grad_(False)

for step in range(60):
    chosen, rejected = preferences()
    with torch.no_grad():
        ref_margin = log_prob_of_answer(reference, chosen) - log_prob_of_answer(reference, rejected)
    margin = log_prob_of_answer(policy, chosen) - log_prob_of_answer(policy, rejected)
    loss = -F.logsigmoid(BETA * (margin - ref_margin)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.3f}, right {(margin > ref_margin).float().mean():.2f}")
