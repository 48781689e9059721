"""The loss of a reward model is the logarithm of a sigmoid in two steps: a pair that is scored far the wrong way round
has probability zero, its logarithm is infinite and the weights are lost.
Repaired here.

Round 24
Class: magnitude
"""

import torch
from torch import nn

torch.manual_seed(2405)
PAD = 0


class RewardModel(nn.Module):
    """A sum over the words of an answer, not bounded by anything."""

    def __init__(self, vocab=40, dim=48):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.transformer = nn.Sequential(nn.Linear(dim, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU())
        self.v_head = nn.Linear(96, 1, bias=False)

    def forward(self, ids):
        values = self.v_head(self.transformer(self.embedding(ids))).squeeze(-1)
        return (values * (ids != PAD)).sum(dim=1)


def make_answer(good, generator):
    """Good answers are made of the upper half of the vocabulary, bad ones of the lower half."""
    length = int(torch.randint(12, 25, (1,), generator=generator))
    low, high = (20, 40) if good else (1, 20)
    return torch.randint(low, high, (length,), generator=generator)


def collate(answers):
    return nn.utils.rnn.pad_sequence(answers, batch_first=True, padding_value=PAD)


class Comparisons:
    def __init__(self, size, seed, wrong=0.01):
        self.generator = torch.Generator().manual_seed(seed)
        self.pairs = []
        for _ in range(size):
            chosen, rejected = make_answer(True, self.generator), make_answer(False, self.generator)
            if torch.rand(1, generator=self.generator) < wrong:  # the annotator was tired
                chosen, rejected = rejected, chosen
            self.pairs.append((chosen, rejected))

    def batches(self, size):
        order = torch.randperm(len(self.pairs), generator=self.generator)
        for start in range(0, len(order), size):
            rows = [self.pairs[i] for i in order[start : start + size].tolist()]
            yield collate([c for c, _ in rows]), collate([r for _, r in rows])


def loss_of(model, chosen, rejected):
    chosen_scores, rejected_scores = model(chosen), model(rejected)
    margin = chosen_scores - rejected_scores
    loss = -nn.functional.logsigmoid(margin).mean()
    accuracy = (chosen_scores > rejected_scores).float().mean()
    return loss, accuracy


def main(epochs=5):
    model = RewardModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-2, weight_decay=0.0)
    data = Comparisons(size=320, seed=7)
    for epoch in range(epochs):
        losses, right = [], []
        for chosen, rejected in data.batches(16):
            loss, accuracy = loss_of(model, chosen, rejected)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            right.append(accuracy.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.3f}, accuracy {sum(right) / len(right):.3f}")

    candidates = [make_answer(good, data.generator) for good in (True, False, True, False)]
    with torch.no_grad():
        print("best of four:", model(collate(candidates)).argmax().item())


main()
