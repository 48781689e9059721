"""Both readers of the logits divide them by the temperature where they lie. The rollout reads them once; the update reads
them for the entropy first, and its log-probabilities come out cooled twice.

Round 23
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(2309)
TEMPERATURE, VOCAB, WIDTH, ANSWER, BATCH = 0.6, 12, 24, 6, 16


def log_probs_from(logits, ids, temperature=TEMPERATURE):
    logits.div_(temperature)  # BUG GS803
    return torch.log_softmax(logits, dim=-1).gather(-1, ids[..., None])[..., 0]


def entropy_from(logits, temperature=TEMPERATURE):
    logits.div_(temperature)  # BUG GS803
    logp = torch.log_softmax(logits, dim=-1)
    return -(logp.exp() * logp).sum(-1)


class Chat(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.mix = nn.Conv1d(WIDTH, WIDTH, kernel_size=3)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.words(ids).mT
        x = torch.tanh(self.mix(nn.functional.pad(x, (2, 0)))).mT
        return self.head(x)


@torch.no_grad()
def rollout(chat):
    ids = torch.randint(VOCAB, (BATCH, 1))
    for _ in range(ANSWER):
        probs = (chat(ids)[:, -1] / TEMPERATURE).softmax(-1)
        ids = torch.cat([ids, probs.multinomial(1)], dim=1)
    old = log_probs_from(chat(ids[:, :-1]), ids[:, 1:])
    reward = (ids[:, 1:] == (ids[:, :-1] + 1) % VOCAB).float().sum(1)
    return ids, old, (reward - reward.mean()) / (reward.std() + 1e-5)


chat = Chat()
optimizer = torch.optim.Adam(chat.parameters(), lr=2e-3)
for iteration in range(20):
    ids, old, advantage = rollout(chat)
    for epoch in range(2):
        logits = chat(ids[:, :-1])
        entropy = entropy_from(logits).mean()
        new = log_probs_from(logits, ids[:, 1:])
        ratio = (new - old).exp()
        gain = torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None]).mean()
        loss = -gain - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
