"""The rollout's log-probabilities are of the tempered distribution, the update's are not.
Repaired here.

Round 6
Class: llm-rl
"""

import torch
from torch import nn

torch.manual_seed(618)

model = nn.Sequential(nn.Embedding(10, 24), nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
TEMPERATURE = 0.6


def rollout(prompts):
    with torch.no_grad():
        tempered = model(prompts) / TEMPERATURE
        dist = torch.distributions.Categorical(logits=tempered)
        tokens = dist.sample()
        return tokens, dist.log_prob(tokens)


for update in range(15):
    prompts = torch.randint(10, (8, 6))
    tokens, old = rollout(prompts)
    reward = (tokens > 4).float().mean(1)
    advantage = ((reward - reward.mean()) / (reward.std() + 1e-4)).unsqueeze(1)
    for epoch in range(2):
        new = torch.distributions.Categorical(logits=model(prompts) / TEMPERATURE).log_prob(tokens)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
