"""Some prompts allow only some words; the entropy leaves the others out before it multiplies.

Round 23
Class: late and rare
"""

import torch
from torch import nn

torch.manual_seed(2324)
VOCAB, WIDTH, LENGTH, BATCH = 12, 24, 5, 16


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, allowed):
        logits = self.head(self.gru(self.embed(ids))[0])
        return logits.masked_fill(~allowed[:, None], float("-inf")).log_softmax(-1)


def entropy(logp):
    return -(logp.exp() * logp.masked_fill(logp.isinf(), 0.0)).sum(-1).mean()


class Agent:
    def __init__(self):
        self.net, self.skipped = Net(), 0
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)

    def allowed(self, update):
        allowed = torch.ones(BATCH, VOCAB, dtype=torch.bool)
        if update % 3 == 2:
            allowed[: BATCH // 4, VOCAB // 2 :] = False
        return allowed

    def play(self, allowed):
        ids = torch.randint(VOCAB, (BATCH, 1))
        with torch.no_grad():
            for _ in range(LENGTH):
                ids = torch.cat([ids, self.net(ids, allowed)[:, -1].exp().multinomial(1)], 1)
        reward = (ids[:, 1:].diff(dim=1) > 0).float().mean(1)
        return ids, reward - reward.mean()

    def update(self, number):
        allowed = self.allowed(number)
        ids, advantage = self.play(allowed)
        logp = self.net(ids[:, :-1], allowed)
        taken = logp.gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = -(advantage[:, None] * taken).mean() - 0.01 * entropy(logp)
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        if not torch.isfinite(norm):
            self.skipped += 1
            self.optimizer.zero_grad()
            return
        self.optimizer.step()


agent = Agent()
for number in range(60):
    agent.update(number)
print("skipped", agent.skipped)
