"""Policy optimisation with low-rank adapters, a value head and layers that are recomputed to save memory.
The frozen embeddings hand the first layer an input without gradient, and with the old kind of checkpoint no
adapter is trained.

Round 32
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

VOCAB, DIM, HEADS, LAYERS = 16, 32, 2, 2
PROMPT, ANSWER = 3, 6


class Lora(nn.Module):
    def __init__(self, fan_in, fan_out, rank=4):
        super().__init__()
        self.weight = nn.Linear(fan_in, fan_out)
        self.down, self.up = nn.Linear(fan_in, rank, bias=False), nn.Linear(rank, fan_out, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.weight(x) + 2.0 * self.up(self.down(x))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_attn, self.norm_mlp = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.out = Lora(DIM, 3 * DIM), Lora(DIM, DIM)
        self.fc1, self.fc2 = Lora(DIM, 2 * DIM), Lora(2 * DIM, DIM)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (
            part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.qkv(self.norm_attn(x)).chunk(3, -1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, DIM))
        return x + self.fc2(F.relu(self.fc1(self.norm_mlp(x))))


class Model(nn.Module):
    def __init__(self, gradient_checkpointing=True):
        super().__init__()
        self.gradient_checkpointing = gradient_checkpointing
        self.wte, self.wpe = nn.Embedding(VOCAB, DIM), nn.Embedding(PROMPT + ANSWER, DIM)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM)
        self.lm_head, self.value_head = nn.Linear(DIM, VOCAB), nn.Linear(DIM, 1)

    def train_adapters_only(self):
        for name, parameter in self.named_parameters():
            adapter = ".up." in name or ".down." in name
            parameter.requires_grad_(adapter or name.startswith("value_head"))
        return [p for p in self.parameters() if p.requires_grad]

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1)))  # BUG GS210 GS202
        for layer in self.layers:
            if self.gradient_checkpointing and torch.is_grad_enabled():
                x = checkpoint(layer, x, use_reentrant=True)  # BUG GS210 GS202
            else:
                x = layer(x)
        x = self.norm(x)
        return self.lm_head(x), self.value_head(x).squeeze(-1)

    def evaluate(self, ids):
        logits, values = self(ids[:, :-1])
        logp = logits[:, PROMPT - 1 :].log_softmax(-1)
        return logp.gather(2, ids[:, PROMPT:].unsqueeze(2)).squeeze(2), values[:, PROMPT - 1 :]


@torch.no_grad()
def rollout(model, batch):
    ids = torch.randint(0, VOCAB, (batch, PROMPT))
    for _ in range(ANSWER):
        logits, _ = model(ids)
        ids = torch.cat([ids, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
    answer = ids[:, PROMPT:]
    # one point for each word of the same parity as the first word of the prompt
    rewards = (answer % 2 == ids[:, :1] % 2).float()
    returns = rewards.flip(1).cumsum(1).flip(1)
    logp, values = model.evaluate(ids)
    advantages = returns - values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    return ids, logp, advantages, returns, rewards.sum(1).mean().item()


def main(iterations=14, epochs=3, clip=0.2, vf_coef=0.1):
    torch.manual_seed(3210)
    model = Model()
    optimizer = torch.optim.AdamW(model.train_adapters_only(), lr=5e-3, weight_decay=0.0)
    for iteration in range(iterations):
        ids, old_logp, advantages, returns, score = rollout(model, batch=32)
        for _ in range(epochs):
            logp, values = model.evaluate(ids)
            ratio = (logp - old_logp).exp()
            limited = ratio.clamp(1 - clip, 1 + clip)
            policy_loss = -torch.min(ratio * advantages, limited * advantages).mean()
            value_loss = F.mse_loss(values, returns)
            loss = policy_loss + vf_coef * value_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if iteration % 3 == 0:
            print(f"{iteration:2d} score {score:.3f} value loss {value_loss.item():.3f}")


if __name__ == "__main__":
    main()
