"""Group-relative policy optimisation with answers of different lengths. The mask is cut like the labels and
covers every word of an answer, its closing word included.

Round 32
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, EOS, FIRST_WORD = 0, 1, 2


class TinyLM(nn.Module):
    def __init__(self, vocab_size=16, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.rnn(self.embed(input_ids))[0])


@torch.no_grad()
def generate(model, prompts, max_new_tokens):
    """Returns the rows and a mask of what the model wrote, the closing word included."""
    ids, written = prompts, torch.zeros_like(prompts, dtype=torch.bool)
    alive = torch.ones(len(prompts), 1, dtype=torch.bool)
    for _ in range(max_new_tokens):
        word = torch.multinomial(F.softmax(model(ids)[:, -1], dim=-1), num_samples=1)
        ids = torch.cat([ids, torch.where(alive, word, PAD)], dim=1)
        written = torch.cat([written, alive], dim=1)
        alive = alive & (word != EOS)
    return ids, written


def score_answers(ids, written, prompt_len):
    """One point for an answer that ends, and a part of one for how much of the prompt it repeats."""
    answers = ids[:, prompt_len:].masked_fill(~written[:, prompt_len:], -1)
    ended = (answers == EOS).any(dim=1).float()
    repeated = (ids[:, :prompt_len, None] == answers[:, None, :]).any(dim=2).float().mean(dim=1)
    return ended + repeated


def per_token_logps(model, ids):
    logits, labels = model(ids)[:, :-1], ids[:, 1:]
    return torch.gather(F.log_softmax(logits, dim=-1), 2, labels.unsqueeze(-1)).squeeze(-1)


class GRPOTrainer:
    def __init__(self, model, group_size=8, n_prompts=4, prompt_len=3, max_new_tokens=8, epsilon=0.2, mu=2):
        self.model = model
        self.group_size, self.n_prompts, self.prompt_len = group_size, n_prompts, prompt_len
        self.max_new_tokens, self.epsilon, self.mu = max_new_tokens, epsilon, mu
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)

    def prepare(self):
        prompts = torch.randint(
            FIRST_WORD, self.model.lm_head.out_features, (self.n_prompts, self.prompt_len)
        )
        prompts = prompts.repeat_interleave(self.group_size, dim=0)
        ids, written = generate(self.model, prompts, self.max_new_tokens)
        rewards = score_answers(ids, written, self.prompt_len)
        grouped = rewards.view(self.n_prompts, self.group_size)
        advantages = grouped - grouped.mean(dim=1, keepdim=True)
        advantages = advantages / (grouped.std(dim=1, keepdim=True) + 1e-4)
        with torch.no_grad():
            old_logps = per_token_logps(self.model, ids)
        return {
            "ids": ids,
            "mask": written[:, 1:].float(),
            "old_logps": old_logps,
            "advantages": advantages.reshape(-1, 1),
            "rewards": rewards,
        }

    def compute_loss(self, batch):
        logps = per_token_logps(self.model, batch["ids"])
        ratio = torch.exp(logps - batch["old_logps"])
        unclipped = ratio * batch["advantages"]
        clipped = ratio.clamp(1 - self.epsilon, 1 + self.epsilon) * batch["advantages"]
        per_token_loss = -torch.min(unclipped, clipped)
        mask = batch["mask"]
        return (per_token_loss * mask).sum() / mask.sum()

    def train(self, steps):
        for step in range(steps):
            batch = self.prepare()
            for _ in range(self.mu):
                loss = self.compute_loss(batch)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
            if step % 5 == 0:
                print(f"step {step:3d} reward {batch['rewards'].mean():.3f} loss {loss.item():+.4f}")


torch.manual_seed(3205)
GRPOTrainer(TinyLM()).train(steps=25)
