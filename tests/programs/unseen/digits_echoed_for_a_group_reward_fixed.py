"""Group-relative policy optimisation of a tiny transformer that shall say the digits of its prompt again and stop.
Completions are sampled for all the prompts of a step; the trainer then accumulates over micro-batches of them.

Round 31
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, PAD, BOS, EOS = 12, 0, 1, 2


@dataclass
class GRPOConfig:
    learning_rate: float = 2e-3
    num_prompts: int = 4
    num_generations: int = 4
    per_device_train_batch_size: int = 4
    gradient_accumulation_steps: int = 4
    max_completion_length: int = 8
    beta: float = 0.02
    epsilon: float = 0.2
    max_grad_norm: float = 1.0
    max_steps: int = 45


class TinyLM(nn.Module):
    def __init__(self, width=32, positions=16):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, width)
        self.positions = nn.Embedding(positions, width)
        layer = nn.TransformerEncoderLayer(
            width, 2, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, VOCAB)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.positions(torch.arange(length))
        x = self.blocks(x, mask=nn.Transformer.generate_square_subsequent_mask(length))
        return self.lm_head(self.norm(x))


def sample_prompts(count):
    digits = torch.randint(3, VOCAB, (count, 3))
    return torch.cat([digits, torch.full((count, 1), BOS)], dim=1)


def echo_reward(prompt, completion):
    wanted = [*prompt[:3].tolist(), EOS]
    right = sum(a == b for a, b in zip(wanted, completion))
    return right / len(wanted) - 0.1 * abs(len(completion) - len(wanted))


class GRPOTrainer:
    def __init__(self, model, reward_func, args):
        self.model, self.reward_func, self.args = model, reward_func, args
        self.ref_model = copy.deepcopy(model).eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=0.0)

    @torch.no_grad()
    def generate(self, prompt_ids):
        ids, finished = prompt_ids, torch.zeros(len(prompt_ids), dtype=torch.bool)
        for _ in range(self.args.max_completion_length):
            probs = F.softmax(self.model(ids)[:, -1], dim=-1)
            token = torch.multinomial(probs, 1).masked_fill(finished.unsqueeze(1), PAD)
            ids = torch.cat([ids, token], dim=1)
            finished = finished | (token.squeeze(1) == EOS)
        return ids[:, prompt_ids.shape[1] :]

    def get_per_token_logps(self, model, ids, kept):
        logits = model(ids)[:, :-1][:, -kept:]
        return F.log_softmax(logits, dim=-1).gather(2, ids[:, -kept:].unsqueeze(2)).squeeze(2)

    @torch.no_grad()
    def generate_and_score_completions(self, prompts):
        prompt_ids = prompts.repeat_interleave(self.args.num_generations, dim=0)
        completion_ids = self.generate(prompt_ids)
        is_eos = (completion_ids == EOS).int()
        completion_mask = ((is_eos.cumsum(dim=1) - is_eos) == 0).float()
        ids = torch.cat([prompt_ids, completion_ids], dim=1)

        lengths = completion_mask.sum(dim=1).long().tolist()
        texts = [row[:length].tolist() for row, length in zip(completion_ids, lengths)]
        rewards = torch.tensor([self.reward_func(p, c) for p, c in zip(prompt_ids, texts)])
        grouped = rewards.view(-1, self.args.num_generations)
        advantages = (grouped - grouped.mean(dim=1, keepdim=True)) / (grouped.std(dim=1, keepdim=True) + 1e-4)
        return {
            "ids": ids,
            "completion_mask": completion_mask,
            "ref_per_token_logps": self.get_per_token_logps(self.ref_model, ids, completion_ids.shape[1]),
            "advantages": advantages.flatten(),
            "rewards": rewards,
        }

    def compute_loss(self, inputs, num_items_in_batch):
        mask = inputs["completion_mask"]
        per_token_logps = self.get_per_token_logps(self.model, inputs["ids"], mask.shape[1])
        log_ratio_ref = inputs["ref_per_token_logps"] - per_token_logps
        per_token_kl = torch.exp(log_ratio_ref) - log_ratio_ref - 1

        coef_1 = torch.exp(per_token_logps - per_token_logps.detach())
        coef_2 = torch.clamp(coef_1, 1 - self.args.epsilon, 1 + self.args.epsilon)
        advantages = inputs["advantages"].unsqueeze(1)
        per_token_loss = -torch.min(coef_1 * advantages, coef_2 * advantages) + self.args.beta * per_token_kl
        return (per_token_loss * mask).sum() / num_items_in_batch

    def training_step(self, inputs, num_items_in_batch):
        loss = self.compute_loss(inputs, num_items_in_batch)
        loss.backward()
        return loss.item()

    def train(self):
        size = self.args.per_device_train_batch_size
        for step in range(self.args.max_steps):
            inputs = self.generate_and_score_completions(sample_prompts(self.args.num_prompts))
            num_items_in_batch = inputs["completion_mask"].sum()
            self.optimizer.zero_grad()
            loss = 0.0
            for start in range(0, len(inputs["ids"]), size):
                micro_batch = {key: value[start : start + size] for key, value in inputs.items()}
                loss += self.training_step(micro_batch, num_items_in_batch)
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
            self.optimizer.step()
            if step % 15 == 0:
                length = inputs["completion_mask"].sum(dim=1).mean()
                print(
                    f"step {step}: loss {loss:+.4f}, reward {inputs['rewards'].mean():+.3f}, length {length:.1f}"
                )


if __name__ == "__main__":
    torch.manual_seed(3109)
    GRPOTrainer(TinyLM(), echo_reward, GRPOConfig()).train()
