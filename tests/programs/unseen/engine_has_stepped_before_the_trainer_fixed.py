"""Leave-one-out policy gradients through an engine that, once it was handed an optimizer, clips and steps within its
backward. The trainer's own backward pass steps the same optimizer behind it: every gradient is applied twice.
Repaired here.

Round 17
Class: the line
"""

from abc import ABC, abstractmethod

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1708)
WORDS, PROMPTS, SAMPLES, STEPS = 9, 6, 4, 5


class Engine:
    """Stands in for a library that owns the loop: accumulation, clipping and the step."""

    def __init__(self, module, optimizer=None, every=1, max_norm=1.0):
        self.module, self.optimizer = module, optimizer
        self.every, self.max_norm, self.calls = every, max_norm, 0

    def backward(self, loss):
        (loss / self.every).backward()
        self.calls += 1
        if self.optimizer is not None and self.calls % self.every == 0:
            nn.utils.clip_grad_norm_(self.module.parameters(), self.max_norm)
            self.optimizer.step()


class LanguageAlgorithm(ABC):
    def __init__(self, policy, lr, use_engine):
        self.policy = policy
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.5, total_iters=60)
        self.engine = Engine(policy, self.optimizer) if use_engine else None

    @abstractmethod
    def learn(self, experience): ...

    def backward_pass(self, loss):
        self.optimizer.zero_grad()
        if self.engine is not None:
            self.engine.backward(loss)
        else:
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
        self.schedule.step()


class Speaker(nn.Module):
    def __init__(self, width=28):
        super().__init__()
        self.word, self.topic = nn.Embedding(WORDS + 1, width), nn.Embedding(PROMPTS, width)
        self.cell, self.out = nn.GRUCell(width, width), nn.Linear(width, WORDS)

    def forward(self, topics, answers=None):
        hidden, word = self.topic(topics), torch.full_like(topics, WORDS)
        scores, words = [], []
        for step in range(STEPS):
            hidden = self.cell(self.word(word), hidden)
            log_probs = F.log_softmax(self.out(hidden), -1)
            word = torch.multinomial(log_probs.exp(), 1).squeeze(1) if answers is None else answers[:, step]
            scores.append(log_probs.gather(1, word.unsqueeze(1)).squeeze(1))
            words.append(word)
        return torch.stack(words, 1), torch.stack(scores, 1).sum(1)


class LeaveOneOut(LanguageAlgorithm):
    def learn(self, experience):
        topics, answers, rewards = experience
        others = (rewards.sum(1, keepdim=True) - rewards) / (SAMPLES - 1)
        advantage = (rewards - others).flatten()
        _, log_prob = self.policy(topics, answers)
        loss = -(advantage * log_prob).mean()
        self.backward_pass(loss)
        return loss.item()

    @torch.no_grad()
    def generate(self):
        topics = torch.arange(PROMPTS).repeat_interleave(SAMPLES)
        answers, _ = self.policy(topics)
        return topics, answers, (answers == topics.unsqueeze(1)).float().mean(1).view(PROMPTS, SAMPLES)


agent = LeaveOneOut(Speaker(), lr=3e-3, use_engine=True)
for iteration in range(50):
    experience = agent.generate()
    loss = agent.learn(experience)
    if iteration % 10 == 0:
        print(iteration, round(loss, 4), "reward", experience[2].mean().item())
