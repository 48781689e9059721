"""Advantages of tokens are normalised along their answer, with that axis kept.

Round 15
Class: llm-rl
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1513)
VOCAB, PROMPT, ANSWER, BATCH, END = 12, 4, 8, 8, 0


def masked_mean(tensor, mask, dim=None):
    return (tensor * mask).sum(dim) / mask.sum(dim).clamp(min=1)


def masked_normalize(tensor, mask, dim=1, eps=1e-8):
    count = mask.sum(dim, keepdim=True).clamp(min=1)
    mean = (tensor * mask).sum(dim, keepdim=True) / count
    centred = (tensor - mean) * mask
    var = (centred**2).sum(dim, keepdim=True) / count
    return centred * var.clamp(min=eps).rsqrt()


class LanguageModel(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24)
        self.rnn = nn.GRU(24, 32, batch_first=True)
        self.out = nn.Linear(32, outputs)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


class Actor(LanguageModel):
    def __init__(self):
        super().__init__(VOCAB)

    def log_probs(self, sequences):
        dist = Categorical(logits=self(sequences[:, :-1])[:, PROMPT - 1 :])
        return dist.log_prob(sequences[:, PROMPT:])

    @torch.no_grad()
    def generate(self, prompts):
        sequences = prompts
        for _ in range(ANSWER):
            token = Categorical(logits=self(sequences)[:, -1]).sample()
            sequences = torch.cat([sequences, token.unsqueeze(1)], 1)
        return sequences


def answer_mask(sequences):
    ended = (sequences[:, PROMPT:] == END).long().cumsum(1)
    return ((ended - (sequences[:, PROMPT:] == END).long()) == 0).float()


class ExperienceMaker:
    def __init__(self, actor, reference, kl_coef=0.05):
        self.actor, self.reference, self.kl_coef = actor, reference, kl_coef

    @torch.no_grad()
    def make(self, prompts):
        sequences = self.actor.generate(prompts)
        mask = answer_mask(sequences)
        old = self.actor.log_probs(sequences)
        kl = old - self.reference.log_probs(sequences)
        repeated = (sequences[:, PROMPT:] == prompts[:, :1]).float()
        rewards = (repeated - self.kl_coef * kl) * mask
        returns = rewards.flip(1).cumsum(1).flip(1)
        advantages = masked_normalize(returns, mask)
        return {
            "sequences": sequences,
            "mask": mask,
            "old": old,
            "advantages": advantages,
            "returns": returns,
        }


class Trainer:
    def __init__(self, epochs=2, clip=0.2):
        self.actor, self.reference = Actor(), Actor().requires_grad_(False)
        self.reference.load_state_dict(self.actor.state_dict())
        self.maker = ExperienceMaker(self.actor, self.reference)
        self.optimizer = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.epochs, self.clip = epochs, clip

    def policy_loss(self, experience):
        ratio = (self.actor.log_probs(experience["sequences"]) - experience["old"]).exp()
        clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
        gain = torch.min(ratio * experience["advantages"], clipped * experience["advantages"])
        return -masked_mean(gain, experience["mask"])

    def fit(self, steps):
        for step in range(steps):
            experience = self.maker.make(torch.randint(1, VOCAB, (BATCH, PROMPT)))
            for _ in range(self.epochs):
                loss = self.policy_loss(experience)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.actor.parameters(), 1.0)
                self.optimizer.step()
            if step % 10 == 0:
                print(step, loss.item(), experience["returns"][:, 0].mean().item())


Trainer().fit(40)
