"""Answers are drawn from the most probable words only, and their log-probabilities are those among these few. The trainer
scores them among all words: the ratio is below one everywhere before anything has been learned.

Round 20
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2015)

VOCAB, ANSWER, GROUP, PROMPTS = 14, 5, 6, 5
TOP_K, CLIP, BETA = 5, 0.2, 0.01


class Model(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.words = nn.Embedding(VOCAB, width)
        self.place = nn.Embedding(3 + ANSWER, width)
        layer = nn.TransformerEncoderLayer(
            width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, ids):
        length = ids.shape[1]
        causal = nn.Transformer.generate_square_subsequent_mask(length)
        return self.head(self.blocks(self.words(ids) + self.place(torch.arange(length)), mask=causal))


class RolloutEngine:
    """Stands for the fast server that generates, and gives back what it drew together with its log-probabilities."""

    def __init__(self, model, top_k):
        self.model, self.top_k = model, top_k

    @torch.no_grad()
    def generate(self, prompts):
        ids, logps = prompts, []
        for _ in range(ANSWER):
            logits = self.model(ids)[:, -1]
            least = logits.topk(self.top_k).values[:, -1:]
            logits = logits.masked_fill(logits < least, -torch.inf)  # BUG GS803
            word = torch.multinomial(logits.softmax(-1), 1)
            logps.append(F.log_softmax(logits, -1).gather(1, word))  # BUG GS803
            ids = torch.cat([ids, word], dim=1)
        return ids, torch.cat(logps, dim=1)


def per_token_logps(model, ids):
    logits = model(ids[:, :-1])[:, -ANSWER:]
    return F.log_softmax(logits, -1).gather(-1, ids[:, -ANSWER:].unsqueeze(-1)).squeeze(-1)


def rewards_of(prompts, answers):
    """The answer should rise from word to word, and hold the prompt's greatest word."""
    rising = (answers[:, 1:] > answers[:, :-1]).float().mean(1)
    holds = (answers == prompts.max(1, keepdim=True).values).any(1).float()
    return rising + holds


policy, reference = Model(), Model()
reference.load_state_dict(policy.state_dict())
engine = RolloutEngine(policy, TOP_K)
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, weight_decay=0.0)
for step in range(25):
    prompts = torch.randint(0, VOCAB, (PROMPTS, 3)).repeat_interleave(GROUP, 0)
    ids, old_logps = engine.generate(prompts)
    rewards = rewards_of(prompts, ids[:, -ANSWER:])
    grouped = rewards.view(PROMPTS, GROUP)
    advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
    advantages = advantages.view(-1, 1)
    with torch.no_grad():
        ref_logps = per_token_logps(reference, ids)
    for _ in range(2):
        logps = per_token_logps(policy, ids)
        ratio = torch.exp(logps - old_logps)
        clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
        gap = ref_logps - logps
        kl = torch.exp(gap) - gap - 1
        loss = (-torch.min(ratio * advantages, clipped * advantages) + BETA * kl).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
    if step % 8 == 0:
        print(f"step {step}: reward {rewards.mean():.3f}")
