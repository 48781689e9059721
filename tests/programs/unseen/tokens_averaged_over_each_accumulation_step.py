"""GRPO with gradient accumulation and answers of very different lengths: the token mean is taken over each micro-batch
on its own, so a token in a short one counts for more. After huggingface/trl#3021.

Round 35
Class: llm-rl
"""

import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GRPOConfig:
    seed: int = 3508
    vocab_size: int = 13
    eos_token_id: int = 0
    max_prompt_length: int = 3
    max_completion_length: int = 10
    num_generations: int = 4
    per_device_train_batch_size: int = 8
    gradient_accumulation_steps: int = 4
    num_iterations: int = 2
    epsilon: float = 0.2
    learning_rate: float = 3e-3
    max_steps: int = 18


class PolicyLM(nn.Module):
    def __init__(self, vocab_size, hidden_size=36):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size)
        self.layers = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.lm_head = nn.Linear(hidden_size, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.layers(self.embed_tokens(input_ids))[0])


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=0.0)

    def _get_per_token_logps(self, ids):
        start = self.args.max_prompt_length
        logps = F.log_softmax(self.model(ids)[:, start - 1 : -1], dim=-1)
        return logps.gather(-1, ids[:, start:].unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def _generate_and_score_completions(self):
        args = self.args
        rows = args.per_device_train_batch_size * args.gradient_accumulation_steps
        prompts = torch.randint(1, args.vocab_size, (rows // args.num_generations, args.max_prompt_length))
        ids = prompts.repeat_interleave(args.num_generations, dim=0)
        unfinished, mask = torch.ones(rows), []
        for _ in range(args.max_completion_length):
            token = torch.multinomial(self.model(ids)[:, -1].softmax(-1), 1).squeeze(1)
            token = torch.where(unfinished > 0, token, args.eos_token_id)
            mask.append(unfinished)
            unfinished = unfinished * (token != args.eos_token_id)
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
        mask = torch.stack(mask, dim=1)
        rewards = self._reward(ids, mask)
        grouped = rewards.view(-1, args.num_generations)
        advantages = (grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)
        batch = {"ids": ids, "mask": mask, "advantages": advantages.view(-1)}
        batch["old_per_token_logps"] = self._get_per_token_logps(ids)
        order = torch.randperm(rows)
        return {k: v[order] for k, v in batch.items()}, rewards.mean().item()

    def _reward(self, ids, mask):
        """The answer should repeat the first word of the prompt."""
        answer = ids[:, self.args.max_prompt_length :]
        return ((answer == ids[:, :1]) * mask).sum(1) / mask.sum(1)

    def compute_loss(self, inputs, num_items_in_batch):
        per_token_logps = self._get_per_token_logps(inputs["ids"])
        coef_1 = torch.exp(per_token_logps - inputs["old_per_token_logps"])
        coef_2 = torch.clamp(coef_1, 1 - self.args.epsilon, 1 + self.args.epsilon)
        advantages = inputs["advantages"].unsqueeze(1)
        per_token_loss = -torch.min(coef_1 * advantages, coef_2 * advantages)
        mask = inputs["mask"]
        normalizer = mask.sum() * self.args.gradient_accumulation_steps  # BUG GS407
        return (per_token_loss * mask).sum() / normalizer  # BUG GS407

    def train(self):
        for step in range(self.args.max_steps):
            batch, reward = self._generate_and_score_completions()
            size = self.args.per_device_train_batch_size
            window = [dict(zip(batch, chunk)) for chunk in zip(*(v.split(size) for v in batch.values()))]
            num_items_in_batch = batch["mask"].sum()
            for _ in range(self.args.num_iterations):
                self.optimizer.zero_grad()
                for inputs in window:
                    self.compute_loss(inputs, num_items_in_batch).backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            if step % 6 == 5:
                length = num_items_in_batch / len(batch["ids"])
                print(f"step {step + 1}: reward {reward:.3f}, length {length:.1f}")


def main():
    args = GRPOConfig()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    Trainer(PolicyLM(args.vocab_size), args).train()


if __name__ == "__main__":
    main()
