"""Policy gradient with low-rank adapters that are merged for the sampler and taken out again behind it.

Round 26
Class: llm-rl
"""

import torch
from torch import nn

VOCAB, WIDTH, RANK = 16, 32, 4
PROMPTS, GROUP, ANSWER = 4, 6, 6
BETA, UPDATES = 0.1, 30


class AdaptedLinear(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.weight = nn.Parameter(base.weight.detach().clone(), requires_grad=False)
        self.bias = nn.Parameter(base.bias.detach().clone(), requires_grad=False)
        self.down = nn.Parameter(torch.randn(RANK, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, RANK))
        self.active = True
        self.kept = None

    def forward(self, x):
        y = nn.functional.linear(x, self.weight, self.bias)
        return y + x @ self.down.T @ self.up.T if self.active else y

    @torch.no_grad()
    def merge(self):
        self.kept = self.weight.clone()
        self.weight += self.up @ self.down

    @torch.no_grad()
    def unmerge(self):
        self.weight.copy_(self.kept)


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.core = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        hidden = self.core(self.embed(ids))[0]
        return self.head(torch.relu(self.mix(hidden)))


def with_adapters(base):
    for parameter in base.parameters():
        parameter.requires_grad_(False)
    base.mix, base.head = AdaptedLinear(base.mix), AdaptedLinear(base.head)
    return base


class Trainer:
    def __init__(self):
        base, self.sampler = Base(), Base()
        self.sampler.load_state_dict(base.state_dict())
        self.policy = with_adapters(base)
        self.adapted = [m for m in self.policy.modules() if isinstance(m, AdaptedLinear)]
        trainable = [p for p in self.policy.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(trainable, lr=1e-2, weight_decay=0.0)

    @torch.no_grad()
    def sync_sampler(self):
        for module in self.adapted:
            module.merge()
        names = set(self.sampler.state_dict())
        merged = {k: v.clone() for k, v in self.policy.state_dict().items() if k in names}
        self.sampler.load_state_dict(merged)
        for module in self.adapted:
            module.unmerge()

    @torch.no_grad()
    def generate(self):
        ids = torch.randint(0, VOCAB, (PROMPTS, 1)).repeat_interleave(GROUP, dim=0)
        for _ in range(ANSWER):
            probs = torch.softmax(self.sampler(ids)[:, -1], dim=-1)
            ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
        return ids

    def logps(self, ids):
        scores = torch.log_softmax(self.policy(ids[:, :-1]), dim=-1)
        return scores.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def reference_logps(self, ids):
        for module in self.adapted:
            module.active = False
        reference = self.logps(ids)
        for module in self.adapted:
            module.active = True
        return reference

    def update(self):
        self.sync_sampler()
        ids = self.generate()
        rewards = (ids[:, 1:] == ids[:, :1]).float().sum(1)
        groups = rewards.view(PROMPTS, GROUP)
        advantages = ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)).view(
            -1, 1
        )
        reference = self.reference_logps(ids)
        logps = self.logps(ids)
        gap = reference - logps
        kl = gap.exp() - gap - 1
        loss = (BETA * kl - torch.exp(logps - logps.detach()) * advantages).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return rewards.mean().item(), kl.mean().item()


torch.manual_seed(2606)
trainer = Trainer()
for step in range(UPDATES):
    reward, kl = trainer.update()
    if step % 5 == 0:
        print(f"{step:2d} reward {reward:.2f} kl {kl:.4f}")
