"""PPO on tokens as a class: value, policy and entropy are masked alike."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(43)
VOCABULARY, PAD = 9, 0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 16, padding_idx=PAD)
        self.memory = nn.LSTM(16, 24, batch_first=True)
        self.policy, self.value = nn.Linear(24, VOCABULARY), nn.Linear(24, 1)

    def forward(self, tokens):
        hidden, _ = self.memory(self.embed(tokens))
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


class Trainer:
    def __init__(self):
        self.model = Model()
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def masked_mean(self, values, mask):
        return (values * mask).sum() / mask.sum().clamp(min=1)

    def update(self, tokens, mask, old, returns, advantage):
        for _ in range(2):
            dist, value = self.model(tokens[:, :-1])
            ratio = (dist.log_prob(tokens[:, 1:]) - old).exp()
            clipped = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            policy_loss = -self.masked_mean(clipped, mask)
            value_loss = self.masked_mean((value - returns) ** 2, mask)
            entropy = self.masked_mean(dist.entropy(), mask)
            loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


def answers(count):
    lengths = torch.randint(3, 10, (count,))
    tokens = torch.randint(1, VOCABULARY, (count, 10))
    return tokens.masked_fill(torch.arange(10) >= lengths.unsqueeze(1), PAD)


trainer = Trainer()
for step in range(8):
    tokens = answers(12)
    mask = (tokens[:, 1:] != PAD).float()
    with torch.no_grad():
        dist, value = trainer.model(tokens[:, :-1])
        old = dist.log_prob(tokens[:, 1:])
    returns = ((tokens[:, 1:] == 4).float() * mask).flip(1).cumsum(1).flip(1)
    advantage = returns - value
    trainer.update(tokens, mask, old, returns, advantage * mask)
