"""On-policy distillation, where a teacher grades every token that the student writes, in micro-batches: the whole
batch's count of tokens is never handed on, so each micro-batch averages alone. After verl-project/verl#7200.
Repaired here.

Round 35
Class: llm-rl
"""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3522
PAD, EOS, VOCAB = 0, 1, 14


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, VOCAB)

    def forward(self, ids):
        return self.lm_head(self.rnn(self.embed(ids))[0])


def make_teacher():
    """A wider network, taught for a moment that a token is followed by the next one, and ten by the end."""
    teacher = Model(48)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    start = torch.randint(2, VOCAB, (64, 1))
    ids = (start + torch.arange(8)).clamp(max=VOCAB - 1)
    ids = torch.where(ids.roll(1, 1).ge(10) & (torch.arange(8) > 0), EOS, ids)
    for _ in range(40):
        loss = F.cross_entropy(teacher(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return teacher.requires_grad_(False).eval()


def agg_loss(loss_mat, loss_mask, global_batch_info):
    """Mean over the tokens."""
    tokens = global_batch_info.get("batch_num_tokens")
    if tokens is None:
        micro_batches = global_batch_info.get("num_micro_batches", 1)
        return (loss_mat * loss_mask).sum() / loss_mask.sum() / micro_batches
    return (loss_mat * loss_mask).sum() / tokens


def distillation_loss(student_logits, teacher_logits):
    """Reverse KL, token by token."""
    student, teacher = student_logits.log_softmax(-1), teacher_logits.log_softmax(-1)
    return (student.exp() * (student - teacher)).sum(-1)


class DistillActor:
    def __init__(self, teacher, config):
        self.student, self.teacher, self.config = Model(24), teacher, config
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=config["lr"], weight_decay=0.0)

    @torch.no_grad()
    def rollout(self, n):
        ids = torch.randint(2, VOCAB, (n, self.config["prompt_length"]))
        alive, masks = torch.ones(n), []
        for _ in range(self.config["response_length"]):
            token = torch.multinomial(self.student(ids)[:, -1].softmax(-1), 1).squeeze(1)
            token = torch.where(alive > 0, token, PAD)
            masks.append(alive)
            alive = alive * (token != EOS)
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
        return {"ids": ids, "response_mask": torch.stack(masks, dim=1)}

    def forward_backward(self, micro, global_batch_info):
        first = self.config["prompt_length"] - 1
        student_logits = self.student(micro["ids"])[:, first:-1]
        with torch.no_grad():
            teacher_logits = self.teacher(micro["ids"])[:, first:-1]
        loss_mat = distillation_loss(student_logits, teacher_logits)
        loss = agg_loss(loss_mat, micro["response_mask"], global_batch_info)
        loss.backward()
        return loss.item()

    def update_actor(self, batch):
        size = self.config["micro_batch_size"]
        micros = [dict(zip(batch, parts)) for parts in zip(*(v.split(size) for v in batch.values()))]
        global_batch_info = {"batch_num_tokens": batch["response_mask"].sum()}
        self.optimizer.zero_grad()
        loss = sum(self.forward_backward(micro, global_batch_info) for micro in micros)
        nn.utils.clip_grad_norm_(self.student.parameters(), self.config["grad_clip"])
        self.optimizer.step()
        return loss


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    config = {"lr": 5e-3, "prompt_length": 2, "response_length": 10, "micro_batch_size": 6, "grad_clip": 1.0}
    actor = DistillActor(make_teacher(), config)
    for step in range(40):
        batch = actor.rollout(24)
        loss = actor.update_actor(batch)
        if step % 10 == 9:
            length = batch["response_mask"].sum(1).mean()
            print(f"step {step + 1} divergence {loss:.3f} length {length:.1f}")


if __name__ == "__main__":
    main()
