"""DPO with the scores of both answers made before the function that is differentiated: the gradient ends at the scores
and no weight of the policy moves. After Goekdeniz-Guelmez/mlx-lm-lora#24.
Repaired here.

Round 35
Class: llm-rl
"""

import copy
import random
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, linear, rank=4, scale=2.0):
        super().__init__()
        self.linear, self.scale = linear.requires_grad_(False), scale
        self.lora_a = nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.lora_b = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.lora_a.t()) @ self.lora_b.t()


class Model(nn.Module):
    """A causal convolution in place of a large model."""

    def __init__(self, vocab=16, dim=32, window=3):
        super().__init__()
        self.window = window
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(window * dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        padded = F.pad(self.embed(tokens), (0, 0, self.window - 1, 0))
        windows = padded.unfold(1, self.window, 1).flatten(2)
        return self.out(F.gelu(self.mix(windows)))


def add_adapters(model):
    model.requires_grad_(False)
    model.mix, model.out = LoRALinear(model.mix), LoRALinear(model.out)
    return model


class PreferenceDataset:
    """The better answer continues its prompt in steps of one, the worse one at random."""

    def __init__(self, n, vocab, rng):
        start = rng.integers(0, vocab, size=(n, 1))
        better = (start + np.arange(9)) % vocab
        worse = better.copy()
        worse[:, 3:] = rng.integers(0, vocab, size=(n, 6))
        self.chosen, self.rejected = torch.from_numpy(better), torch.from_numpy(worse)
        self.mask = (torch.arange(9) >= 3).float().expand(n, -1)

    def batches(self, size):
        for index in torch.randperm(len(self.chosen)).split(size):
            yield self.chosen[index], self.rejected[index], self.mask[index]


def get_scores(model, tokens, mask):
    logps = F.log_softmax(model(tokens[:, :-1]), dim=-1)
    taken = logps.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return (taken * mask[:, 1:]).sum(-1)


def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    loss = -F.logsigmoid(beta * margin).mean()
    return loss, (margin > 0).float().mean().item()


def step(model, reference, optimizer, batch, beta):
    chosen, rejected, mask = batch
    with torch.no_grad():
        reference_chosen = get_scores(reference, chosen, mask)
        reference_rejected = get_scores(reference, rejected, mask)
    policy_chosen = get_scores(model, chosen, mask)
    policy_rejected = get_scores(model, rejected, mask)

    def loss_fn(policy_chosen, policy_rejected):
        return dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta)

    optimizer.zero_grad()
    loss, accuracy = loss_fn(policy_chosen, policy_rejected)
    loss.backward()
    optimizer.step()
    return loss.item(), accuracy


def evaluate(model, reference, dataset, beta):
    with torch.no_grad():
        scores = [
            get_scores(m, t, dataset.mask)
            for m in (model, reference)
            for t in (dataset.chosen, dataset.rejected)
        ]
        return dpo_loss(scores[0], scores[1], scores[2], scores[3], beta)


def train_dpo(args):
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train, valid = PreferenceDataset(256, 16, rng), PreferenceDataset(64, 16, rng)
    base = Model()
    reference = copy.deepcopy(base).requires_grad_(False).eval()
    model = add_adapters(base)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=args.learning_rate, weight_decay=0.0)
    for epoch in range(args.epochs):
        for batch in train.batches(args.batch_size):
            loss, accuracy = step(model, reference, optimizer, batch, args.beta)
        held_loss, held_accuracy = evaluate(model, reference, valid, args.beta)
        print(f"epoch {epoch}: loss {loss:.3f} acc {accuracy:.2f}; {held_loss:.3f} {held_accuracy:.2f}")


if __name__ == "__main__":
    train_dpo(SimpleNamespace(seed=3524, epochs=5, batch_size=16, beta=0.1, learning_rate=2e-3))
