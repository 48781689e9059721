"""A policy whose adapters were fine-tuned on demonstrations goes on with RL. The reference is the policy with its
adapters switched off, which is the model from before the fine-tuning, and the KL is large from the first step on.
After huggingface/trl#1340, huggingface/trl#3194 and huggingface/trl#495.

Round 27
Class: llm-rl
"""

import copy
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2718)
VOCAB, WIDTH, PROMPT, ANSWER, RANK = 14, 32, 2, 6, 4
BETA, GROUP, PROMPTS = 0.1, 6, 4


class LoraLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.base = nn.Linear(n_in, n_out)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(RANK, n_in) / n_in**0.5)
        self.lora_B = nn.Parameter(torch.zeros(n_out, RANK))
        self.enabled = True

    def forward(self, x):
        out = self.base(x)
        if self.enabled:
            out = out + 2.0 * (x @ self.lora_A.T @ self.lora_B.T)
        return out


class PeftLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH).requires_grad_(False)
        self.mix = nn.GRU(WIDTH, WIDTH, batch_first=True).requires_grad_(False)
        self.up = LoraLinear(WIDTH, WIDTH)
        self.head = LoraLinear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.head(torch.tanh(self.up(self.mix(self.embed(ids))[0])))

    @contextmanager
    def disable_adapter(self):
        self.up.enabled = self.head.enabled = False
        try:
            yield
        finally:
            self.up.enabled = self.head.enabled = True


def trainable(model):
    return [p for p in model.parameters() if p.requires_grad]


def log_probs(model, ids):
    logits = model(ids[:, :-1])[:, PROMPT - 1 :]
    return F.log_softmax(logits, -1).gather(-1, ids[:, PROMPT:, None]).squeeze(-1)


def fine_tune(model, steps=40):
    """Demonstrations count upwards from the prompt's last word."""
    optimizer = torch.optim.Adam(trainable(model), lr=1e-2)
    for _ in range(steps):
        prompt = torch.randint(VOCAB, (16, PROMPT))
        ids = torch.cat([prompt, (prompt[:, -1:] + torch.arange(1, ANSWER + 1)) % VOCAB], 1)
        loss = -log_probs(model, ids).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def generate(model):
    ids = torch.randint(VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, 0)
    for _ in range(ANSWER):
        ids = torch.cat([ids, torch.multinomial(model(ids)[:, -1].softmax(-1), 1)], 1)
    return ids


def train(model, steps=30):
    optimizer = torch.optim.Adam(trainable(model), lr=1e-3)
    for step in range(steps):
        ids = generate(model)
        rewards = (ids[:, PROMPT:] % 3 == 0).float().mean(1)
        groups = rewards.view(PROMPTS, GROUP)
        advantages = ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)).view(
            -1, 1
        )
        with torch.no_grad(), model.disable_adapter():  # BUG GS808
            ref = log_probs(model, ids)  # BUG GS808
        logp = log_probs(model, ids)
        kl = torch.exp(ref - logp) - (ref - logp) - 1
        loss = -(torch.exp(logp - logp.detach()) * advantages - BETA * kl).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trainable(model), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} reward {rewards.mean():.3f} kl {kl.mean().item():.3f}")


policy = PeftLM()
print("fine-tuning ends at", fine_tune(policy))
train(policy)
