"""A reward model learns from ranked answers in half precision: the scale of the loss is taken off its gradients
before their norm is limited.

Round 30
Class: llm-rl
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class PooledBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.gate, self.up, self.down = (nn.Linear(width, width) for _ in range(3))

    def forward(self, x, mask):
        count = mask.cumsum(dim=1).clamp(min=1).unsqueeze(-1)
        context = (x * mask.unsqueeze(-1)).cumsum(dim=1) / count
        h = self.norm(x + context)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class RewardModel(nn.Module):
    def __init__(self, vocab, width, depth):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList([PooledBlock(width) for _ in range(depth)])
        self.score = nn.Linear(width, 1)

    def forward(self, ids, lengths):
        mask = (torch.arange(ids.shape[1]) < lengths.unsqueeze(1)).float()
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x, mask)
        last = x[torch.arange(len(ids)), lengths - 1]
        return self.score(last).squeeze(-1)


def ranked_pairs(args):
    """Answers with more of the polite words, which are the first four, are preferred."""
    ids = torch.randint(0, args.vocab, (2, args.batch, args.length))
    lengths = torch.randint(4, args.length + 1, (2, args.batch))
    inside = torch.arange(args.length) < lengths.unsqueeze(-1)
    polite = ((ids < 4) & inside).sum(dim=-1) + 0.1 * torch.rand(2, args.batch)
    better = (polite[0] < polite[1]).long()
    rows = torch.arange(args.batch)
    return [(ids[side, rows], lengths[side, rows]) for side in (better, 1 - better)]


def main(args):
    torch.manual_seed(args.seed)
    model = RewardModel(args.vocab, args.width, args.depth)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.2, total_iters=10)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)

    for step in range(args.steps):
        (chosen, chosen_lengths), (rejected, rejected_lengths) = ranked_pairs(args)
        with torch.autocast("cpu", dtype=torch.float16):
            better = model(chosen, chosen_lengths)
            worse = model(rejected, rejected_lengths)
        margin = better.float() - worse.float()
        loss = -F.logsigmoid(margin).mean()

        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        if step % 20 == 0:
            print(f"{step:3d} loss {loss.item():.4f} accuracy {(margin > 0).float().mean().item():.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=20)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--max-norm", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=3025)
    main(parser.parse_args([]))
