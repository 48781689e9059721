"""Group-relative policy optimisation of a small language model, with a trainer that is handed batches by the main
loop. Its training step goes backward and steps, and clears nothing: every batch is stepped together with all the
batches before it.
Repaired here.

Round 21
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, PROMPT, ANSWER = 12, 3, 4


@dataclass
class Episode:
    tokens: torch.Tensor
    logprobs: torch.Tensor
    advantage: torch.Tensor


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.heads = heads

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.qkv(self.norm1(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class Policy(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, dim), nn.Embedding(PROMPT + ANSWER, dim)
        self.block, self.norm, self.lm_head = Block(dim), nn.LayerNorm(dim), nn.Linear(dim, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.lm_head(self.norm(self.block(x)))

    def logprobs(self, ids):
        logits = self(ids)[:, PROMPT - 1 : -1]
        return F.log_softmax(logits, -1).gather(-1, ids[:, PROMPT:, None]).squeeze(-1)


class Generator:
    def __init__(self, policy, group_size=8):
        self.policy, self.group_size = policy, group_size

    @torch.no_grad()
    def generate(self, prompts):
        ids = prompts.repeat_interleave(self.group_size, 0)
        for _ in range(ANSWER):
            ids = torch.cat([ids, torch.multinomial(self.policy(ids)[:, -1].softmax(-1), 1)], 1)
        return ids, self.policy.logprobs(ids)


def reward(ids):
    """The answer should repeat the last letter of the prompt, and may use the first instead at half the price."""
    prompt, answer = ids[:, :PROMPT], ids[:, PROMPT:]
    return (answer == prompt[:, -1:]).float().mean(1) + 0.5 * (answer == prompt[:, :1]).float().mean(1)


class ComputeAdvantages:
    def __init__(self, group_size=8):
        self.group_size = group_size

    def __call__(self, rewards):
        groups = rewards.view(-1, self.group_size)
        return ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)).flatten()


class RLTrainer:
    def __init__(self, policy, lr=3e-3, clip=0.2, max_norm=1.0):
        self.policy, self.clip, self.max_norm = policy, clip, max_norm
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=lr, weight_decay=0.0)
        self.step_count = 0

    def loss(self, episode):
        logprobs = self.policy.logprobs(episode.tokens)
        ratio = (logprobs - episode.logprobs).exp()
        advantage = episode.advantage[:, None]
        return -torch.min(ratio * advantage, ratio.clamp(1 - self.clip, 1 + self.clip) * advantage).mean()

    def train_step(self, episode):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(episode)
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_norm)
        self.optimizer.step()
        self.step_count += 1
        return loss.item()


def main():
    torch.manual_seed(99)
    policy = Policy()
    generator, advantages, trainer = Generator(policy), ComputeAdvantages(), RLTrainer(policy)
    for step in range(60):
        tokens, logprobs = generator.generate(torch.randint(0, VOCAB, (8, PROMPT)))
        rewards = reward(tokens)
        episode = Episode(tokens, logprobs, advantages(rewards))
        for part in torch.randperm(len(tokens)).chunk(2):
            trainer.train_step(Episode(tokens[part], logprobs[part], episode.advantage[part]))
        if step % 15 == 14:
            print(f"step {trainer.step_count}: reward {rewards.mean():.3f}")


if __name__ == "__main__":
    main()
