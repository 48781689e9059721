"""REINFORCE with a leave-one-out baseline: the divergence from the reference is a number in the reward.

Round 28
Class: llm-rl
"""

import copy

import torch
from torch import nn

torch.manual_seed(2821)


class Config:
    vocab, width = 17, 36
    prompt_len, answer_len = 3, 6
    prompts, k = 6, 4
    kl_coef, lr, steps = 0.1, 2e-3, 24


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.token = nn.Embedding(c.vocab, c.width)
        self.place = nn.Parameter(0.02 * torch.randn(c.prompt_len + c.answer_len, c.width))
        self.attention = nn.MultiheadAttention(c.width, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(c.width, 64), nn.GELU(), nn.Linear(64, c.width))
        self.norm = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, c.vocab)

    def forward(self, ids):
        n = ids.size(1)
        x = self.token(ids) + self.place[:n]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        h = self.norm(x)
        x = x + self.attention(h, h, h, attn_mask=future, need_weights=False)[0]
        return self.head(x + self.mlp(x))


class RLOO:
    def __init__(self, c):
        self.c = c
        self.policy = Decoder(c)
        self.reference = copy.deepcopy(self.policy)
        for p in self.reference.parameters():
            p.requires_grad_(False)
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=c.lr)

    def sequence_log_prob(self, model, ids):
        logits = model(ids[:, :-1])[:, self.c.prompt_len - 1 :]
        words = ids[:, self.c.prompt_len :].unsqueeze(-1)
        return logits.log_softmax(-1).gather(-1, words).squeeze(-1).sum(1)

    @torch.no_grad()
    def answer(self):
        c = self.c
        ids = torch.randint(0, c.vocab, (c.prompts, c.prompt_len)).repeat_interleave(c.k, 0)
        for _ in range(c.answer_len):
            p = self.policy(ids)[:, -1].softmax(-1)
            ids = torch.cat([ids, torch.multinomial(p, 1)], 1)
        return ids

    def judge(self, ids):
        """Distinct words are wanted."""
        answers = ids[:, self.c.prompt_len :].sort(1).values
        return (answers[:, 1:] != answers[:, :-1]).float().mean(1)

    def update(self):
        c = self.c
        ids = self.answer()
        scores = self.judge(ids)
        logp = self.sequence_log_prob(self.policy, ids)
        with torch.no_grad():
            ref_logp = self.sequence_log_prob(self.reference, ids)
        kl = logp.detach() - ref_logp
        rewards = scores - c.kl_coef * kl
        grouped = rewards.view(c.prompts, c.k)
        baseline = (grouped.sum(1, keepdim=True) - grouped) / (c.k - 1)
        advantages = (grouped - baseline).flatten()
        loss = -(advantages * logp).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.opt.step()
        return scores.mean().item(), kl.mean().item()


trainer = RLOO(Config())
for step in range(Config.steps):
    score, kl = trainer.update()
    if step % 6 == 0:
        print(f"step {step}: score {score:.3f}, kl {kl:.3f}")
