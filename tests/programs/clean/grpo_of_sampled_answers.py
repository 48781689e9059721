"""GRPO as it is usually written: answers are sampled, scored, centred in their group, and learnt from in two
passes over micro-batches, with a clipped ratio, a KL to a frozen copy (k3), and the tokens of the whole window as
the divisor."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, PROMPT, ANSWER, GROUP = 12, 3, 5, 4


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class TinyLM(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB, bias=False)
        self.layers = nn.ModuleList([Block(width), Block(width)])

    def hidden(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


def per_token(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
    return logits.log_softmax(-1).gather(-1, tokens[:, PROMPT:, None]).squeeze(-1)


@torch.no_grad()
def generate(model, prompts):
    tokens = prompts
    for _ in range(ANSWER):
        probs = model(tokens)[:, -1].softmax(-1)
        tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
    ends = (tokens[:, PROMPT:] == 0).float()
    return tokens, ((ends.cumsum(1) - ends) == 0).float()


def reward(tokens):
    return [float((row == 7).sum()) for row in tokens[:, PROMPT:]]


policy = TinyLM()
reference = copy.deepcopy(policy).requires_grad_(False).eval()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for _ in range(8):
    prompts = torch.randint(1, VOCAB, (2, PROMPT)).repeat_interleave(GROUP, 0)
    tokens, mask = generate(policy, prompts)
    rewards = torch.tensor(reward(tokens)).view(2, GROUP)
    advantages = rewards - rewards.mean(1, keepdim=True)
    advantages = (advantages / (rewards.std(1, keepdim=True) + 1e-4)).view(-1, 1)
    with torch.no_grad():
        old, ref = per_token(policy, tokens), per_token(reference, tokens)
    for _ in range(2):
        count = mask.sum()
        for rows in torch.randperm(2 * GROUP).chunk(2):
            new = per_token(policy, tokens[rows])
            ratio = torch.exp(new - old[rows])
            gain = torch.min(ratio * advantages[rows], ratio.clamp(0.8, 1.2) * advantages[rows])
            kl = torch.exp(ref[rows] - new) - (ref[rows] - new) - 1
            loss = -((gain - 0.04 * kl) * mask[rows]).sum() / count
            loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
