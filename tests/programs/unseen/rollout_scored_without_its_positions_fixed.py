"""Prompts are padded on the left: generation and training count positions from the first real token, the scoring of the
Repaired here.
rollout counts them from the padding, so the stored log-probs belong to another model.

Round 14
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

PAD, VOCAB, DIM, PROMPT, ANSWER, BATCH = 0, 12, 24, 6, 5, 10


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, DIM), nn.Embedding(PROMPT + ANSWER, DIM)
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM, bias=False), nn.Linear(DIM, DIM)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))
        self.lm_head, self.v_head = nn.Linear(DIM, VOCAB, bias=False), nn.Linear(DIM, 1)

    def forward(self, tokens, attention_mask, position_ids=None):
        length = tokens.shape[1]
        if position_ids is None:
            position_ids = torch.arange(length).expand_as(tokens)
        x = self.wte(tokens) + self.wpe(position_ids)
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        allowed = torch.ones(length, length).tril().bool() & attention_mask.bool().unsqueeze(1)
        scores = (q @ k.transpose(1, 2) / DIM**0.5).masked_fill(~allowed, -1e9)
        x = x + self.out(scores.softmax(-1) @ v)
        x = x + self.mlp(x)
        return self.lm_head(x), self.v_head(x).squeeze(-1)


def positions_of(attention_mask):
    return (attention_mask.cumsum(-1) - 1).clamp(min=0)


def logprobs_of_labels(logits, labels):
    return F.log_softmax(logits, dim=-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


class PPOTrainer:
    gamma, lam, cliprange, vf_coef = 1.0, 0.95, 0.2, 0.5

    def __init__(self):
        self.model = TinyLM()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=3e-3, weight_decay=0.0)
        self.stats = {}

    def prompts(self):
        tokens = torch.randint(2, VOCAB, (BATCH, PROMPT))
        lengths = torch.randint(2, PROMPT + 1, (BATCH, 1))
        return tokens.masked_fill(torch.arange(PROMPT) < PROMPT - lengths, PAD)

    @torch.no_grad()
    def generate(self, tokens):
        for _ in range(ANSWER):
            mask = tokens.ne(PAD).long()
            logits, _ = self.model(tokens, mask, positions_of(mask))
            logits[:, -1, PAD] = -1e9
            tokens = torch.cat([tokens, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
        return tokens

    def reward(self, tokens):
        wanted = tokens[:, PROMPT - 1 : PROMPT]
        return tokens[:, PROMPT:].eq(wanted).float()

    @torch.no_grad()
    def make_experience(self):
        tokens = self.generate(self.prompts())
        attention_mask = tokens.ne(PAD).long()
        logits, values = self.model(tokens, attention_mask, positions_of(attention_mask))
        logprobs = logprobs_of_labels(logits[:, :-1], tokens[:, 1:])[:, PROMPT - 1 :]
        values, rewards = values[:, PROMPT - 1 : -1], self.reward(tokens)
        advantages, running, after = torch.zeros_like(values), torch.zeros(BATCH), torch.zeros(BATCH)
        for t in reversed(range(ANSWER)):
            running = rewards[:, t] + self.gamma * after - values[:, t] + self.gamma * self.lam * running
            advantages[:, t], after = running, values[:, t]
        self.stats["reward"] = rewards.mean().item()
        whitened = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return tokens, logprobs, whitened, advantages + values

    def loss(self, tokens, old_logprobs, advantages, returns):
        attention_mask = tokens.ne(PAD).long()
        logits, values = self.model(tokens, attention_mask, positions_of(attention_mask))
        logprobs = logprobs_of_labels(logits[:, :-1], tokens[:, 1:])[:, PROMPT - 1 :]
        ratio = torch.exp(logprobs - old_logprobs)
        clipped = ratio.clamp(1 - self.cliprange, 1 + self.cliprange)
        pg_loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
        vf_loss = (values[:, PROMPT - 1 : -1] - returns).pow(2).mean()
        return pg_loss + self.vf_coef * vf_loss

    def learn(self, rounds, epochs=3):
        for _ in range(rounds):
            experience = self.make_experience()
            for _ in range(epochs):
                loss = self.loss(*experience)
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
            self.stats["loss"] = loss.item()


torch.manual_seed(1409)
trainer = PPOTrainer()
trainer.learn(20)
print(trainer.stats)
