"""A language policy goes back to its best copy when its answers get worse: the copy takes the network's place and the
optimizer goes on with the weights that were thrown away.

Round 29
Class: llm-rl
"""

import copy

import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self, vocab=16, width=32):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.to_vocab = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.to_vocab(self.layers(self.embed(ids))[0])

    @torch.no_grad()
    def speak(self, ids, length):
        for _ in range(length):
            ids = torch.cat([ids, self(ids)[:, -1].softmax(-1).multinomial(1)], dim=1)
        return ids


class OnlineTrainer:
    def __init__(self, policy, question=2, answer=6, lr=2e-2):
        self.policy, self.question, self.answer = policy, question, answer
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)  # BUG GS205 GS206
        self.best_policy, self.best_reward = copy.deepcopy(policy).requires_grad_(False), -1.0

    def reward(self, ids):
        said = ids[:, self.question :]
        return (said[:, 1:] > said[:, :-1]).float().mean(1)

    def questions(self, count):
        return torch.randint(self.policy.vocab, (count, self.question))

    def train_step(self):
        ids = self.policy.speak(self.questions(24), self.answer)
        reward = self.reward(ids)
        advantage = (reward - reward.mean()) / (reward.std() + 1e-6)
        logits = self.policy(ids[:, :-1])[:, self.question - 1 :]
        logps = logits.log_softmax(-1).gather(-1, ids[:, self.question :, None]).squeeze(-1)
        loss = -(advantage * logps.sum(1)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def evaluate(self):
        return self.reward(self.policy.speak(self.questions(64), self.answer)).mean().item()

    def keep_or_revert(self):
        current = self.evaluate()
        if current >= self.best_reward:
            self.best_reward = current
            self.best_policy = copy.deepcopy(self.policy).requires_grad_(False)
        else:
            self.policy = copy.deepcopy(self.best_policy).requires_grad_(True)  # BUG GS205 GS206
        return current


torch.manual_seed(2929)
trainer = OnlineTrainer(Speaker())
for step in range(60):
    trainer.train_step()
    if step % 5 == 4:
        print(step, f"{trainer.keep_or_revert():.3f} best {trainer.best_reward:.3f}")
