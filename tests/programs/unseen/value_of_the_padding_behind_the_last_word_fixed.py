"""Token-level policy optimisation with a value head. Answers end where the end token comes, and are padded behind it. The
advantages take the value of the following place, also where that place is padding: the last word of an answer is judged
by what the value head happens to say of nothing.
Repaired here.

Round 20
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, END, VOCAB = 0, 1, 10


@dataclass
class Config:
    prompts: int = 24
    max_new: int = 8
    epochs: int = 2
    iterations: int = 30
    gamma: float = 1.0
    lam: float = 0.95
    clip: float = 0.2
    kl: float = 0.02
    vf: float = 0.3
    seed: int = 2007


class TinyLM(nn.Module):
    """Reads from left to right; a head for words and one for values."""

    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head, self.v_head = nn.Linear(width, VOCAB), nn.Linear(width, 1)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def logprobs_and_values(model, ids, start):
    """Of the answer's words, each judged from what stands before it."""
    logits, values = model(ids[:, :-1])
    logits = logits[:, start - 1 :].clone()
    logits[..., PAD] = -1e4  # padding is never said
    words = ids[:, start:]
    return F.log_softmax(logits, -1).gather(-1, words.unsqueeze(-1)).squeeze(-1), values[:, start - 1 :]


@torch.no_grad()
def generate(model, prompts, max_new):
    ids, alive = prompts, torch.ones(len(prompts), dtype=torch.bool)
    for _ in range(max_new):
        logits = model(ids)[0][:, -1].clone()
        logits[:, PAD] = -1e4
        word = torch.where(alive, torch.multinomial(logits.softmax(-1), 1).squeeze(1), PAD)
        alive = alive & (word != END)
        ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
    return ids


def score(answers):
    """Two points for nothing but friendly words, which are three, and a little for ending soon."""
    friendly = ((answers >= 2) & (answers <= 4)).float().sum(1) / (answers != PAD).sum(1)
    return 2.0 * friendly + 0.5 * (answers == END).any(1).float() - 0.05 * (answers != PAD).sum(1)


def compute_advantages(values, rewards, mask, gamma, lam):
    lastgaelam, advantages_reversed = 0.0, []
    length = rewards.shape[1]
    for t in reversed(range(length)):
        nextvalues = values[:, t + 1] * mask[:, t + 1] if t < length - 1 else 0.0
        delta = rewards[:, t] + gamma * nextvalues - values[:, t]
        lastgaelam = (delta + gamma * lam * lastgaelam) * mask[:, t]
        advantages_reversed.append(lastgaelam)
    advantages = torch.stack(advantages_reversed[::-1], dim=1)
    return advantages, (advantages + values) * mask


def whiten(x, mask):
    mean = masked_mean(x, mask)
    return (x - mean) * torch.rsqrt(masked_mean((x - mean) ** 2, mask) + 1e-8) * mask


def train(cfg):
    torch.manual_seed(cfg.seed)
    model, reference = TinyLM(), TinyLM()
    reference.load_state_dict(model.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    history = []
    for _ in range(cfg.iterations):
        prompts = torch.randint(2, VOCAB, (cfg.prompts, 3))
        ids = generate(model, prompts, cfg.max_new)
        answers, start = ids[:, 3:], 3
        mask = (answers != PAD).float()
        with torch.no_grad():
            old_logp, old_values = logprobs_and_values(model, ids, start)
            ref_logp, _ = logprobs_and_values(reference, ids, start)
            rewards = -cfg.kl * (old_logp - ref_logp) * mask
            last = mask.sum(1).long() - 1
            rewards[torch.arange(len(ids)), last] += score(answers)
            advantages, returns = compute_advantages(old_values, rewards, mask, cfg.gamma, cfg.lam)
            advantages = whiten(advantages, mask)
        for _ in range(cfg.epochs):
            logp, values = logprobs_and_values(model, ids, start)
            ratio = torch.exp((logp - old_logp) * mask)
            surrogate = torch.min(ratio * advantages, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * advantages)
            loss = -masked_mean(surrogate, mask) + cfg.vf * masked_mean((values - returns) ** 2, mask)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        history.append(score(answers).mean().item())
    return history


history = train(Config())
print(f"score {history[0]:.2f} -> {history[-1]:.2f}")
