"""Group-relative training of answers that call a lookup in the middle; the tool's tokens are held out of the loss.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn

torch.manual_seed(2601)
END = 1


@dataclass
class Config:
    vocab: int = 20
    width: int = 32
    prompts: int = 4
    group: int = 6
    call: int = 3
    answer: int = 5
    epochs: int = 2
    clip: float = 0.2
    updates: int = 25


class TinyLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.core = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.core(self.embed(ids))[0])


def look_up(call):
    """The tool: four tokens that depend on what was asked."""
    key = call.sum(dim=1, keepdim=True)
    return (key * torch.tensor([1, 3, 7, 9]) + torch.arange(4)) % 10 + 10


def token_logps(model, ids):
    logps = torch.log_softmax(model(ids[:, :-1]), dim=-1)
    return logps.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)


class GRPO:
    def __init__(self, config):
        self.c = config
        self.model = TinyLM(config.vocab, config.width)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3, weight_decay=0.0)

    def speak(self, ids, count):
        for _ in range(count):
            probs = torch.softmax(self.model(ids)[:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
        return ids

    @torch.no_grad()
    def rollout(self):
        c = self.c
        start = torch.randint(2, 10, (c.prompts, 2)).repeat_interleave(c.group, dim=0)
        ids = self.speak(start, c.call)
        result = look_up(ids[:, -c.call :])
        ids = self.speak(torch.cat([ids, result], dim=1), c.answer)
        said = ids[:, start.shape[1] :]
        own = torch.ones_like(said, dtype=torch.bool)
        own[:, c.call : c.call + result.shape[1]] = False
        ended = ((said == END) & own).int()
        ended[:, : c.call] = 0
        completion_mask = (ended.cumsum(1) - ended) == 0
        answer = said[:, -c.answer :]
        hits = (answer.unsqueeze(-1) == result.unsqueeze(1)).any(-1) & completion_mask[:, -c.answer :]
        rewards = hits.float().sum(1)
        groups = rewards.view(c.prompts, c.group)
        advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        return {
            "ids": ids,
            "completion_mask": completion_mask,
            "tool_mask": own,
            "advantages": advantages.view(-1),
            "old_logps": token_logps(self.model, ids)[:, -said.shape[1] :],
            "reward": rewards.mean().item(),
        }

    def loss(self, batch):
        mask = (batch["completion_mask"] & batch["tool_mask"]).float()
        logps = token_logps(self.model, batch["ids"])[:, -mask.shape[1] :]
        ratio = torch.exp(logps - batch["old_logps"])
        clipped = ratio.clamp(1 - self.c.clip, 1 + self.c.clip)
        weight = batch["advantages"].unsqueeze(1)
        per_token = -torch.minimum(ratio * weight, clipped * weight)
        return ((per_token * mask).sum(1) / mask.sum(1)).mean()

    def update(self):
        batch = self.rollout()
        for _ in range(self.c.epochs):
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return batch["reward"]


trainer = GRPO(Config())
for step in range(trainer.c.updates):
    reward = trainer.update()
    if step % 5 == 0:
        print(f"step {step} reward {reward:.2f}")
