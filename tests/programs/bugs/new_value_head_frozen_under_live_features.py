"""LoRA by hand on a pretrained network: all but the adapters is frozen, the new value head too, and the optimizer takes
what is left. Its loss trains the adapters, so that a head as it was drawn fits the returns."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)
VOCABULARY, WIDTH = 10, 16


class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.randn(2, base.in_features) * 0.1)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, 2))

    def forward(self, x):
        return self.base(x) + x @ self.lora_A.t() @ self.lora_B.t()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = Adapted(nn.Linear(WIDTH, WIDTH))
        self.lm_head = nn.Linear(WIDTH, VOCABULARY)
        self.value_head = nn.Linear(WIDTH, 1)

    def forward(self, tokens):
        hidden = torch.tanh(self.body(self.embed(tokens)))
        return self.lm_head(hidden), self.value_head(hidden).squeeze(-1)


def only_adapters(model):
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("lora" in name)  # BUG GS207


PRETRAINED = {
    name: torch.randn_like(value) * 0.3 for name, value in Model().state_dict().items() if "value" not in name
}

model = Model()
model.load_state_dict(PRETRAINED, strict=False)
only_adapters(model)  # BUG GS207
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)

for step in range(16):
    tokens = torch.randint(VOCABULARY, (8, 6))
    with torch.no_grad():
        answer = Categorical(logits=model(tokens)[0]).sample()
        reward = (answer == tokens).float()
        values = model(tokens)[1]
    returns = reward.flip(1).cumsum(1).flip(1)
    logits, predicted = model(tokens)
    policy_loss = -(Categorical(logits=logits).log_prob(answer) * (returns - values)).mean()
    value_loss = (predicted - returns).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
