"""Group-relative training of a mixture of experts: the routers are frozen, as they should be, and the loop that freezes them
also freezes the gate of the shared expert, which the optimizer was given to train.

Round 16
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1613)
VOCAB, WIDTH, PROMPT, ANSWER, GROUP, PROMPTS = 12, 24, 3, 5, 6, 4


class SharedExpert(nn.Module):
    """An expert that every token visits, weighed by a gate of its own."""

    def __init__(self):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.gate_weight = nn.Parameter(0.1 * torch.randn(1, WIDTH))

    def forward(self, x):
        return torch.sigmoid(F.linear(x, self.gate_weight)) * self.mlp(x)


class MoE(nn.Module):
    def __init__(self, experts=3):
        super().__init__()
        self.router = nn.Linear(WIDTH, experts, bias=False)
        self.experts = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(experts)])
        self.shared_experts = SharedExpert()

    def forward(self, x):
        share = self.router(x).softmax(-1)
        routed = torch.stack([expert(x) for expert in self.experts], -1)
        return x + (routed * share.unsqueeze(-2)).sum(-1) + self.shared_experts(x)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.mlp = MoE()

    def forward(self, x):
        return self.mlp(x + self.mix(x)[0])


class Policy(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.layers = nn.ModuleList([Layer() for _ in range(layers)])
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

    def generate(self, tokens):
        with torch.no_grad():
            for _ in range(ANSWER):
                probs = self(tokens)[:, -1].softmax(-1)
                tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
        return tokens


def initialize(freeze_router=True):
    model = Policy()
    if freeze_router:
        for layer in model.layers:
            layer.mlp.router.weight.requires_grad = False
            layer.mlp.shared_experts.gate_weight.requires_grad = False  # BUG GS207
    return model


def log_probs(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
    return F.log_softmax(logits, -1).gather(-1, tokens[:, PROMPT:, None]).squeeze(-1)


def reward_fn(tokens):
    """Answers should repeat the last token of their prompt, and not drift far from it."""
    gap = (tokens[:, PROMPT:] - tokens[:, PROMPT - 1 : PROMPT]).abs().float()
    return (gap == 0).float().mean(1) - 0.05 * gap.mean(1)


policy = initialize()
reference = copy.deepcopy(policy).requires_grad_(False)
trained = [param for name, param in policy.named_parameters() if "router" not in name]
optimizer = torch.optim.AdamW(trained, lr=3e-3, weight_decay=0.0)
for step in range(30):
    prompts = torch.randint(VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, 0)
    tokens = policy.generate(prompts)
    rewards = reward_fn(tokens).view(PROMPTS, GROUP)
    gains = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    with torch.no_grad():
        old, fixed = log_probs(policy, tokens), log_probs(reference, tokens)
    for _ in range(2):
        new = log_probs(policy, tokens)
        ratio, gain = (new - old).exp(), gains.view(-1, 1)
        surrogate = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
        divergence = (fixed - new).exp() - (fixed - new) - 1
        loss = -(surrogate - 0.02 * divergence).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
    if step % 10 == 0:
        print(step, loss.item(), rewards.mean().item())
