"""Policy optimisation of answers of many lengths; the score is added at the last word of each answer.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Args:
    vocab: int = 12
    hidden: int = 32
    batch: int = 24
    max_new: int = 10
    kl_coef: float = 0.02
    gamma: float = 1.0
    lam: float = 0.95
    cliprange: float = 0.2
    ppo_epochs: int = 2
    steps: int = 22


EOS = 0


class PolicyWithValue(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.wte = nn.Embedding(a.vocab, a.hidden)
        self.rnn = nn.GRU(a.hidden, a.hidden, batch_first=True)
        self.lm_head = nn.Linear(a.hidden, a.vocab)
        self.value_head = nn.Linear(a.hidden, 1)

    def forward(self, ids):
        h = self.rnn(self.wte(ids))[0]
        return self.lm_head(h), self.value_head(h)[..., 0]


def gather_logps(logits, ids):
    return logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]


@torch.no_grad()
def generate(model, a):
    ids = torch.randint(1, a.vocab, (a.batch, 1))
    for _ in range(a.max_new):
        ids = torch.cat([ids, torch.multinomial(model(ids)[0][:, -1].softmax(-1), 1)], dim=1)
    ends = (ids[:, 1:] == EOS).long()
    mask = ((ends.cumsum(1) - ends) == 0).float()
    return ids, mask


def score_answers(ids, mask):
    return ((ids[:, 1:] == ids[:, :1]).float() * mask).sum(1)


def token_rewards(scores, logps, ref_logps, mask, a):
    rewards = -a.kl_coef * (logps - ref_logps) * mask
    rewards[torch.arange(len(scores)), mask.sum(1).long() - 1] += scores
    return rewards


def estimate(rewards, values, mask, a):
    values = values * mask
    lastgaelam = torch.zeros(len(rewards))
    reversed_advantages = []
    for t in reversed(range(a.max_new)):
        nextvalues = values[:, t + 1] if t < a.max_new - 1 else 0.0
        delta = rewards[:, t] + a.gamma * nextvalues - values[:, t]
        lastgaelam = (delta + a.gamma * a.lam * lastgaelam) * mask[:, t]
        reversed_advantages.append(lastgaelam)
    advantages = torch.stack(reversed_advantages[::-1], dim=1)
    return advantages, advantages + values


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def ppo_loss(model, ids, mask, old_logps, advantages, returns, a):
    logits, values = model(ids[:, :-1])
    ratio = (gather_logps(logits, ids[:, 1:]) - old_logps).exp()
    pg1 = -advantages * ratio
    pg2 = -advantages * ratio.clamp(1 - a.cliprange, 1 + a.cliprange)
    return masked_mean(torch.max(pg1, pg2), mask) + 0.1 * masked_mean((values - returns) ** 2, mask)


def main(a):
    torch.manual_seed(2612)
    model, reference = PolicyWithValue(a), PolicyWithValue(a)
    reference.load_state_dict(model.state_dict())
    reference.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(a.steps):
        ids, mask = generate(model, a)
        scores = score_answers(ids, mask)
        with torch.no_grad():
            logits, values = model(ids[:, :-1])
            old_logps = gather_logps(logits, ids[:, 1:])
            ref_logps = gather_logps(reference(ids[:, :-1])[0], ids[:, 1:])
        rewards = token_rewards(scores, old_logps, ref_logps, mask, a)
        advantages, returns = estimate(rewards, values, mask, a)
        mean = masked_mean(advantages, mask)
        advantages = (advantages - mean) / (masked_mean((advantages - mean) ** 2, mask) + 1e-8).sqrt()
        for _ in range(a.ppo_epochs):
            loss = ppo_loss(model, ids, mask, old_logps, advantages, returns, a)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 7 == 0:
            print(step, round(scores.mean().item(), 3))


main(Args())
