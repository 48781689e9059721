"""Group-relative policy optimisation on several devices, run one after the other: the advantages are
sharded once over the whole batch, the answers within each micro-batch, so a device multiplies the
log-probabilities of one answer with the advantage of another. After tenstorrent/tt-metal#46548.

Round 37
Class: llm-rl
"""

import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GRPOConfig:
    batch_size: int = 4
    num_generations: int = 6
    micro_batch_size: int = 8
    num_devices: int = 2
    max_completion_length: int = 6
    num_iterations: int = 2
    epsilon: float = 0.2
    lr: float = 4e-3
    steps: int = 20
    seed: int = 3735


VOCAB, PROMPT, STOP = 16, 3, 0


class GPT(nn.Module):
    def __init__(self, length, dim=32):
        super().__init__()
        self.tok_emb, self.pos_emb = nn.Embedding(VOCAB, dim), nn.Embedding(length, dim)
        self.norm, self.qkv = nn.LayerNorm(dim), nn.Linear(dim, 3 * dim)
        self.ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))
        self.fc = nn.Linear(dim, VOCAB)

    def forward(self, tokens):
        x = self.tok_emb(tokens) + self.pos_emb(torch.arange(tokens.shape[1]))
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.fc(x + self.ff(x))


def shard(tensor, num_devices):
    """The rows of a tensor, split evenly over the devices."""
    return list(tensor.chunk(num_devices))


class GRPOTrainer:
    def __init__(self, config):
        self.config = config
        self.model = GPT(PROMPT + config.max_completion_length)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)

    @torch.no_grad()
    def generate(self):
        prompts = torch.randint(1, VOCAB, (self.config.batch_size, PROMPT))
        tokens = prompts.repeat_interleave(self.config.num_generations, 0)
        mask, alive = [], torch.ones(len(tokens))
        for _ in range(self.config.max_completion_length):
            chosen = torch.multinomial(self.model(tokens)[:, -1].softmax(-1), 1).squeeze(1) * alive.long()
            mask.append(alive)
            alive = alive * (chosen != STOP).float()
            tokens = torch.cat([tokens, chosen.unsqueeze(1)], 1)
        return tokens, torch.stack(mask, 1)

    def reward_func(self, tokens, mask):
        """The share of words that are larger than the one before."""
        rising = (tokens[:, PROMPT:] > tokens[:, PROMPT - 1 : -1]).float()
        return (rising * mask).sum(1) / self.config.max_completion_length

    def get_advantages(self, rewards):
        groups = rewards.view(-1, self.config.num_generations)
        centred = groups - groups.mean(1, keepdim=True)
        return (centred / (groups.std(1, keepdim=True) + 1e-4)).flatten()

    def nlog_probs(self, tokens):
        logits = self.model(tokens[:, :-1])[:, PROMPT - 1 :]
        nll = F.cross_entropy(logits.flatten(0, 1), tokens[:, PROMPT:].flatten(), reduction="none")
        return nll.view(len(tokens), -1)

    def micro_batches(self, *tensors):
        """What each device sees of each micro-batch."""
        for rows in zip(*(t.split(self.config.micro_batch_size) for t in tensors)):
            yield list(zip(*(shard(t, self.config.num_devices) for t in rows)))

    def train_step(self):
        cfg = self.config
        tokens, mask = self.generate()
        rewards = self.reward_func(tokens, mask)
        with torch.no_grad():
            old_nlog = self.nlog_probs(tokens)
        advantages = self.get_advantages(rewards)
        device_advantages = shard(advantages, cfg.num_devices)  # BUG GS806
        local_size = cfg.micro_batch_size // cfg.num_devices
        for _ in range(cfg.num_iterations):
            self.optimizer.zero_grad()
            for step, devices in enumerate(self.micro_batches(tokens, mask, old_nlog)):
                for device, (ids, valid, old) in enumerate(devices):
                    start = step * local_size
                    adv = device_advantages[device][start : start + local_size].unsqueeze(1)  # BUG GS806
                    ratio = torch.exp(old - self.nlog_probs(ids))
                    surrogate = torch.min(ratio * adv, ratio.clamp(1 - cfg.epsilon, 1 + cfg.epsilon) * adv)
                    loss = -((surrogate * valid).sum(1) / valid.sum(1)).sum() / len(tokens)
                    loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        return rewards.mean().item()


config = GRPOConfig()
random.seed(config.seed)
torch.manual_seed(config.seed)
trainer = GRPOTrainer(config)
history = [trainer.train_step() for _ in range(config.steps)]
print("reward", round(history[0], 3), "->", round(history[-1], 3))
