"""Token-level training with a critic and answers padded on the right. The advantage estimator begins at the last column of the
batch, so what the critic says about padding flows back into the answers.

Round 23
Class: meaning
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

torch.manual_seed(2323)
EOS, PAD, VOCAB, WIDTH, TIME, BATCH = 1, 0, 12, 24, 10, 16


@dataclass
class Experience:
    ids: Tensor
    mask: Tensor
    logp: Tensor
    advantages: Tensor
    returns: Tensor


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.body = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.lm, self.value = nn.Linear(WIDTH, VOCAB), nn.Linear(WIDTH, 1)

    def forward(self, ids):
        hidden, _ = self.body(self.embed(ids))
        return self.lm(hidden), self.value(hidden).squeeze(-1)


def action_logp(logits, ids):
    return logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


def estimate(rewards, values, mask, gamma=1.0, lam=0.95):
    after = torch.cat([values[:, 1:], torch.zeros(len(values), 1)], dim=1)  # BUG GS805 GS806
    deltas = rewards + gamma * after - values  # BUG GS805 GS806
    advantages, carry = torch.zeros_like(deltas), torch.zeros(len(deltas))
    for t in reversed(range(TIME)):
        carry = deltas[:, t] + gamma * lam * carry  # BUG GS805 GS806
        advantages[:, t] = carry
    return advantages * mask, (advantages + values) * mask


@torch.no_grad()
def explore(model):
    ids, alive = torch.randint(2, VOCAB, (BATCH, 1)), torch.ones(BATCH, 1, dtype=torch.bool)
    mask = []
    for _ in range(TIME):
        word = model(ids)[0][:, -1].softmax(-1).multinomial(1)
        mask.append(alive)
        ids = torch.cat([ids, torch.where(alive, word, PAD)], 1)
        alive = alive & (word != EOS) & (torch.rand(BATCH, 1) > 0.1)
    mask = torch.cat(mask, 1).float()
    last = mask.sum(1, keepdim=True).long() - 1
    score = ((ids[:, 1:] > 7).float() * mask).sum(1, keepdim=True)
    rewards = torch.zeros(BATCH, TIME).scatter(1, last, score)
    logits, values = model(ids[:, :-1])
    advantages, returns = estimate(rewards, values, mask)
    return Experience(ids, mask, action_logp(logits, ids[:, 1:]), advantages, returns)


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(16):
    batch = explore(model)
    for _ in range(2):
        logits, values = model(batch.ids[:, :-1])
        ratio = (action_logp(logits, batch.ids[:, 1:]) - batch.logp).exp()
        gain = torch.min(ratio * batch.advantages, ratio.clamp(0.8, 1.2) * batch.advantages)
        errors = 0.5 * (values - batch.returns).square()
        loss = ((errors - gain) * batch.mask).sum() / batch.mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
