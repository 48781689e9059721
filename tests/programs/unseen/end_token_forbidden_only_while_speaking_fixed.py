"""Policy optimisation with a shortest length; the end token is struck out where the answers are scored, too.

Round 26
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2608)

VOCAB, EOS, WIDTH = 12, 0, 32
ROWS, SHORTEST, LONGEST = 24, 4, 9
EPOCHS, CLIP, UPDATES = 3, 0.2, 25


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.lstm = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.out = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.out(self.lstm(self.embed(ids))[0])


def forbid_early_end(logits, place):
    """`place`: how many words of the answer stand before each of these logits."""
    early = (place < SHORTEST).unsqueeze(-1) & (torch.arange(VOCAB) == EOS)
    return logits.masked_fill(early, -1e9)


@torch.no_grad()
def write(model):
    ids = torch.randint(1, VOCAB, (ROWS, 1))
    alive, logps, mask = torch.ones(ROWS, dtype=torch.bool), [], []
    for place in range(LONGEST):
        logits = forbid_early_end(model(ids)[:, -1], torch.tensor(place))
        scores = F.log_softmax(logits, dim=-1)
        word = torch.multinomial(scores.exp(), 1)
        logps.append(scores.gather(1, word).squeeze(1))
        mask.append(alive)
        alive = alive & (word.squeeze(1) != EOS)
        ids = torch.cat([ids, word], dim=1)
    return ids, torch.stack(logps, 1), torch.stack(mask, 1).float()


def score(model, ids):
    logits = model(ids[:, :-1])
    scores = F.log_softmax(forbid_early_end(logits, torch.arange(LONGEST)), dim=-1)
    return scores.gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)


def reward_of(ids, mask):
    """Wants many different words, and few of them."""
    words = F.one_hot(ids[:, 1:], VOCAB) * mask.unsqueeze(-1)
    return (words.sum(1) > 0).float().sum(1) - 0.5 * mask.sum(1)


model = Writer()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for update in range(UPDATES):
    ids, old, mask = write(model)
    rewards = reward_of(ids, mask)
    advantages = ((rewards - rewards.mean()) / (rewards.std() + 1e-6)).unsqueeze(1)
    for _ in range(EPOCHS):
        ratio = torch.exp(score(model, ids) - old)
        limited = torch.clamp(ratio, 1.0 - CLIP, 1.0 + CLIP)
        loss = -(torch.min(ratio * advantages, limited * advantages) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if update % 5 == 0:
        print(f"{update} reward {rewards.mean():.3f} length {mask.sum(1).mean():.2f}")
