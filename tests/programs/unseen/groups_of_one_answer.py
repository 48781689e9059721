"""Group-relative advantages where a refactoring left one answer per prompt: the baseline is the reward itself.

Round 4
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(429)

vocab, prompts = 12, 6
answers = 1
model = nn.Sequential(nn.Embedding(vocab, 24), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, vocab))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def group_advantages(rewards):
    groups = rewards.view(prompts, answers)
    centred = groups - groups.mean(1, keepdim=True)  # BUG GS807 GS604
    return (centred / (groups.std(1, keepdim=True, unbiased=False) + 1e-4)).view(-1)  # BUG GS807 GS604


for step in range(40):
    ids = torch.randint(vocab, (prompts * answers, 9))
    rewards = (ids[:, 1:] > 6).float().mean(1)
    advantage = group_advantages(rewards)
    logp = torch.log_softmax(model(ids[:, :-1]), -1).gather(2, ids[:, 1:, None]).squeeze(2)
    ratio = (logp - logp.detach()).exp()
    loss = -(ratio * advantage[:, None]).mean() + 0.01 * (logp.exp() * logp).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
