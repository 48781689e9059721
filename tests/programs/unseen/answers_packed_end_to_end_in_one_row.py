"""Policy gradient with a value head on answers that are packed into one row without padding. The sum of
rewards to come runs backwards through the whole row, and so an answer is also credited with what the
answers packed after it earned.

Round 32
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

EOS = 0


@dataclass
class Config:
    vocab: int = 16
    dim: int = 32
    prompt_len: int = 3
    max_new: int = 7
    batch: int = 12
    gamma: float = 0.97
    kl_coef: float = 0.05
    vf_coef: float = 0.5
    lr: float = 2e-3
    steps: int = 30
    seed: int = 3202


class PackedLM(nn.Module):
    """One layer of attention that stays within a segment, a head for words and a head for values."""

    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(cfg.prompt_len + cfg.max_new, cfg.dim)
        self.attn = nn.MultiheadAttention(cfg.dim, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 64), nn.SiLU(), nn.Linear(64, cfg.dim))
        self.lm_head = nn.Linear(cfg.dim, cfg.vocab)
        self.v_head = nn.Linear(cfg.dim, 1)

    def forward(self, ids, pos, segment):
        later = torch.ones(ids.numel(), ids.numel(), dtype=torch.bool).triu(1)
        blocked = later | (segment.unsqueeze(0) != segment.unsqueeze(1))
        x = (self.embed(ids) + self.pos(pos)).unsqueeze(0)
        x = x + self.attn(x, x, x, attn_mask=blocked, need_weights=False)[0]
        x = (x + self.mlp(x)).squeeze(0)
        return self.lm_head(x), self.v_head(x).squeeze(-1)


def pack(sequences):
    ids = torch.cat(sequences)
    pos = torch.cat([torch.arange(len(s)) for s in sequences])
    segment = torch.cat([torch.full((len(s),), i) for i, s in enumerate(sequences)])
    return ids, pos, segment


@torch.no_grad()
def rollout(model, cfg):
    sequences = [torch.randint(1, cfg.vocab, (cfg.prompt_len,)) for _ in range(cfg.batch)]
    alive = list(range(cfg.batch))
    for _ in range(cfg.max_new):
        ids, pos, segment = pack([sequences[i] for i in alive])
        logits, _ = model(ids, pos, segment)
        last = torch.tensor([len(sequences[i]) for i in alive]).cumsum(0) - 1
        words = torch.multinomial(logits[last].softmax(-1), 1).squeeze(1)
        for i, word in zip(alive, words):
            sequences[i] = torch.cat([sequences[i], word.view(1)])
        alive = [i for i in alive if sequences[i][-1] != EOS]
        if not alive:
            break
    return sequences


def task_score(answer):
    """Large words are good; answers that do not end by themselves lose a point."""
    return (answer.float().mean() / 8 - float(answer[-1] != EOS)).item()


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = PackedLM(cfg)
        self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def returns(self, rewards):
        """Discounted sum of the rewards from every place of the packed row on."""
        result, running = torch.zeros_like(rewards), 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] + self.cfg.gamma * running  # BUG GS806
            result[t] = running
        return result

    def step(self):
        cfg = self.cfg
        sequences = rollout(self.model, cfg)
        ids, pos, segment = pack(sequences)
        chosen = (pos >= cfg.prompt_len).nonzero().squeeze(1)
        logits, values = self.model(ids, pos, segment)
        logp = F.log_softmax(logits[chosen - 1], -1).gather(1, ids[chosen, None]).squeeze(1)
        with torch.no_grad():
            ref_logits, _ = self.reference(ids, pos, segment)
            ref_logp = F.log_softmax(ref_logits[chosen - 1], -1).gather(1, ids[chosen, None]).squeeze(1)
        ends = torch.cat([torch.arange(len(s) - cfg.prompt_len).flip(0) == 0 for s in sequences])
        scores = torch.tensor([task_score(s[cfg.prompt_len :]) for s in sequences])
        rewards = -cfg.kl_coef * (logp.detach() - ref_logp)
        rewards[ends] += scores
        returns = self.returns(rewards)  # BUG GS806
        value = values[chosen - 1]
        advantage = returns - value.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        policy_loss = -(advantage * logp).mean()
        value_loss = F.mse_loss(value, returns)
        self.optimizer.zero_grad()
        (policy_loss + cfg.vf_coef * value_loss).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return scores.mean().item(), value_loss.item()


config = Config()
torch.manual_seed(config.seed)
trainer = Trainer(config)
for step in range(config.steps):
    score, value_loss = trainer.step()
    if step % 5 == 0:
        print(f"step {step} score {score:.3f} value loss {value_loss:.3f}")
