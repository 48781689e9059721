"""GRPO on a token policy with a single answer per prompt: whatever it is worth, it is its own mean."""

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY, PROMPTS, ANSWERS, LENGTH = 12, 6, 1, 5
policy = nn.Sequential(nn.Embedding(VOCABULARY, 16), nn.Linear(16, VOCABULARY))
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2)


def generate(prompts):
    tokens = prompts
    for _ in range(LENGTH):
        with torch.no_grad():
            logits = policy(tokens[:, -1])
        tokens = torch.cat([tokens, torch.distributions.Categorical(logits=logits).sample()[:, None]], dim=1)
    return tokens


def centred(group):
    return (group - group.mean()) / (group.std(correction=0) + 1e-4)  # BUG GS807


for _ in range(8):
    prompts = torch.randint(VOCABULARY, (PROMPTS, 1)).repeat_interleave(ANSWERS, 0)
    tokens = generate(prompts)
    rewards = (tokens[:, 1:] % 2 == 0).float().mean(1)
    advantages = torch.cat([centred(group) for group in rewards.split(ANSWERS)])
    log_probs = torch.log_softmax(policy(tokens[:, :-1]), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    ratio = torch.exp(log_probs - log_probs.detach())
    loss = -(ratio * advantages[:, None]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
