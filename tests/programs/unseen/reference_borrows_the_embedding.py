"""The reference is built around the policy's own embedding to save memory: where that is trained, the reference moves along.

Round 12
Class: llm-rl
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1218)
VOCAB, WIDTH, PROMPTS, SAMPLES, LENGTH, BETA = 18, 32, 4, 3, 7, 0.1


class TokenModel(nn.Module):
    def __init__(self, embedding=None):
        super().__init__()
        self.embedding = embedding if embedding is not None else nn.Embedding(VOCAB, WIDTH)
        self.state = nn.GRUCell(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def unroll(self, prompt, answer=None):
        """Samples an answer where none is given; the log-probabilities of the answer either way."""
        hidden = torch.zeros(len(prompt), WIDTH)
        token, tokens, logps = prompt, [], []
        for t in range(LENGTH):
            hidden = self.state(self.embedding(token), hidden)
            logits = F.log_softmax(self.head(hidden), -1)
            token = logits.exp().multinomial(1).squeeze(1) if answer is None else answer[:, t]
            tokens.append(token)
            logps.append(logits.gather(1, token[:, None]).squeeze(1))
        return torch.stack(tokens, 1), torch.stack(logps, 1)


def leave_one_out(reward):
    grouped = reward.view(PROMPTS, SAMPLES)
    others = (grouped.sum(1, keepdim=True) - grouped) / (SAMPLES - 1)
    return (grouped - others).flatten()


policy = TokenModel()
reference = TokenModel(policy.embedding)  # BUG GS808 GS306
reference.load_state_dict(copy.deepcopy(policy.state_dict()))
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
for update in range(50):
    prompt = torch.randint(VOCAB, (PROMPTS,)).repeat_interleave(SAMPLES)
    with torch.no_grad():
        answer, sampled = policy.unroll(prompt)
        _, anchored = reference.unroll(prompt, answer)
    task = (answer == prompt[:, None]).float().mean(1)
    reward = task - BETA * (sampled - anchored).sum(1)
    _, logp = policy.unroll(prompt, answer)
    loss = -(leave_one_out(reward) * logp.sum(1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", task.mean().item())
