"""A callback keeps an average of the policy and refreshes the reference with it now and then; it loads the average into
the policy that is trained, and the reference stays where it was.

Round 23
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2310)


class TinyLM(nn.Module):
    def __init__(self, vocab=15, width=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.RNN(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab)

    def answer_logp(self, ids, mask):
        logits = self.lm_head(self.rnn(self.embed(ids))[0])[:, :-1]
        nll = F.cross_entropy(logits.mT, ids[:, 1:], reduction="none")
        return -(nll * mask[:, 1:]).sum(-1)


class RefreshReference:
    def __init__(self, model, reference, every=8, decay=0.7):
        self.model, self.reference, self.every, self.decay = model, reference, every, decay
        self.average = {k: v.detach().clone() for k, v in model.state_dict().items()}

    def on_step_end(self, step):
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, 1 - self.decay)
        if step % self.every == 0:
            self.model.load_state_dict(self.average)  # BUG GS809 GS307


class PreferenceTrainer:
    beta = 0.3

    def __init__(self):
        self.model = TinyLM()
        self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        self.callbacks = [RefreshReference(self.model, self.reference)]

    def batch(self):
        prompt = torch.randint(1, 15, (8, 3))
        chosen, rejected = torch.randint(1, 8, (8, 5)), torch.randint(6, 15, (8, 5))
        mask = torch.cat([torch.zeros(8, 3), torch.ones(8, 5)], 1)
        return torch.cat([prompt, chosen], 1), torch.cat([prompt, rejected], 1), mask

    def training_step(self):
        good, bad, mask = self.batch()
        margin = self.model.answer_logp(good, mask) - self.model.answer_logp(bad, mask)
        with torch.no_grad():
            anchor = self.reference.answer_logp(good, mask) - self.reference.answer_logp(
                bad, mask
            )  # BUG GS307
        return -F.logsigmoid(self.beta * (margin - anchor)).mean()

    def train(self, steps):
        for step in range(1, steps + 1):
            self.optimizer.zero_grad()
            self.training_step().backward()
            self.optimizer.step()
            for callback in self.callbacks:
                callback.on_step_end(step)


PreferenceTrainer().train(48)
