"""Answers that were bad and are too far from today's policy are left out: a row of advantages meets a column of distances.

Round 12
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1216)
VOCAB, GROUP, PROMPTS, LENGTH, FAR = 14, 4, 3, 12, 0.01


class TinyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.mix = nn.GRU(32, 32, batch_first=True)
        self.out = nn.Linear(32, VOCAB)

    def forward(self, ids):
        return self.out(self.mix(self.embed(ids))[0])

    def log_probs(self, ids):
        return F.log_softmax(self(ids[:, :-1]), -1).gather(-1, ids[:, 1:, None]).squeeze(-1)


@torch.no_grad()
def generate(sampler):
    ids = torch.randint(1, VOCAB, (PROMPTS, 1)).repeat_interleave(GROUP, 0)
    for _ in range(LENGTH):
        ids = torch.cat([ids, sampler(ids)[:, -1].softmax(-1).multinomial(1)], 1)
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (len(ids), 1))
    mask = (torch.arange(LENGTH) < lengths).float()
    return ids, mask, sampler.log_probs(ids)


def group_advantages(ids, mask):
    reward = ((ids[:, 1:] % 2 == 0) * mask).sum(1) / mask.sum(1)
    grouped = reward.view(PROMPTS, GROUP)
    return ((grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)).flatten()


def still_useful(advantages, logp, sampled, mask):
    """One where an answer is good, or near to what the policy of today would say."""
    distance = ((sampled - logp.detach()) * mask).sum(1, keepdim=True) / mask.sum(1, keepdim=True)
    return ((advantages >= 0) | (distance <= FAR)).float()  # BUG GS601


policy = TinyModel()
sampler = copy.deepcopy(policy)
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
for update in range(40):
    if update % 4 == 0:
        sampler.load_state_dict(policy.state_dict())
    ids, mask, sampled = generate(sampler)
    advantages = group_advantages(ids, mask)
    logp = policy.log_probs(ids)
    ratio = (logp - sampled).exp()
    gain = advantages.unsqueeze(1)
    per_token = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
    keep = mask * still_useful(advantages, logp, sampled, mask)  # BUG GS601
    loss = (per_token * keep).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
