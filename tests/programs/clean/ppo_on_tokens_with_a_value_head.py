"""PPO on tokens: KL to the reference in the reward of every token, GAE over the answer, clipped policy and value
losses, one optimizer for the model and its value head."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, PROMPT, ANSWER, BATCH = 12, 3, 5, 8


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


class WithValue(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, self.v_head = model, nn.Linear(16, 1)

    def forward(self, tokens):
        hidden = self.model.hidden(tokens)
        return self.model.head(hidden), self.v_head(hidden).squeeze(-1)


def evaluate(logits, tokens):
    logits = logits[:, PROMPT - 1 : -1]
    logp = logits.log_softmax(-1)
    return logp.gather(-1, tokens[:, PROMPT:, None]).squeeze(-1), -(logp.exp() * logp).sum(-1)


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


@torch.no_grad()
def rollout():
    tokens = torch.randint(1, VOCAB, (BATCH, PROMPT))
    for _ in range(ANSWER):
        logits, _ = agent(tokens)
        tokens = torch.cat(
            [tokens, torch.distributions.Categorical(logits=logits[:, -1]).sample()[:, None]], 1
        )
    logits, values = agent(tokens)
    old, _ = evaluate(logits, tokens)
    ref, _ = evaluate(reference(tokens), tokens)
    ends = (tokens[:, PROMPT:] == 0).float()
    mask = ((ends.cumsum(1) - ends) == 0).float()
    score = (tokens[:, PROMPT:] == 7).float().mean(1)
    rewards = -0.05 * (old - ref) * mask
    rewards[torch.arange(BATCH), mask.sum(1).long() - 1] += score
    values = values[:, PROMPT - 1 : -1] * mask
    gae, advantages = torch.zeros(BATCH), []
    for t in reversed(range(ANSWER)):
        following = values[:, t + 1] if t + 1 < ANSWER else torch.zeros(BATCH)
        gae = rewards[:, t] + following - values[:, t] + 0.95 * gae
        advantages.append(gae)
    advantages = torch.stack(advantages[::-1], 1)
    returns = advantages + values
    mean = masked_mean(advantages, mask)
    spread = masked_mean((advantages - mean) ** 2, mask).sqrt()
    return tokens, mask, old, values, returns, (advantages - mean) / (spread + 1e-8)


agent = WithValue(TinyLM())
reference = copy.deepcopy(agent.model)
reference.requires_grad_(False)
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
for _ in range(6):
    tokens, mask, old, old_values, returns, advantages = rollout()
    for _ in range(2):
        for i in torch.randperm(BATCH).chunk(2):
            logits, values = agent(tokens[i])
            new, entropy = evaluate(logits, tokens[i])
            values = values[:, PROMPT - 1 : -1]
            ratio = torch.exp(new - old[i])
            surrogate = torch.max(-advantages[i] * ratio, -advantages[i] * ratio.clamp(0.8, 1.2))
            clipped = old_values[i] + (values - old_values[i]).clamp(-0.2, 0.2)
            value_loss = 0.5 * torch.max((values - returns[i]) ** 2, (clipped - returns[i]) ** 2)
            loss = masked_mean(surrogate + 0.1 * value_loss - 0.01 * entropy, mask[i])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
            optimizer.step()
