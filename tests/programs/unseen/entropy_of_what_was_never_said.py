"""The surrogate of a token policy is masked; its entropy bonus is averaged over the padding as well.

Round 11
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1122)
VOCAB, PAD = 15, 0


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24, padding_idx=PAD)
        self.rnn = nn.LSTM(24, 24, batch_first=True)
        self.head = nn.Linear(24, VOCAB)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


speaker = Speaker()
optimizer = torch.optim.Adam(speaker.parameters(), lr=1e-3)
for update in range(40):
    tokens = torch.randint(1, VOCAB, (12, 9))
    length = torch.randint(3, 9, (12, 1))
    tokens[torch.arange(9) > length] = PAD
    mask = (tokens[:, 1:] != PAD).float()
    logits = speaker(tokens[:, :-1])
    all_logp = F.log_softmax(logits, -1)
    logp = all_logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    reward = ((tokens[:, 1:] == 6) * mask).sum(1)
    advantage = (reward - reward.mean())[:, None]
    entropy = -(all_logp.exp() * all_logp).sum(-1)
    surrogate = ((logp - logp.detach()).exp() * advantage * mask).sum() / mask.sum()
    loss = -surrogate - 0.01 * entropy.mean()  # BUG GS605
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
