"""A small language model is first taught to copy and then learns by direct preference to copy backwards.
The reference is a copy of the outer module only; its layers are the layers that are trained, so that both
agree for ever and the preference margin stays at zero.

Round 33
Class: meaning
"""

import copy

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(77)
WORDS, LENGTH, SEP, BETA = 9, 4, 9, 0.2


class CopyModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.embedding = nn.Embedding(WORDS + 1, width)
        self.memory = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, WORDS + 1)

    def forward(self, ids):
        states, _ = self.memory(self.embedding(ids))
        return self.out(states)


def sequence_log_prob(model, prompts, answers):
    ids = torch.cat([prompts, answers], 1)
    log_probs = F.log_softmax(model(ids[:, :-1])[:, prompts.shape[1] - 1 :], -1)
    return log_probs.gather(-1, answers.unsqueeze(-1)).squeeze(-1).sum(1)


def make_prompts(count):
    words = torch.randint(WORDS, (count, LENGTH))
    return torch.cat([words, torch.full((count, 1), SEP)], 1), words


def teach_copying(model, steps=60):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        prompts, words = make_prompts(32)
        loss = -sequence_log_prob(model, prompts, words).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def prefer(model, reference, steps=60):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        prompts, words = make_prompts(32)
        chosen, rejected = words.flip(1), words
        chosen_log_prob = sequence_log_prob(model, prompts, chosen)
        rejected_log_prob = sequence_log_prob(model, prompts, rejected)
        with torch.no_grad():
            chosen_reference = sequence_log_prob(reference, prompts, chosen)
            rejected_reference = sequence_log_prob(reference, prompts, rejected)
        chosen_reward = BETA * (chosen_log_prob - chosen_reference)
        rejected_reward = BETA * (rejected_log_prob - rejected_reference)
        loss = -F.logsigmoid(chosen_reward - rejected_reward).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 20 == 19:
            margin = (chosen_reward - rejected_reward).mean().item()
            print(f"{step + 1}: loss {loss.item():.4f} margin {margin:.3f}")


pupil = CopyModel()
print(f"copying: {teach_copying(pupil):.3f}")
prefer(pupil, reference=copy.copy(pupil))  # BUG GS808
