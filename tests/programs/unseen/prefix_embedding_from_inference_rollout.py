"""Group-relative policy training over a token policy: the prompt's embedding is made by a rollout function
under inference mode and is used again as the input of the training forward.

Class: forward errors
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
VOCAB, WIDTH, GROUP, LENGTH = 20, 24, 8, 6


class TokenPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.mix = nn.Linear(2 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def encode(self, prompt):
        return self.embed(prompt).mean(1)

    def logits(self, context, token):
        return self.head(torch.tanh(self.mix(torch.cat([context, self.embed(token)], -1))))


@torch.inference_mode()  # BUG GS202 GS201
def generate(policy, prompt):
    context = policy.encode(prompt)  # BUG GS202 GS201
    token, tokens = prompt[:, -1], []
    for _ in range(LENGTH):
        token = torch.multinomial(policy.logits(context, token).softmax(-1), 1).squeeze(-1)
        tokens.append(token)
    return torch.stack(tokens, 1), context


def log_probs(policy, context, prompt, tokens):
    before = torch.cat([prompt[:, -1:], tokens[:, :-1]], 1)
    spread = context.unsqueeze(1).expand(-1, LENGTH, -1)
    logp = F.log_softmax(policy.logits(spread, before), -1)
    return logp.gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


policy = TokenPolicy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
for update in range(60):
    prompt = torch.randint(0, VOCAB, (1, 4)).expand(GROUP, 4)
    tokens, context = generate(policy, prompt)
    tokens = tokens.clone()
    reward = (tokens == 7).float().mean(1)
    advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
    logp = log_probs(policy, context, prompt, tokens)  # BUG GS202 GS201
    loss = -(advantage.unsqueeze(1) * logp).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("reward", reward.mean().item())
