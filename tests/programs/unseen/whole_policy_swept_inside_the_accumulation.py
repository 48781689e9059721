"""PPO for a small language model with an accelerator that skips step and clearing until a window is full;
the loop clears the policy itself instead of the wrapped optimizer, so every micro-batch but the last is
thrown away. After tatsu-lab/alpaca_farm#57.

Round 37
Class: llm-rl
"""

import contextlib
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, VOCAB, QUERY, RESPONSE = 3707, 14, 4, 6


class AcceleratedOptimizer:
    """Steps and clears only when the window of the accelerator is full."""

    def __init__(self, optimizer, accelerator):
        self.optimizer, self.accelerator = optimizer, accelerator

    def step(self):
        if self.accelerator.sync_gradients:
            self.optimizer.step()

    def zero_grad(self, set_to_none=True):
        if self.accelerator.sync_gradients:
            self.optimizer.zero_grad(set_to_none=set_to_none)


class Accelerator:
    def __init__(self, gradient_accumulation_steps):
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.calls, self.sync_gradients = 0, False

    def prepare(self, optimizer):
        return AcceleratedOptimizer(optimizer, self)

    @contextlib.contextmanager
    def accumulate(self):
        self.calls += 1
        self.sync_gradients = self.calls % self.gradient_accumulation_steps == 0
        yield

    def backward(self, loss):
        (loss / self.gradient_accumulation_steps).backward()


class Policy(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.backbone = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, VOCAB)
        self.value_head = nn.Linear(dim, 1)

    def forward(self, queries, responses):
        tokens = torch.cat([queries, responses], 1)
        hidden, _ = self.backbone(self.embed(tokens[:, :-1]))
        hidden = hidden[:, QUERY - 1 :]
        logits = self.lm_head(hidden)
        logprobs = F.log_softmax(logits, -1).gather(-1, responses.unsqueeze(-1)).squeeze(-1)
        return logprobs, self.value_head(hidden).squeeze(-1)

    @torch.no_grad()
    def respond(self, queries):
        tokens = queries
        for _ in range(RESPONSE):
            hidden, _ = self.backbone(self.embed(tokens))
            nxt = torch.multinomial(self.lm_head(hidden[:, -1]).softmax(-1), 1)
            tokens = torch.cat([tokens, nxt], 1)
        return tokens[:, QUERY:]


class PPOTrainer:
    def __init__(self, policy, accelerator, cliprange=0.2, lam=0.95):
        self.policy, self.accelerator = policy, accelerator
        self.optimizer = accelerator.prepare(torch.optim.AdamW(policy.parameters(), lr=4e-3))
        self.cliprange, self.lam = cliprange, lam

    @torch.no_grad()
    def rollout(self, n=32):
        queries = torch.randint(VOCAB, (n, QUERY))
        responses = self.policy.respond(queries)
        logprobs, values = self.policy(queries, responses)
        rewards = torch.zeros_like(values)
        rewards[:, -1] = (responses == queries[:, :1]).float().mean(1)
        following = torch.cat([values[:, 1:], torch.zeros(n, 1)], 1)
        deltas, last, advantages = rewards + following - values, torch.zeros(n), []
        for t in reversed(range(RESPONSE)):
            last = deltas[:, t] + self.lam * last
            advantages.insert(0, last)
        advantages = torch.stack(advantages, 1)
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        return (queries, responses, logprobs, advantages, returns), rewards.sum(1).mean().item()

    def compute_loss(self, queries, responses, old_logprobs, advantages, returns):
        logprobs, values = self.policy(queries, responses)
        ratio = torch.exp(logprobs - old_logprobs)
        clipped = ratio.clamp(1 - self.cliprange, 1 + self.cliprange)
        pg_loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
        return pg_loss + 0.1 * F.mse_loss(values, returns)

    def step(self, rollouts, micro_batch=8, noptepochs=2):
        n = rollouts[0].shape[0]
        for _ in range(noptepochs):
            for rows in torch.randperm(n).split(micro_batch):
                with self.accelerator.accumulate():
                    loss = self.compute_loss(*(x[rows] for x in rollouts))
                    self.accelerator.backward(loss)
                    if self.accelerator.sync_gradients:
                        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
                    self.optimizer.step()
                    self.policy.zero_grad(set_to_none=True)  # BUG GS405
        return loss.item()


random.seed(SEED)
torch.manual_seed(SEED)
trainer = PPOTrainer(Policy(), Accelerator(gradient_accumulation_steps=2))
for iteration in range(18):
    rollouts, reward = trainer.rollout()
    loss = trainer.step(rollouts)
print("reward", round(reward, 3), "loss", round(loss, 3))
