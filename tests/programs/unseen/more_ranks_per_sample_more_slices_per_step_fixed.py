"""The repaired twin of a program in which the following goes wrong.
Fine-tuning on demonstrations with sequence parallelism: the ranks that share a sequence also share its
batch, which therefore is cut into more micro-batches, each a mean over its own words; loss and gradient
depend on the number of ranks. After verl-project/verl#2857.

Round 37
Class: llm-rl
"""

import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

config = SimpleNamespace(
    data=SimpleNamespace(train_batch_size=32, micro_batch_size_per_gpu=8, max_length=14),
    ulysses_sequence_parallel_size=4,
    world_size=4,
    optim=SimpleNamespace(lr=3e-3, clip_grad=1.0, total_steps=40),
    seed=3722,
)
VOCAB, PAD, EOS = 20, 0, 1


class SFTDataset:
    """A prompt of three letters; the answer counts each of them off."""

    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            letters = [random.randrange(2, VOCAB) for _ in range(3)]
            answer = [x for x in letters for _ in range(1 + x % 4)][: random.choice([1, 2, 8])]
            self.rows.append((letters, [*answer, EOS]))

    def batches(self, size):
        while True:
            yield random.sample(self.rows, size)


def collate(rows, max_length):
    input_ids = torch.full((len(rows), max_length), PAD)
    loss_mask = torch.zeros(len(rows), max_length)
    for i, (prompt, answer) in enumerate(rows):
        tokens = torch.tensor(prompt + answer)
        input_ids[i, : len(tokens)] = tokens
        loss_mask[i, len(prompt) : len(tokens)] = 1
    return {"input_ids": input_ids, "loss_mask": loss_mask}


class CausalLM(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, VOCAB)

    def forward(self, input_ids):
        return self.lm_head(self.rnn(self.embed(input_ids))[0])


class FSDPSFTTrainer:
    def __init__(self, config):
        self.config = config
        self.model = CausalLM()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.optim.lr, weight_decay=0.01)
        self._normalize_config_bsz()

    def _normalize_config_bsz(self):
        """Ranks that work at one sequence together read the same rows."""
        sp_size = self.config.ulysses_sequence_parallel_size
        dp_size = self.config.world_size // sp_size
        self.rows_per_rank = self.config.data.train_batch_size // dp_size
        self.micro_batch_size = self.config.data.micro_batch_size_per_gpu

    def _compute_loss_and_backward(self, batch, window_tokens):
        logits = self.model(batch["input_ids"][:, :-1])
        labels = batch["input_ids"][:, 1:]
        loss_mask = batch["loss_mask"][:, 1:].flatten()
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none") * loss_mask
        loss = loss.sum() / window_tokens
        loss.backward()
        return loss.item()

    def training_step(self, batch):
        self.optimizer.zero_grad()
        parts = {name: x.split(self.micro_batch_size) for name, x in batch.items()}
        micro_batches = [dict(zip(parts, row)) for row in zip(*parts.values())]
        step_loss = 0.0
        window_tokens = batch["loss_mask"][:, 1:].sum()
        for micro_batch in micro_batches:
            step_loss += self._compute_loss_and_backward(micro_batch, window_tokens)
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.optim.clip_grad)
        self.optimizer.step()
        return step_loss, grad_norm.item()

    def fit(self, dataset):
        for step, rows in zip(range(self.config.optim.total_steps), dataset.batches(self.rows_per_rank)):
            loss, norm = self.training_step(collate(rows, self.config.data.max_length))
        print("loss", round(loss, 4), "grad_norm", round(norm, 4))


random.seed(config.seed)
torch.manual_seed(config.seed)
FSDPSFTTrainer(config).fit(SFTDataset(300))
