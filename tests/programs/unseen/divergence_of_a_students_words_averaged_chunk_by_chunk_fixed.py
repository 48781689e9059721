"""A student is distilled on its own answers: the divergence from its teacher is divided by the words of the whole
batch.

Round 30
Class: llm-rl
"""

from dataclasses import dataclass

import torch
import torch.nn as nn

torch.manual_seed(3021)


@dataclass
class Config:
    vocab_size: int = 20
    eos: int = 1
    prompt_len: int = 3
    max_new: int = 12
    train_batch_size: int = 24
    micro_batch_size: int = 6
    steps: int = 20
    lr: float = 2e-3


class GRULM(nn.Module):
    def __init__(self, vocab_size, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.lm_head = nn.Linear(hidden, vocab_size)

    def forward(self, ids):
        states, _ = self.rnn(self.embed(ids))
        return self.lm_head(states)


@torch.no_grad()
def generate(model, prompts, cfg):
    ids, alive, mask = prompts, torch.ones(len(prompts), 1, dtype=torch.bool), []
    for _ in range(cfg.max_new):
        token = torch.multinomial(model(ids)[:, -1].softmax(-1), 1)
        token = torch.where(alive, token, torch.zeros_like(token))
        mask.append(alive)
        ids = torch.cat([ids, token], dim=1)
        alive = alive & (token != cfg.eos)
    return {"ids": ids, "response_mask": torch.cat(mask, dim=1).float()}


def reverse_kl(student_logits, teacher_logits):
    student_logp = torch.log_softmax(student_logits, dim=-1)
    teacher_logp = torch.log_softmax(teacher_logits, dim=-1)
    return (student_logp.exp() * (student_logp - teacher_logp)).sum(dim=-1)


def masked_mean(values, mask, count):
    return (values * mask).sum() / count


class Distiller:
    def __init__(self, cfg):
        self.cfg = cfg
        self.teacher = GRULM(cfg.vocab_size, 48).requires_grad_(False)
        self.student = GRULM(cfg.vocab_size, 24)
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=cfg.lr, weight_decay=0.01)
        with torch.no_grad():
            for model in (self.teacher, self.student):
                model.lm_head.bias[cfg.eos] += 1.0

    def update(self, batch):
        words = batch["response_mask"].sum()
        self.optimizer.zero_grad()
        total = 0.0
        for rows in torch.arange(len(batch["ids"])).split(self.cfg.micro_batch_size):
            ids, mask = batch["ids"][rows], batch["response_mask"][rows]
            with torch.no_grad():
                teacher_logits = self.teacher(ids)[:, self.cfg.prompt_len - 1 : -1]
            student_logits = self.student(ids)[:, self.cfg.prompt_len - 1 : -1]
            kl = reverse_kl(student_logits, teacher_logits)
            loss = masked_mean(kl, mask, words)
            loss.backward()
            total += loss.item()
        grad_norm = nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        self.optimizer.step()
        return {"distill/loss": total, "distill/grad_norm": grad_norm.item()}

    def fit(self):
        metrics = {}
        for _ in range(self.cfg.steps):
            shape = (self.cfg.train_batch_size, self.cfg.prompt_len)
            prompts = torch.randint(2, self.cfg.vocab_size, shape)
            metrics = self.update(generate(self.student, prompts, self.cfg))
        return metrics


print(Distiller(Config()).fit())
