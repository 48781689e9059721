"""The repaired twin of a program in which the following goes wrong.
An engine with a pipeline schedule trains a policy on answers packed by their number of words: each
micro-batch is already weighed by its share of all valid words, and the schedule divides once more by the
number of micro-batches. After areal-project/AReaL#1273.

Round 37
Class: llm-rl
"""

import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class EngineConfig:
    lr: float = 0.25
    gradient_clipping: float = 1.0
    max_tokens_per_mb: int = 48
    eps_clip: float = 0.2
    temperature: float = 1.0


VOCAB, PROMPT, ANSWER, STOP = 15, 3, 9, 0


class Model(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


def split_into_mb_list(batch, max_tokens):
    """First fit, by decreasing length."""
    lengths = PROMPT + batch["loss_mask"].sum(1).long()
    bins = []
    for row in lengths.argsort(descending=True).tolist():
        for part in bins:
            if sum(lengths[i].item() for i in part) + lengths[row].item() <= max_tokens:
                part.append(row)
                break
        else:
            bins.append([row])
    return [{name: x[part] for name, x in batch.items()} for part in bins]


def forward_backward_func(forward_step_func, data_iterator, model, num_microbatches):
    """The schedule without pipelining: forward and backward of one micro-batch after the other."""
    losses = []
    for _ in range(num_microbatches):
        output, loss_func = forward_step_func(data_iterator, model)
        loss = loss_func(output) / num_microbatches
        loss.backward()
        losses.append(loss.item())
    return losses


class MegatronEngine:
    def __init__(self, config):
        self.config, self.model = config, Model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.lr)

    def logprobs(self, model, ids):
        logits = model(ids[:, :-1])[:, PROMPT - 1 :] / self.config.temperature
        return F.log_softmax(logits, -1).gather(-1, ids[:, PROMPT:].unsqueeze(-1)).squeeze(-1)

    def train_batch(self, batch, loss_fn, loss_weight_fn):
        mb_list = split_into_mb_list(batch, self.config.max_tokens_per_mb)
        total_loss_weight = sum(loss_weight_fn(mb) for mb in mb_list)

        def forward_step(batch_iter, model):
            mb = next(batch_iter)
            output = self.logprobs(model, mb["input_ids"])

            def scaled_loss(logprobs):
                loss_scale = loss_weight_fn(mb) / total_loss_weight
                return loss_fn(logprobs, mb) * loss_scale * len(mb_list)

            return output, scaled_loss

        self.optimizer.zero_grad()
        losses = forward_backward_func(forward_step, iter(mb_list), self.model, len(mb_list))
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.gradient_clipping)
        self.optimizer.step()
        return {"loss": sum(losses), "grad_norm": grad_norm.item(), "n_mbs": len(mb_list)}


class PPOActor:
    def __init__(self, engine):
        self.engine = engine

    @torch.no_grad()
    def rollout(self, n_prompts=6, group=4):
        ids = torch.randint(1, VOCAB, (n_prompts, PROMPT)).repeat_interleave(group, 0)
        alive, mask = torch.ones(len(ids)), []
        for _ in range(ANSWER):
            probs = (self.engine.model(ids)[:, -1] / self.engine.config.temperature).softmax(-1)
            word = torch.multinomial(probs, 1).squeeze(1) * alive.long()
            mask.append(alive)
            alive = alive * (word != STOP).float()
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
        mask = torch.stack(mask, 1)
        rewards = ((ids[:, PROMPT:] % 3 == ids[:, :1] % 3) * mask).sum(1) / mask.sum(1)
        groups = rewards.view(n_prompts, group)
        advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        return {
            "input_ids": ids,
            "loss_mask": mask,
            "prox_logp": self.engine.logprobs(self.engine.model, ids),
            "advantages": advantages.view(-1, 1) * mask,
        }, rewards.mean().item()

    def ppo_update(self, batch, n_minibatches=2):
        for rows in torch.randperm(len(batch["input_ids"])).chunk(n_minibatches):
            minibatch = {name: x[rows] for name, x in batch.items()}
            stats = self.engine.train_batch(minibatch, self.loss_fn, lambda mb: mb["loss_mask"].sum())
        return stats

    def loss_fn(self, logprobs, mb):
        eps = self.engine.config.eps_clip
        ratio = torch.exp(logprobs - mb["prox_logp"])
        pg_loss = torch.max(-mb["advantages"] * ratio, -mb["advantages"] * ratio.clamp(1 - eps, 1 + eps))
        return (pg_loss * mb["loss_mask"]).sum() / mb["loss_mask"].sum()


random.seed(3738)
torch.manual_seed(3738)
actor = PPOActor(MegatronEngine(EngineConfig()))
for step in range(30):
    batch, reward = actor.rollout()
    stats = actor.ppo_update(batch)
print("reward", round(reward, 3), stats)
