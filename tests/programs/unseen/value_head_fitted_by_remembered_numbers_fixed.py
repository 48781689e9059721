"""The repaired twin of a program in which the following goes wrong.
A character model is tuned with generalised advantages from scratch, as in a course notebook: the rollout
keeps the values as plain numbers, so the loss of the value head has no graph and the head stays as it was made.
After jsboige/CoursIA#15256.

Round 36
Class: llm-rl
"""

from itertools import pairwise

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3603)

VOCAB = "abcde."
BOS = len(VOCAB)
MAX_LEN, GAMMA, LAM = 10, 0.99, 0.95
VALUE_COEF, ENTROPY_COEF = 0.5, 0.01


class CharActorCritic(nn.Module):
    """A recurrent policy with two heads: the next character and the value of what was written so far."""

    def __init__(self, d=48):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB) + 1, d)
        self.rnn = nn.GRUCell(d, d)
        self.lm_head = nn.Linear(d, len(VOCAB))
        self.value_head = nn.Linear(d, 1)

    def forward(self, token, h):
        h = self.rnn(self.embed(token), h)
        return self.lm_head(h), self.value_head(h).squeeze(-1), h

    def start(self):
        return torch.tensor([BOS]), torch.zeros(1, self.rnn.hidden_size)


def score(text):
    """Pairs that ascend in the alphabet are good; a full stop after at least four letters is better."""
    ascending = sum(x < y for x, y in pairwise(text) if y != ".")
    return float(ascending) + (2.0 if text.endswith(".") and len(text) > 4 else 0.0)


def rollout(model):
    token, h = model.start()
    log_probs, values, entropies, rewards, text = [], [], [], [], ""
    for _ in range(MAX_LEN):
        logits, value, h = model(token, h)
        dist = torch.distributions.Categorical(logits=logits)
        token = dist.sample()
        log_probs.append(dist.log_prob(token).squeeze(0))
        entropies.append(dist.entropy().squeeze(0))
        values.append(value.squeeze(0))
        before, text = text, text + VOCAB[token.item()]
        rewards.append(score(text) - score(before))
        if text[-1] == ".":
            break
    return log_probs, values, entropies, rewards, text


def gae(rewards, values):
    """The text ends with the last character, be it a full stop or the end of the page: nothing comes after."""
    advantages, running = [], 0.0
    for t in reversed(range(len(rewards))):
        next_value = values[t + 1] if t + 1 < len(values) else 0.0
        delta = rewards[t] + GAMMA * next_value - values[t]
        running = delta + GAMMA * LAM * running
        advantages.insert(0, running)
    return torch.tensor(advantages)


def train_gae(model, epochs=40, texts_per_epoch=8):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    history = []
    for _ in range(epochs):
        losses, scores = [], []
        for _ in range(texts_per_epoch):
            log_probs, values, entropies, rewards, text = rollout(model)
            values_t = torch.stack(values)
            advantages = gae(rewards, values_t.tolist())
            returns = advantages + values_t.detach()
            policy_loss = -(torch.stack(log_probs) * advantages).mean()
            v_loss = F.mse_loss(values_t, returns)
            entropy = torch.stack(entropies).mean()
            losses.append(policy_loss + VALUE_COEF * v_loss - ENTROPY_COEF * entropy)
            scores.append(score(text))
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        history.append(sum(scores) / len(scores))
    return history


model = CharActorCritic()
history = train_gae(model)
print(f"score {history[0]:.2f} -> {history[-1]:.2f}, e.g. {rollout(model)[-1]!r}")
