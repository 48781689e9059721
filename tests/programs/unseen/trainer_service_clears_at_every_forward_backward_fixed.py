"""The repaired twin of a program in which the following goes wrong.
A controller drives a policy trainer through forward_backward for each micro-batch and optim_step at the
end; the gradients are cleared in the former, so only the last micro-batch of each batch is learned from.
After pytorch/torchtitan#3575.

Round 37
Class: the line
"""

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3706)
VOCAB, PROMPT, ANSWER, GROUP = 12, 3, 5, 4


@dataclass
class Episodes:
    tokens: torch.Tensor
    logprobs: torch.Tensor
    advantages: torch.Tensor

    def chunks(self, n):
        for parts in zip(self.tokens.chunk(n), self.logprobs.chunk(n), self.advantages.chunk(n)):
            yield Episodes(*parts)


class Decoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(PROMPT + ANSWER, dim))
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, tokens):
        x = self.tok(tokens) + self.pos[: tokens.shape[1]]
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(x + self.mlp(x))


def answer_logprobs(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
    return F.log_softmax(logits, -1).gather(-1, tokens[:, PROMPT:, None]).squeeze(-1)


class PolicyTrainer:
    def __init__(self, model, lr=3e-3, clip_eps=0.2):
        self.model, self.clip_eps = model, clip_eps
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)

    def forward_backward(self, batch, global_valid_tokens):
        logprobs = answer_logprobs(self.model, batch.tokens)
        ratio = (logprobs - batch.logprobs).exp()
        adv = batch.advantages.unsqueeze(1)
        surrogate = torch.min(ratio * adv, ratio.clamp(1 - self.clip_eps, 1 + self.clip_eps) * adv)
        loss = -surrogate.sum() / global_valid_tokens
        loss.backward()
        return loss.item()

    def optim_step(self):
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return norm.item()


class Generator:
    def __init__(self, model):
        self.model = model

    @torch.no_grad()
    def rollout(self, n_prompts):
        tokens = torch.randint(VOCAB, (n_prompts, PROMPT)).repeat_interleave(GROUP, 0)
        for _ in range(ANSWER):
            probs = self.model(tokens)[:, -1].softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
        rewards = (tokens[:, PROMPT:] > tokens[:, :1]).float().mean(1)
        groups = rewards.view(n_prompts, GROUP)
        adv = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        return Episodes(tokens, answer_logprobs(self.model, tokens), adv.flatten()), rewards.mean().item()


class Controller:
    def __init__(self, micro_batches=4, updates_per_rollout=2):
        model = Decoder()
        self.trainer, self.generator = PolicyTrainer(model), Generator(model)
        self.micro_batches, self.updates = micro_batches, updates_per_rollout

    def run(self, iterations):
        for iteration in range(iterations):
            episodes, reward = self.generator.rollout(n_prompts=8)
            valid = episodes.logprobs.numel()
            for _ in range(self.updates):
                loss = 0.0
                for microbatch in episodes.chunks(self.micro_batches):
                    loss += self.trainer.forward_backward(microbatch, valid)
                norm = self.trainer.optim_step()
            if iteration % 10 == 0:
                print(f"{iteration:3d} reward {reward:.3f} loss {loss:+.4f} norm {norm:.3f}")


Controller().run(25)
