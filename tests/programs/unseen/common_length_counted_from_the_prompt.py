"""Preference training that damps what an answer has beyond the length of the other one. The places of that common
length are counted from the beginning of the sequence, where the prompt stands; prompts are longer than answers, so
that no token of an answer is left in either part and the loss stays where it is.

Round 17
Class: llm-rl
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1709)
VOCABULARY, PROMPT, LONGEST, PAIRS = 15, 8, 6, 12


@dataclass(frozen=True)
class Arguments:
    beta: float = 0.2
    damping: float = 0.5
    lr: float = 1e-3
    updates: int = 50


class TokenModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.cell(self.embed(tokens))[0])


def collate(generator):
    """Prompt and answer in one row, chosen rows first; the chosen answers hold low tokens."""
    prompt = torch.randint(VOCABULARY, (PAIRS, PROMPT), generator=generator)
    chosen = torch.randint(0, 8, (PAIRS, LONGEST), generator=generator)
    rejected = torch.randint(5, VOCABULARY, (PAIRS, LONGEST), generator=generator)
    lengths = torch.randint(2, LONGEST + 1, (2 * PAIRS,), generator=generator)
    tokens = torch.cat([prompt.repeat(2, 1), torch.cat([chosen, rejected])], 1)
    places = torch.arange(PROMPT + LONGEST)
    answer = (places >= PROMPT) & (places < PROMPT + lengths.unsqueeze(1))
    return tokens, answer


class PreferenceTrainer:
    def __init__(self, model, arguments):
        self.model, self.arguments = model, arguments
        self.reference = copy.deepcopy(model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.lr)

    def sequence_log_probs(self, model, tokens, answer):
        scores = F.log_softmax(model(tokens)[:, :-1], -1)
        per_token = scores.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
        mask = answer[:, 1:]
        lengths = mask.sum(1)
        common = torch.minimum(lengths[:PAIRS], lengths[PAIRS:]).repeat(2).unsqueeze(1)
        places = torch.arange(per_token.shape[1]).expand_as(per_token)  # BUG GS208
        inside = mask & (places < lengths.unsqueeze(1))  # BUG GS208
        front = (inside & (places < common)).float()  # BUG GS208
        rear = (inside & (places >= common)).float()  # BUG GS208
        return (per_token * (front + self.arguments.damping * rear)).sum(1)  # BUG GS208

    def loss(self, tokens, answer):
        mine = self.sequence_log_probs(self.model, tokens, answer)
        with torch.no_grad():
            theirs = self.sequence_log_probs(self.reference, tokens, answer)
        rewards = self.arguments.beta * (mine - theirs)
        margin = rewards[:PAIRS] - rewards[PAIRS:]
        return -F.logsigmoid(margin).mean(), (margin.detach() > 0).float().mean().item()

    def train(self):
        generator = torch.Generator().manual_seed(9)
        for update in range(self.arguments.updates):
            loss, accuracy = self.loss(*collate(generator))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if update % 10 == 0:
                print(update, round(loss.item(), 4), accuracy)


PreferenceTrainer(TokenModel(), Arguments()).train()
