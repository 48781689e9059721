"""SimPO: the norm is limited between the backward and the step.

Round 28
Class: the line
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2826)

VOCAB, DIM, PROMPT, ANSWER = 20, 32, 3, 7
BETA, GAMMA, MAX_NORM = 2.0, 0.5, 0.3


class MiniTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.position = nn.Embedding(PROMPT + ANSWER, DIM)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(DIM, 2, 48, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.unembed = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        n = ids.shape[1]
        mask = torch.full((n, n), float("-inf")).triu(1)
        x = self.embed(ids) + self.position.weight[:n]
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.unembed(x)


def sample_pairs(n):
    """The chosen answer stays close to the prompt's first word, the rejected one is noise."""
    prompt = torch.randint(0, VOCAB, (n, PROMPT))
    near = (prompt[:, :1] + torch.randint(-2, 3, (n, ANSWER))).clamp(0, VOCAB - 1)
    far = torch.randint(0, VOCAB, (n, ANSWER))
    lengths = torch.randint(3, ANSWER + 1, (2, n))
    masks = (torch.arange(ANSWER) < lengths[..., None]).float()
    return torch.cat([prompt, near], 1), torch.cat([prompt, far], 1), masks[0], masks[1]


def average_log_prob(model, ids, mask):
    logits = model(ids[:, :-1])[:, PROMPT - 1 :]
    log_prob = torch.gather(F.log_softmax(logits, -1), 2, ids[:, PROMPT:, None]).squeeze(2)
    return (log_prob * mask).sum(1) / mask.sum(1)


def simpo_loss(model, chosen, rejected, chosen_mask, rejected_mask):
    reward_w = BETA * average_log_prob(model, chosen, chosen_mask)
    reward_l = BETA * average_log_prob(model, rejected, rejected_mask)
    loss = -F.logsigmoid(reward_w - reward_l - GAMMA).mean()
    return loss, (reward_w > reward_l).float().mean()


def train(steps=40, batch_size=24, lr=2e-3):
    model = MiniTransformer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.2, 1.0, total_iters=5)
    for step in range(steps):
        batch = sample_pairs(batch_size)
        loss, accuracy = simpo_loss(model, *batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()
        scheduler.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f} accuracy {accuracy:.2f}")


train()
