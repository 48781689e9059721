"""Group-relative training in micro-batches: the policy's term is divided by the tokens of the whole batch, the penalty
of the reference by the tokens of its own micro-batch.

Round 29
Class: llm-rl
"""

import copy

import torch
from torch import nn

VOCAB, EOS, WIDTH, PROMPT, MAX_NEW = 8, 0, 32, 3, 12
PROMPTS, GROUP, MICRO, BETA = 4, 4, 2, 0.5


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.head(self.gru(self.embed(ids))[0])

    def answer_logps(self, ids):
        logps = self(ids)[:, PROMPT - 1 : -1].log_softmax(-1)
        return logps.gather(-1, ids[:, PROMPT:].unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def generate(model, prompts):
    ids, alive = prompts, torch.ones(len(prompts), dtype=torch.bool)
    masks = []
    for _ in range(MAX_NEW):
        token = model(ids)[:, -1].softmax(-1).multinomial(1).squeeze(1)
        token = torch.where(alive, token, EOS)
        masks.append(alive.float())
        alive = alive & (token != EOS)
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    return ids, torch.stack(masks, dim=1)


def score(ids, mask):
    even = (ids[:, PROMPT:] % 2 == 0).float()
    return (even * mask).sum(1) / mask.sum(1)


torch.manual_seed(2920)
policy = Writer()
reference = copy.deepcopy(policy).requires_grad_(False)
optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-3)

for update in range(40):
    prompts = torch.randint(1, VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, dim=0)
    ids, mask = generate(policy, prompts)
    rewards = score(ids, mask).view(PROMPTS, GROUP)
    advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)
    with torch.no_grad():
        ref_logps = reference.answer_logps(ids)
    total_tokens = mask.sum()
    order = torch.randperm(len(ids))

    optimizer.zero_grad()
    for rows in order.split(MICRO):
        logps, m = policy.answer_logps(ids[rows]), mask[rows]
        ratio = torch.exp(logps - logps.detach())
        pg_loss = -(ratio * advantages[rows] * m).sum() / total_tokens
        gap = ref_logps[rows] - logps
        kl = torch.exp(gap) - gap - 1
        kl_loss = (kl * m).sum() / m.sum() / (len(ids) // MICRO)  # BUG GS407
        (pg_loss + BETA * kl_loss).backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
