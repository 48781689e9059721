"""Clipped importance weights (CISPO) for a small language model that shall write chains of even words: a general
trainer does the accumulation and the steps, the one for reinforcement learning adds sampling and its loss.

Round 31
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, EOS, PROMPT, LONGEST = 18, 0, 2, 10


class ChainModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.word, self.place = nn.Embedding(VOCAB, width), nn.Embedding(PROMPT + LONGEST, width)
        self.rows = nn.ModuleDict(
            {name: nn.Linear(width, width) for name in ("query", "key", "value", "out")}
        )
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, words):
        x = self.word(words) + self.place(torch.arange(words.shape[1]))
        y = self.before(x)
        parts = [self.rows[name](y) for name in ("query", "key", "value")]
        x = x + self.rows["out"](F.scaled_dot_product_attention(*parts, is_causal=True))
        return self.head(self.after(F.relu(x)))


class Trainer:
    """Batches, gradient accumulation, clipping and steps."""

    model_accepts_loss_kwargs = False

    def __init__(self, model, lr, gradient_accumulation_steps, max_grad_norm):
        self.model = model
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.max_grad_norm = max_grad_norm
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)

    def compute_loss(self, inputs, num_items_in_batch):
        raise NotImplementedError

    def training_step(self, inputs, num_items_in_batch):
        loss = self.compute_loss(inputs, num_items_in_batch)
        if not self.model_accepts_loss_kwargs:
            loss = loss / self.gradient_accumulation_steps
        loss.backward()
        return loss.detach()

    def optimizer_step(self, window):
        num_items_in_batch = sum(inputs["mask"].sum() for inputs in window)
        total = sum(self.training_step(inputs, num_items_in_batch) for inputs in window)
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total.item(), grad_norm.item()


class GRPOTrainer(Trainer):
    model_accepts_loss_kwargs = True

    def __init__(self, model, num_generations=8, epsilon_high=2.0, num_iterations=2, **kwargs):
        super().__init__(model, **kwargs)
        self.num_generations = num_generations
        self.epsilon_high = epsilon_high
        self.num_iterations = num_iterations

    def logps(self, ids):
        logps = F.log_softmax(self.model(ids[:, :-1])[:, PROMPT - 1 :], dim=-1)
        return logps.gather(2, ids[:, PROMPT:, None]).squeeze(2)

    @torch.no_grad()
    def sample(self, prompts):
        ids = prompts
        for _ in range(LONGEST):
            token = torch.multinomial(F.softmax(self.model(ids)[:, -1], dim=-1), 1)
            ids = torch.cat([ids, token], dim=1)
        ended = (ids[:, PROMPT:] == EOS).float()
        mask = (ended.cumsum(dim=1) - ended == 0).float()
        return ids, mask

    @staticmethod
    def reward(ids, mask):
        answer = ids[:, PROMPT:]
        good = ((answer % 2 == 0) & (answer != EOS)).float() * mask
        bad = (answer % 2 == 1).float() * mask
        return (good - bad).sum(dim=1) / LONGEST

    def generate_window(self):
        prompts = torch.randint(1, VOCAB, (self.gradient_accumulation_steps, PROMPT))
        ids, mask = self.sample(prompts.repeat_interleave(self.num_generations, dim=0))
        rewards = self.reward(ids, mask)
        groups = rewards.view(-1, self.num_generations)
        centred = groups - groups.mean(dim=1, keepdim=True)
        advantages = (centred / (groups.std(dim=1, keepdim=True) + 1e-4)).flatten()
        with torch.no_grad():
            old_logps = self.logps(ids)
        parts = [x.split(self.num_generations) for x in (ids, mask, advantages, old_logps)]
        window = [dict(zip(("ids", "mask", "advantages", "old_logps"), part)) for part in zip(*parts)]
        return window, rewards.mean().item()

    def compute_loss(self, inputs, num_items_in_batch):
        logps = self.logps(inputs["ids"])
        weight = torch.exp(logps.detach() - inputs["old_logps"]).clamp(max=self.epsilon_high)
        per_token_loss = -weight * inputs["advantages"].unsqueeze(1) * logps
        return (per_token_loss * inputs["mask"]).sum() / num_items_in_batch

    def train(self, generations):
        for number in range(generations):
            window, reward = self.generate_window()
            for _ in range(self.num_iterations):
                loss, grad_norm = self.optimizer_step(window)
            if number % 8 == 0:
                print(
                    f"generation {number}: reward {reward:+.3f}, loss {loss:+.4f}, grad_norm {grad_norm:.4f}"
                )


if __name__ == "__main__":
    torch.manual_seed(3116)
    trainer = GRPOTrainer(ChainModel(), lr=3e-3, gradient_accumulation_steps=4, max_grad_norm=1.0)
    trainer.train(generations=30)
