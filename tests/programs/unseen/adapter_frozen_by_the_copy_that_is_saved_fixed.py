"""An actor-critic over tokens with low-rank adapters. A checkpoint is saved in converted form, for which the initial
adapter is loaded beside the trained one for a moment. Loading it makes it the active one, which freezes all others;
afterwards the trained one is active again, and frozen for the rest of the run.

Round 17
Class: late and rare
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1703)
VOCAB, STEPS, BATCH, RANK = 9, 5, 16, 3


class AdaptedLinear(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        self.active = ""

    def add(self, name, down=None, up=None):
        outputs, inputs = self.base.weight.shape
        self.down[name] = nn.Parameter(0.3 * torch.randn(RANK, inputs) if down is None else down)
        self.up[name] = nn.Parameter(torch.zeros(outputs, RANK) if up is None else up)

    def activate(self, name):
        self.active = name
        for factors in (self.down, self.up):
            for key, factor in factors.items():
                factor.requires_grad_(key == name)

    def remove(self, name):
        del self.down[name], self.up[name]

    def forward(self, x):
        return self.base(x) + x @ self.down[self.active].T @ self.up[self.active].T


class AdaptedPolicy(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width).requires_grad_(False)
        self.mix = AdaptedLinear(nn.Linear(width, width))
        self.out = AdaptedLinear(nn.Linear(width, VOCAB))
        self.value = nn.Linear(width, 1)
        for layer in self.adapted():
            layer.add("default")
            layer.activate("default")

    def adapted(self):
        return [self.mix, self.out]

    def forward(self, tokens):
        hidden = torch.tanh(self.mix(self.embed(tokens).cumsum(1)))
        return self.out(hidden), self.value(hidden.detach()).squeeze(-1)

    def load_adapter(self, name, states):
        for layer, (down, up) in zip(self.adapted(), states):
            layer.add(name, down.clone(), up.clone())
            layer.activate(name)

    def adapter_states(self, name):
        return [(layer.down[name].detach(), layer.up[name].detach()) for layer in self.adapted()]


class Trainer:
    def __init__(self, policy):
        self.policy = policy
        self.initial = copy.deepcopy(policy.adapter_states("default"))
        trainable = [p for p in policy.parameters() if p.requires_grad]
        self.optimizer = torch.optim.Adam(trainable, lr=5e-3)
        self.saved = {}

    def save_converted(self, update):
        """What was learned, as the difference of trained and initial factors, side by side."""
        self.policy.load_adapter("initial", self.initial)
        pairs = zip(self.policy.adapter_states("default"), self.policy.adapter_states("initial"))
        self.saved[update] = [(torch.cat([a, c]), torch.cat([b, -d], 1)) for (a, b), (c, d) in pairs]
        for layer in self.policy.adapted():
            layer.remove("initial")
            layer.activate("default")

    @torch.no_grad()
    def generate(self):
        tokens = torch.randint(VOCAB, (BATCH, 1))
        for _ in range(STEPS):
            logits, _ = self.policy(tokens)
            tokens = torch.cat([tokens, torch.multinomial(logits[:, -1].softmax(-1), 1)], 1)
        reward = (tokens[:, 1:] == (tokens[:, :-1] + 2) % VOCAB).float()
        return tokens, reward.flip(1).cumsum(1).flip(1)

    def update(self):
        tokens, returns = self.generate()
        logits, values = self.policy(tokens[:, :-1])
        log_probs = F.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        advantage = returns - values.detach()
        loss = -(log_probs * advantage).mean() + 0.5 * F.mse_loss(values, returns)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return returns[:, 0].mean().item()


trainer = Trainer(AdaptedPolicy())
scores = []
for number in range(1, 81):
    scores.append(trainer.update())
    if number % 20 == 0:
        trainer.save_converted(number)
print(f"{sum(scores[:20]) / 20:.2f} → {sum(scores[-20:]) / 20:.2f}, {len(trainer.saved)} checkpoints")
