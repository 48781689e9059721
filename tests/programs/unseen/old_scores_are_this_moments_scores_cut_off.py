"""Group-relative optimisation that uses every generation for two passes of four steps: the old log-probs are the
present ones detached, a trick for one step per generation, so the ratio stays one and the clip never acts.
After huggingface/trl#2769, huggingface/trl#5757 and LeapLabTHU/JustGRPO#2.

Round 26
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class GRPOConfig:
    vocab: int = 20
    width: int = 32
    prompts: int = 8
    group: int = 4
    answer: int = 6
    iterations: int = 2
    steps_per_generation: int = 4
    epsilon: float = 0.1
    lr: float = 5e-3
    generations: int = 10


class CausalLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed = nn.Embedding(c.vocab, c.width)
        self.rnn = nn.GRU(c.width, c.width, num_layers=2, batch_first=True)
        self.head = nn.Linear(c.width, c.vocab)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


class GRPOTrainer:
    def __init__(self, config):
        self.c = config
        self.model = CausalLM(config)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.metrics = []

    def per_token_logps(self, ids):
        logits = self.model(ids[:, :-1])[:, -self.c.answer :]
        tokens = ids[:, -self.c.answer :]
        return torch.gather(logits.log_softmax(-1), 2, tokens.unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def generate_and_score(self):
        c = self.c
        ids = torch.randint(0, c.vocab, (c.prompts, 3)).repeat_interleave(c.group, dim=0)
        for _ in range(c.answer):
            dist = torch.distributions.Categorical(logits=self.model(ids)[:, -1])
            ids = torch.cat([ids, dist.sample().unsqueeze(1)], dim=1)
        rewards = self.reward(ids)
        mean = rewards.view(-1, c.group).mean(1).repeat_interleave(c.group)
        std = rewards.view(-1, c.group).std(1).repeat_interleave(c.group)
        advantages = (rewards - mean) / (std + 1e-4)
        self.metrics.append(rewards.mean().item())
        return {"ids": ids, "advantages": advantages, "old_logps": self.per_token_logps(ids)}

    def reward(self, ids):
        asked, answer = ids[:, 2:3], ids[:, -self.c.answer :]
        return (answer > asked).float().mean(dim=1)

    def compute_loss(self, inputs):
        logps = self.per_token_logps(inputs["ids"])
        old_logps = logps.detach()  # BUG GS804
        coef_1 = torch.exp(logps - old_logps)  # BUG GS804
        coef_2 = torch.clamp(coef_1, 1 - self.c.epsilon, 1 + self.c.epsilon)
        advantages = inputs["advantages"].unsqueeze(1)
        return -torch.min(coef_1 * advantages, coef_2 * advantages).mean()

    def train(self):
        for _ in range(self.c.generations):
            batch = self.generate_and_score()
            rows = len(batch["ids"])
            for _ in range(self.c.iterations):
                for part in torch.randperm(rows).chunk(self.c.steps_per_generation):
                    loss = self.compute_loss({name: column[part] for name, column in batch.items()})
                    self.optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
        return self.metrics


torch.manual_seed(2607)
print([round(r, 3) for r in GRPOTrainer(GRPOConfig()).train()])
