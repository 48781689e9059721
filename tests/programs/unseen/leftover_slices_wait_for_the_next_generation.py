"""A model of short sums is improved on its own best answers: generate, keep what was right, learn it in
slices with accumulated gradients. The number of kept answers varies, the slices that do not fill a window
leave their gradients behind, and the first step of the next generation takes them along.

Round 33
Class: late and rare
"""

import torch
from torch import nn
from torch.nn import functional as F

DIGITS, PLUS, EQUALS = 10, 10, 11
SLICE, WINDOW, GENERATIONS, ASKED = 6, 3, 16, 96


class SumModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embed = nn.Embedding(12, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, DIGITS)

    def forward(self, ids):
        return self.head(self.gru(self.embed(ids))[0][:, -2:])


def questions(count):
    left, right = torch.randint(3, (count,)), torch.randint(3, (count,))
    plus, equals = torch.full_like(left, PLUS), torch.full_like(left, EQUALS)
    return torch.stack([left, plus, right, equals], 1)


@torch.no_grad()
def best_answers(model, asked, tries=3):
    """Two digits for every question; the first try whose last digit is right is kept."""
    prompts = questions(asked)
    wanted = (prompts[:, 0] + prompts[:, 2]) % 10
    kept_prompts, kept_answers, open_rows = [], [], torch.arange(asked)
    for _ in range(tries):
        ids = prompts[open_rows]
        first = torch.multinomial(model(ids)[:, -1].softmax(-1), 1)
        second = torch.multinomial(model(torch.cat([ids, first], 1))[:, -1].softmax(-1), 1)
        answer = torch.cat([first, second], 1)
        good = answer[:, 1] == wanted[open_rows]
        kept_prompts.append(ids[good])
        kept_answers.append(answer[good])
        open_rows = open_rows[~good]
    return torch.cat(kept_prompts), torch.cat(kept_answers)


def slice_loss(model, prompts, answers):
    logits = model(torch.cat([prompts, answers[:, :1]], 1))
    return F.cross_entropy(logits.transpose(1, 2), answers)


def learn(model, optimizer, prompts, answers):
    order = torch.randperm(len(prompts))
    whole = len(prompts) // SLICE * SLICE
    slices = order[:whole].view(-1, SLICE)  # BUG GS401
    for i, rows in enumerate(slices):
        loss = slice_loss(model, prompts[rows], answers[rows])
        (loss / WINDOW).backward()  # BUG GS401
        if (i + 1) % WINDOW == 0:  # BUG GS401
            optimizer.step()  # BUG GS401
            optimizer.zero_grad()
    return len(slices)


def main():
    torch.manual_seed(18)
    model = SumModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for generation in range(GENERATIONS):
        prompts, answers = best_answers(model, ASKED)
        slices = learn(model, optimizer, prompts, answers)
        if generation % 4 == 3:
            print(f"generation {generation + 1}: kept {len(prompts)} answers, {slices} slices")


main()
