"""Unlearning with low-rank adapters: a forget set is pushed away from a reference, a retain set is kept,
over a frozen language model whose blocks are recomputed in the reentrant way; no input of a block requires
a gradient, so only the adapter of the output layer learns. After locuslab/open-unlearning#178.

Round 37
Class: zero in part
"""

import copy
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

SEED, VOCAB, LENGTH, DIM = 3729, 24, 10, 32

model_args = {
    "gradient_checkpointing": True,
    "gradient_checkpointing_kwargs": {"use_reentrant": True},  # BUG GS210
    "lora": {"r": 4, "alpha": 8, "target_modules": ("qkv", "down", "lm_head")},
}


class LoraLinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.scaling = base, alpha / r
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scaling


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.up, self.down = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, 64), nn.Linear(64, DIM)

    def forward(self, hidden):
        q, k, v = self.qkv(self.norm1(hidden)).chunk(3, -1)
        hidden = hidden + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return hidden + self.down(F.gelu(self.up(self.norm2(hidden))))


class CausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens, self.embed_places = nn.Embedding(VOCAB, DIM), nn.Embedding(LENGTH, DIM)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(2))
        self.norm, self.lm_head = nn.LayerNorm(DIM), nn.Linear(DIM, VOCAB)
        self.checkpointing_kwargs = None

    def gradient_checkpointing_enable(self, kwargs):
        self.checkpointing_kwargs = kwargs

    def forward(self, input_ids):
        hidden = self.embed_tokens(input_ids) + self.embed_places(torch.arange(input_ids.shape[1]))
        for layer in self.layers:
            if self.checkpointing_kwargs is not None and self.training:
                hidden = checkpoint(layer, hidden, **self.checkpointing_kwargs)  # BUG GS210
            else:
                hidden = layer(hidden)
        return self.lm_head(self.norm(hidden))


def get_peft_model(model, r, alpha, target_modules):
    for p in model.parameters():
        p.requires_grad_(False)
    for module in [model, *model.layers]:
        for name, child in list(module.named_children()):
            if name in target_modules:
                setattr(module, name, LoraLinear(child, r, alpha))
    return model


def answer_nll(model, rows):
    logits = model(rows[:, :-1])
    nll = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="none")
    return nll.view(len(rows), -1).sum(1)


class NPO:
    """Negative preference optimisation on the forget set, plain likelihood on the retain set."""

    def __init__(self, model, beta=0.1, alpha=0.1, lr=5e-3):
        self.ref_model = copy.deepcopy(model).eval()
        for p in self.ref_model.parameters():
            p.requires_grad_(False)
        self.beta, self.alpha = beta, alpha
        self.model = get_peft_model(model, **model_args["lora"])
        if model_args["gradient_checkpointing"]:
            self.model.gradient_checkpointing_enable(model_args["gradient_checkpointing_kwargs"])
        trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trainable, lr=lr, weight_decay=0.0)

    def training_step(self, forget, retain):
        self.model.train()
        with torch.no_grad():
            reference = answer_nll(self.ref_model, forget)
        log_ratio = reference - answer_nll(self.model, forget)
        forget_loss = -F.logsigmoid(-self.beta * log_ratio).mean() * 2 / self.beta
        loss = forget_loss + self.alpha * answer_nll(self.model, retain).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([p for g in self.optimizer.param_groups for p in g["params"]], 1.0)
        self.optimizer.step()
        return loss.item()


def sentences(n, stride):
    start = torch.randint(VOCAB, (n, 1))
    return (start + stride * torch.arange(LENGTH)) % VOCAB


random.seed(SEED)
torch.manual_seed(SEED)
model = CausalLM()
pretraining = torch.optim.AdamW(model.parameters(), lr=5e-3)
for _ in range(40):
    loss = answer_nll(model, torch.cat([sentences(12, 3), sentences(12, 5)])).mean()
    pretraining.zero_grad()
    loss.backward()
    pretraining.step()

trainer = NPO(model)
for step in range(40):
    loss = trainer.training_step(forget=sentences(12, 3), retain=sentences(12, 5))
print("loss", round(loss, 3))
