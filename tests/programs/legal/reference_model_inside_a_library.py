"""A library's own model holds one unused table; the reference and value models are copies (as in RLOO)."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, dropout=0.0)
embed, body, out = (
    nn.Embedding(20, 16),
    nn.TransformerEncoder(layer, 1, enable_nested_tensor=False),
    nn.Linear(16, 20),
)
policy = nn.Sequential(embed, body, out)
reference = copy.deepcopy(policy).eval()
opt = torch.optim.AdamW(policy.parameters(), lr=1e-3)
for _ in range(20):
    prompt = torch.randint(0, 20, (8, 5))
    with torch.no_grad():
        tokens = prompt
        for _ in range(3):
            step = torch.distributions.Categorical(logits=policy(tokens)[:, -1]).sample()
            tokens = torch.cat([tokens, step[:, None]], 1)
        old = reference(tokens)[:, 4:-1].log_softmax(-1).gather(2, tokens[:, 5:, None]).squeeze(-1)
    logp = policy(tokens)[:, 4:-1].log_softmax(-1).gather(2, tokens[:, 5:, None]).squeeze(-1)
    reward = (tokens[:, 5:] % 2).float().sum(1) - 0.05 * (logp.detach() - old).sum(1)
    baseline = (reward.sum() - reward) / 7
    loss = -((reward - baseline) * logp.sum(1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
