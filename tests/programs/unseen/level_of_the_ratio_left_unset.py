"""Group-relative training with a switch for the level of the importance ratio, token or sequence. The default is
neither, and neither means zeros: the ratio is one for good, whatever the policy does, and the rewards teach nothing.

Round 16
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(1605)
VOCAB, PROMPT, ANSWER = 12, 3, 6


@dataclass
class Settings:
    group: int = 6
    epochs: int = 2
    clip: float = 0.2
    beta: float = 0.04
    lr: float = 1e-2
    ratio_level: str | None = None  # BUG GS202 GS804


class TokenModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24)
        self.core = nn.GRU(24, 32, batch_first=True)
        self.head = nn.Linear(32, VOCAB)

    def forward(self, ids):
        return self.head(self.core(self.embed(ids))[0])

    @torch.no_grad()
    def generate(self, ids):
        for _ in range(ANSWER):
            logits = self(ids)[:, -1]
            ids = torch.cat([ids, torch.distributions.Categorical(logits=logits).sample().unsqueeze(1)], 1)
        return ids


def token_log_probs(model, ids):
    logits = model(ids[:, :-1])[:, PROMPT - 1 :]
    return logits.log_softmax(-1).gather(-1, ids[:, PROMPT:].unsqueeze(-1)).squeeze(-1)


def log_weights(new, old, mask, level):
    difference = new - old
    if level == "token":
        return difference
    if level == "sequence":
        return ((difference * mask).sum(1) / mask.sum(1).clamp(min=1)).unsqueeze(1).expand_as(difference)
    return torch.zeros_like(difference)  # BUG GS202 GS804 GS208


def answer_mask(ids):
    """Token 0 ends an answer; what follows it does not count."""
    ended = (ids[:, PROMPT:] == 0).long()
    return (ended.cumsum(1) - ended == 0).float()


class GroupTrainer:
    def __init__(self, settings):
        self.settings, self.model = settings, TokenModel()
        self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.lr, weight_decay=0.0)

    def advantages(self, ids, mask):
        right = (ids[:, PROMPT:] == ids[:, :1]).float()
        reward = ((right * mask).sum(1) / mask.sum(1)).view(-1, self.settings.group)
        centred = reward - reward.mean(1, keepdim=True)
        return (centred / (reward.std(1, keepdim=True) + 1e-4)).view(-1, 1), reward.mean().item()

    def loss(self, ids, mask, old, advantage):
        new = token_log_probs(self.model, ids)
        with torch.no_grad():
            fixed = token_log_probs(self.reference, ids)
        ratio = log_weights(new, old, mask, self.settings.ratio_level).exp()
        clipped = ratio.clamp(1 - self.settings.clip, 1 + self.settings.clip)
        per_token = -torch.min(ratio * advantage, clipped * advantage)
        divergence = (fixed - new).exp() - (fixed - new) - 1
        per_token = per_token + self.settings.beta * divergence
        return (per_token * mask).sum() / mask.sum()

    def step(self):
        prompts = torch.randint(1, VOCAB, (4, PROMPT)).repeat_interleave(self.settings.group, 0)
        ids = self.model.generate(prompts)
        mask = answer_mask(ids)
        advantage, reward = self.advantages(ids, mask)
        with torch.no_grad():
            old = token_log_probs(self.model, ids)
        for _ in range(self.settings.epochs):
            loss = self.loss(ids, mask, old, advantage)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return reward


trainer = GroupTrainer(Settings())
print([round(trainer.step(), 3) for _ in range(40)])
