"""A reward model for short tunes is trained on pairs of a preferred and a rejected one, in mixed precision with a loss
scale. An engine runs the batches, an updater owns the optimizer.

Round 31
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

NOTES, PAD = 13, 0


class TuneReader(nn.Module):
    def __init__(self, width=32, positions=14):
        super().__init__()
        self.notes = nn.Embedding(NOTES, width, padding_idx=PAD)
        self.places = nn.Embedding(positions, width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 1)
        )

    def forward(self, tunes):
        """One score per tune: the mean over its notes, padding left out."""
        present = tunes != PAD
        x = self.notes(tunes) + self.places(torch.arange(tunes.shape[1]))
        mask = present[:, None, :]
        mixed = F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), attn_mask=mask)
        scores = self.mlp(x + mixed).squeeze(-1).float()
        return scores.masked_fill(~present, 0.0).sum(dim=1) / present.sum(dim=1)


class PreferenceData:
    """Of two tunes the smoother one is preferred."""

    def __init__(self, pairs, seed):
        self.generator = torch.Generator().manual_seed(seed)
        first, second = self.tunes(pairs), self.tunes(pairs)
        smoother = (self.roughness(first) <= self.roughness(second)).unsqueeze(1)
        self.chosen = torch.where(smoother, first, second)
        self.rejected = torch.where(smoother, second, first)

    def tunes(self, count, longest=14):
        tunes = torch.randint(1, NOTES, (count, longest), generator=self.generator)
        lengths = torch.randint(4, longest + 1, (count, 1), generator=self.generator)
        return tunes.masked_fill(torch.arange(longest) >= lengths, PAD)

    @staticmethod
    def roughness(tunes):
        steps = (tunes[:, 1:] - tunes[:, :-1]).abs().float() * (tunes[:, 1:] != PAD)
        return steps.sum(dim=1) / (tunes[:, 1:] != PAD).sum(dim=1)

    def batches(self, size):
        for index in torch.randperm(len(self.chosen), generator=self.generator).split(size):
            yield self.chosen[index], self.rejected[index]


class Updater:
    """Learning rate, gradient clipping and the step itself."""

    def __init__(self, config, network):
        self.network = network
        self.optimizer = torch.optim.AdamW(
            network.parameters(), lr=config["learning_rate"], weight_decay=config["weight_decay"]
        )
        self.learning_rate = config["learning_rate"]
        self.warmup = config["learning_rate_warmup_steps"]
        self.gradient_clip_global_norm = config["gradient_clip_global_norm"]
        self.current_step = 0

    def set_learning_rate(self):
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate * min(1.0, (self.current_step + 1) / self.warmup)

    def step(self, grad_scaler):
        if self.gradient_clip_global_norm:
            grad_scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.network.parameters(), self.gradient_clip_global_norm)
        grad_scaler.step(self.optimizer)
        grad_scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.current_step += 1


class Engine:
    def __init__(self, config, network, train_data):
        self.config, self.network, self.train_data = config, network, train_data
        self.updater = Updater(config, network)
        self.grad_scaler = torch.amp.GradScaler("cpu", init_scale=config["loss_scale"])

    def forward_loss(self, chosen, rejected):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            scores = self.network(torch.cat([chosen, rejected]))
        score_chosen, score_rejected = scores.chunk(2)
        loss = -F.logsigmoid(score_chosen - score_rejected).mean()
        return loss, (score_chosen > score_rejected).float().mean()

    def train_epoch(self, epoch):
        losses, hits = [], []
        for chosen, rejected in self.train_data.batches(self.config["batch_size"]):
            self.updater.set_learning_rate()
            loss, accuracy = self.forward_loss(chosen, rejected)
            self.grad_scaler.scale(loss).backward()
            self.updater.step(self.grad_scaler)
            losses.append(loss.item())
            hits.append(accuracy.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, accuracy {sum(hits) / len(hits):.3f}")


def main():
    torch.manual_seed(3113)
    config = {
        "batch_size": 32,
        "learning_rate": 3e-3,
        "learning_rate_warmup_steps": 10,
        "weight_decay": 0.01,
        "gradient_clip_global_norm": 1.0,
        "loss_scale": 2.0**16,
        "num_epochs": 8,
    }
    engine = Engine(config, TuneReader(), PreferenceData(512, seed=3113))
    for epoch in range(config["num_epochs"]):
        engine.train_epoch(epoch)


if __name__ == "__main__":
    main()
