"""Token-level PPO: the policy's term is masked, the critic's is averaged over the padding, too.
Repaired here.

Round 9
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(921)
VOCAB, BATCH, LENGTH = 18, 12, 10


class PolicyWithValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.rnn = nn.GRU(32, 32, batch_first=True)
        self.lm, self.value = nn.Linear(32, VOCAB), nn.Linear(32, 1)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.lm(hidden), self.value(hidden).squeeze(-1)


model = PolicyWithValues()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for update in range(40):
    tokens = torch.randint(1, VOCAB, (BATCH, LENGTH + 1))
    lengths = torch.randint(3, LENGTH + 1, (BATCH,))
    keep = torch.arange(LENGTH) < lengths[:, None]
    tokens[:, 1:][~keep] = 0
    mask = keep.float()
    reward = ((tokens[:, 1:] == 5).float() * mask).sum(1)
    returns = reward[:, None] * mask
    logits, values = model(tokens[:, :-1])
    logp = F.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    old = logp.detach()
    advantage = ((returns - values) * mask).detach()
    ratio = (logp - old).exp()
    policy = -(torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage) * mask).sum() / mask.sum()
    critic = ((values - returns).pow(2) * mask).sum() / mask.sum()
    loss = policy + 0.5 * critic
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
