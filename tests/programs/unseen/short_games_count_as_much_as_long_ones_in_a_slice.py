"""A decision transformer trained from padded games in slices of a batch: every slice's loss is the mean over
its own moves and is then divided by the number of slices, so a move weighs more among short games. After
huggingface/transformers#34191.

Round 36
Class: magnitude
"""

import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

IGNORE = -100


@dataclass
class TrainingArguments:
    per_device_batch_size: int = 4
    gradient_accumulation_steps: int = 4
    learning_rate: float = 2e-3
    max_steps: int = 40
    max_length: int = 20
    seed: int = 3621


class Nim:
    """Take one, two or three stones; who takes the last one wins. The other player is careless."""

    def play(self, rng, skill):
        stones, moves = int(rng.integers(5, 40)), []
        while True:
            take = stones % 4 if rng.random() < skill and stones % 4 else int(rng.integers(1, 4))
            take = min(take, stones)
            moves.append((stones, take - 1))
            stones -= take
            if stones == 0:
                return moves, 1.0
            stones -= min(int(rng.integers(1, 4)), stones)
            if stones == 0:
                return moves, 0.0


class Trajectories:
    def __init__(self, n, seed):
        rng, game = np.random.default_rng(seed), Nim()
        self.games = [game.play(rng, skill=rng.choice([0.3, 0.9])) for _ in range(n)]

    def __len__(self):
        return len(self.games)

    def collate(self, indices, max_length):
        batch, longest = [self.games[i] for i in indices], max_length
        states = torch.zeros(len(batch), longest, dtype=torch.long)
        returns = torch.zeros(len(batch), longest)
        labels = torch.full((len(batch), longest), IGNORE)
        for row, (moves, result) in enumerate(batch):
            moves = moves[:longest]
            states[row, : len(moves)] = torch.tensor([s for s, _ in moves])
            labels[row, : len(moves)] = torch.tensor([a for _, a in moves])
            returns[row, : len(moves)] = result
        return {"states": states, "returns_to_go": returns, "labels": labels}


class DecisionTransformer(nn.Module):
    """A token for each step: return to go, state and the move before."""

    def __init__(self, hidden=32, max_length=20, max_stones=40, n_actions=3):
        super().__init__()
        self.n_actions = n_actions
        self.embed_state = nn.Embedding(max_stones + 1, hidden)
        self.embed_return = nn.Linear(1, hidden)
        self.embed_action = nn.Embedding(n_actions + 1, hidden)
        self.embed_timestep = nn.Embedding(max_length, hidden)
        layer = nn.TransformerEncoderLayer(hidden, 4, 2 * hidden, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.predict_action = nn.Linear(hidden, n_actions)

    def forward(self, states, returns_to_go, labels):
        length = states.shape[1]
        known = labels.masked_fill(labels == IGNORE, self.n_actions)
        previous = torch.cat([torch.full_like(known[:, :1], self.n_actions), known[:, :-1]], dim=1)
        x = self.embed_state(states) + self.embed_return(returns_to_go.unsqueeze(-1))
        x = x + self.embed_action(previous) + self.embed_timestep(torch.arange(length))
        causal = nn.Transformer.generate_square_subsequent_mask(length)
        return self.predict_action(self.encoder(x, mask=causal, is_causal=True))


class Trainer:
    def __init__(self, model, args, train_dataset):
        self.model, self.args, self.train_dataset = model, args, train_dataset
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)

    def get_batch_samples(self):
        size, n = self.args.per_device_batch_size, self.args.gradient_accumulation_steps
        chosen = random.sample(range(len(self.train_dataset)), size * n)
        slices = [chosen[i * size : (i + 1) * size] for i in range(n)]
        return [self.train_dataset.collate(s, self.args.max_length) for s in slices]

    def compute_loss(self, inputs, num_items):
        logits = self.model(**inputs).flatten(0, 1)
        labels = inputs["labels"].flatten()
        return F.cross_entropy(logits, labels, ignore_index=IGNORE)  # BUG GS407

    def training_step(self, inputs, num_items):
        loss = self.compute_loss(inputs, num_items)
        loss = loss / self.args.gradient_accumulation_steps  # BUG GS407
        loss.backward()
        return loss.item()

    def train(self):
        for step in range(1, self.args.max_steps + 1):
            window = self.get_batch_samples()
            num_items = sum(int((inputs["labels"] != IGNORE).sum()) for inputs in window)
            self.optimizer.zero_grad()
            tr_loss = sum(self.training_step(inputs, num_items) for inputs in window)
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            if step % 10 == 0:
                print(f"step {step}: loss {tr_loss:.4f}")


if __name__ == "__main__":
    args = TrainingArguments()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    Trainer(DecisionTransformer(max_length=args.max_length), args, Trajectories(300, args.seed)).train()
