"""A tiny transformer answers in words that should rise; every generation is cut into four slices, one
update for each. The scores of the generation are kept whenever more than one update is made of it.

Round 33
Class: llm-rl
"""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class TrainerConfig:
    vocab: int = 10
    prompt_length: int = 2
    answer_length: int = 5
    prompts: int = 8
    group: int = 4
    num_iterations: int = 1
    steps_per_generation: int = 4
    clip_low: float = 0.2
    clip_high: float = 0.28
    lr: float = 3e-3
    generations: int = 15


class TinyTransformer(nn.Module):
    def __init__(self, vocab, length, width=32):
        super().__init__()
        self.words = nn.Embedding(vocab, width)
        self.places = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.words(tokens) + self.places(torch.arange(length))
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        return self.head(self.blocks(x, mask=mask, is_causal=True))


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = TinyTransformer(config.vocab, config.prompt_length + config.answer_length)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.lr)

    def log_probs(self, tokens):
        start = self.config.prompt_length
        logits = self.model(tokens[:, :-1])[:, start - 1 :]
        return logits.log_softmax(-1).gather(-1, tokens[:, start:, None]).squeeze(-1)

    @torch.no_grad()
    def generate(self):
        cfg = self.config
        tokens = torch.randint(cfg.vocab, (cfg.prompts, cfg.prompt_length)).repeat_interleave(cfg.group, 0)
        for _ in range(cfg.answer_length):
            chances = self.model(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(chances, 1)], 1)
        answers = tokens[:, cfg.prompt_length - 1 :]
        rewards = (answers[:, 1:] > answers[:, :-1]).float().mean(1)
        groups = rewards.view(-1, cfg.group)
        centred = groups - groups.mean(1, keepdim=True)
        advantages = (centred / (groups.std(1, keepdim=True) + 1e-4)).view(-1)
        batch = {"tokens": tokens, "advantages": advantages}
        if cfg.num_iterations * cfg.steps_per_generation > 1:
            batch["old_log_probs"] = self.log_probs(tokens)
        return batch, rewards.mean().item()

    def compute_loss(self, inputs):
        log_probs = self.log_probs(inputs["tokens"])
        old = inputs.get("old_log_probs")
        old = log_probs.detach() if old is None else old
        ratio = (log_probs - old).exp()
        limited = ratio.clamp(1 - self.config.clip_low, 1 + self.config.clip_high)
        advantages = inputs["advantages"].unsqueeze(1)
        return -torch.min(ratio * advantages, limited * advantages).mean()

    def train(self):
        for generation in range(self.config.generations):
            batch, reward = self.generate()
            for _ in range(self.config.num_iterations):
                order = torch.randperm(len(batch["tokens"]))
                for rows in order.chunk(self.config.steps_per_generation):
                    loss = self.compute_loss({key: value[rows] for key, value in batch.items()})
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
            if generation % 5 == 4:
                print(f"generation {generation + 1}: loss {loss.item():.4f} reward {reward:.3f}")


torch.manual_seed(55)
Trainer(TrainerConfig()).train()
