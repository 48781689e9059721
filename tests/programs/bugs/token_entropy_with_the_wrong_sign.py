"""A token policy: the entropy is written by hand from the logits, over the tokens of the answer, and falls."""

import torch
from torch import nn

torch.manual_seed(0)
VOCABULARY, LENGTH = 12, 8


class TinyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 24)
        self.rnn = nn.GRU(24, 24, batch_first=True)
        self.head = nn.Linear(24, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


model = TinyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(14):
    tokens = torch.randint(VOCABULARY, (8, LENGTH + 1))
    x, y = tokens[:, :-1], tokens[:, 1:]
    mask = (torch.arange(LENGTH) >= torch.randint(1, 4, (8, 1))).float()
    reward = torch.randn(4, 2)
    advantage = ((reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)).view(8, 1)
    log_probs = model(x).log_softmax(-1)
    picked = log_probs.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    entropy = -(log_probs.exp() * log_probs).sum(-1)
    policy_loss = -masked_mean(picked * advantage, mask)
    total = policy_loss + 0.001 * masked_mean(entropy, mask)  # BUG GS802
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
