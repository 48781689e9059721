"""A model that answers in at most six words is reinforced against the estimate of its value head, word by
word. The estimate is still attached where it is subtracted, so the term for the policy moves the value head
as well.

Round 34
Class: llm-rl
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

VOCAB, STOP, PROMPT, LONGEST = 11, 10, 3, 6

torch.manual_seed(365)
rng = np.random.default_rng(365)


class Answerer(nn.Module):
    def __init__(self, width=36):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.memory = nn.LSTM(width, width, batch_first=True)
        self.words = nn.Linear(width, VOCAB)
        self.worth = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, tokens):
        hidden, _ = self.memory(self.embed(tokens))
        # the value head reads the features, it does not shape them
        return self.words(hidden), self.worth(hidden.detach()).squeeze(-1)


def answer(model, prompts):
    tokens = prompts
    with torch.no_grad():
        for _ in range(LONGEST):
            logits, _ = model(tokens)
            tokens = torch.cat([tokens, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
    return tokens


def spoken(tokens):
    stopped = (tokens[:, PROMPT:] == STOP).int()
    return (stopped.cumsum(1) - stopped == 0).float()


def reward_of(tokens, mask):
    """The answer should hold the largest digit of the prompt, and as few words as it can."""
    largest = tokens[:, :PROMPT].max(1, keepdim=True).values
    found = ((tokens[:, PROMPT:] == largest) * mask).amax(1)
    return found - 0.05 * mask.sum(1)


model = Answerer()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
rewards_seen = []

for _ in range(60):
    prompts = torch.from_numpy(rng.integers(0, STOP, (40, PROMPT)))
    tokens = answer(model, prompts)
    mask = spoken(tokens)
    reward = reward_of(tokens, mask)

    logits, values = model(tokens[:, :-1])
    logits, values = logits[:, PROMPT - 1 :], values[:, PROMPT - 1 :]
    log_probs = F.log_softmax(logits, dim=-1)
    taken = log_probs.gather(2, tokens[:, PROMPT:].unsqueeze(2)).squeeze(2)
    entropy = -(log_probs.exp() * log_probs).sum(2)

    returns = reward.unsqueeze(1).expand_as(values)
    advantages = returns - values  # BUG GS303 GS304
    words = mask.sum()
    policy_loss = -(taken * advantages * mask).sum() / words  # BUG GS303 GS304
    value_loss = ((values - returns).pow(2) * mask).sum() / words
    entropy_bonus = (entropy * mask).sum() / words

    loss = policy_loss + 0.5 * value_loss - 0.01 * entropy_bonus  # BUG GS303 GS304
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    rewards_seen.append(reward.mean().item())

print(f"reward {np.mean(rewards_seen[:5]):.3f} -> {np.mean(rewards_seen[-5:]):.3f}")
