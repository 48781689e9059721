"""A sampler with its own copy of the model is sent all weights before every rollout.

Round 23
Class: llm-rl
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2315)
N, D, R = 13, 20, 3


class LoRA(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Linear(base.in_features, R, bias=False)
        self.lora_b = nn.Linear(R, base.out_features, bias=False)
        nn.init.zeros_(self.lora_b.weight)

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(x))


class Talker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(N, D).requires_grad_(False)
        self.rnn = nn.GRU(D, D, batch_first=True).requires_grad_(False)
        self.wide, self.head = LoRA(nn.Linear(D, 2 * D)), LoRA(nn.Linear(2 * D, N))

    def forward(self, ids):
        return Categorical(logits=self.head(torch.relu(self.wide(self.rnn(self.embed(ids))[0]))))


class Sampler:
    def __init__(self):
        self.model = Talker().eval()

    def receive(self, tensors):
        own = self.model.state_dict()
        for name, value in tensors:
            own[name].copy_(value)

    @torch.no_grad()
    def answers(self, count, length):
        ids = torch.randint(N, (count, 1))
        for _ in range(length):
            word = Categorical(logits=self.model(ids).logits[:, -1]).sample()
            ids = torch.cat([ids, word[:, None]], 1)
        return ids, self.model(ids[:, :-1]).log_prob(ids[:, 1:])


def sync(model, sampler):
    sampler.receive(model.state_dict().items())


model, sampler = Talker(), Sampler()
sampler.model.load_state_dict(model.state_dict())
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(20):
    sync(model, sampler)
    ids, old = sampler.answers(16, 6)
    reward = (ids[:, 1:] < ids[:, :-1]).float().mean(1)
    advantage = ((reward - reward.mean()) / (reward.std() + 1e-6)).unsqueeze(1)
    for _ in range(2):
        ratio = (model(ids[:, :-1]).log_prob(ids[:, 1:]) - old).exp()
        loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
