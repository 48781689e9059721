"""Group-relative training that scores hidden states in chunks: those of the old pass are computed with gradients on,
so that the ratio's two halves cancel and the surrogate teaches nothing.

Round 30
Class: llm-rl
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3028)

vocab, width, prompt_length, answer_length, end = 17, 32, 2, 8, 0
groups, samples, clip, beta, chunk = 6, 5, 0.2, 0.04, 10


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(prompt_length + answer_length, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, ids):
        length = ids.shape[1]
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        x = self.tokens(ids) + self.positions(torch.arange(length))
        h = self.norm1(x)
        attended, _ = self.attention(h, h, h, attn_mask=future, need_weights=False)
        x = x + attended
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = Body(), nn.Linear(width, vocab)

    def answer_states(self, ids):
        return self.body(ids[:, :-1])[:, prompt_length - 1 :]


def chunked_logps(states, head, targets):
    """Log-probabilities without ever holding the logits of the whole batch."""
    parts = []
    for state, target in zip(states.split(chunk), targets.split(chunk)):
        logits = F.linear(state, head.weight, head.bias)
        taken = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
        parts.append(taken - logits.logsumexp(dim=-1))
    return torch.cat(parts)


def sample(model):
    ids = torch.randint(1, vocab, (groups, prompt_length)).repeat_interleave(samples, dim=0)
    running, mask = torch.ones(len(ids), 1, dtype=torch.bool), []
    with torch.no_grad():
        for _ in range(answer_length):
            token = torch.multinomial(model.head(model.body(ids)[:, -1]).softmax(-1), 1)
            ids = torch.cat([ids, token.masked_fill(~running, end)], dim=1)
            mask.append(running)
            running = running & (token != end)
    return ids, torch.cat(mask, dim=1).float()


def reward_of(ids, mask):
    """Words that are multiples of three, and an answer that comes to an end."""
    threes = ((ids[:, prompt_length:] % 3 == 0).float() * mask).sum(dim=1)
    return threes / mask.sum(dim=1) + 0.2 * (mask[:, -1] == 0).float()


def grpo_loss(model, reference, ids, mask, advantages):
    targets = ids[:, prompt_length:]
    old_states = model.answer_states(ids)  # BUG GS209
    with torch.no_grad():
        ref_states = reference.answer_states(ids)
    old_logps = chunked_logps(old_states, model.head, targets)  # BUG GS209
    ref_logps = chunked_logps(ref_states, reference.head, targets)

    logps = chunked_logps(model.answer_states(ids), model.head, targets)
    ratio = torch.exp(logps - old_logps)  # BUG GS209
    surrogate = torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    difference = ref_logps - logps
    divergence = torch.exp(difference) - difference - 1
    per_answer = ((beta * divergence - surrogate) * mask).sum(dim=1) / mask.sum(dim=1)
    return per_answer.mean()


model = Model()
reference = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(30):
    ids, mask = sample(model)
    rewards = reward_of(ids, mask)
    grouped = rewards.view(groups, samples)
    advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
    loss = grpo_loss(model, reference, ids, mask, advantages.view(-1, 1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: reward {rewards.mean().item():.3f}")
