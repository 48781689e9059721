"""Direct preference optimisation with low-rank adapters; the optimizer is made when they are in.

Round 26
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, WIDTH, RANK, BETA = 20, 32, 4, 0.3


class LoRALinear(nn.Module):
    def __init__(self, base, rank, scale=2.0):
        super().__init__()
        self.base, self.scale, self.enabled = base, scale, True
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.lora_b.weight)

    def forward(self, x):
        out = self.base(x)
        return out + self.scale * self.lora_b(self.lora_a(x)) if self.enabled else out


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.dense = nn.Linear(WIDTH, WIDTH)
        self.lm_head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        return self.lm_head(torch.tanh(self.dense(self.gru(self.embed(ids))[0])))


def inject_lora(model, names, rank):
    for parameter in model.parameters():
        parameter.requires_grad = False
    for name in names:
        setattr(model, name, LoRALinear(getattr(model, name), rank))


def set_adapters(model, enabled):
    for module in model.modules():
        if isinstance(module, LoRALinear):
            module.enabled = enabled


def sequence_logps(model, ids, mask):
    logps = F.log_softmax(model(ids[:, :-1]), dim=-1)
    picked = logps.gather(2, ids[:, 1:].unsqueeze(2)).squeeze(2)
    return (picked * mask[:, 1:]).sum(dim=1)


def preference_pairs(count):
    """Answers that count upwards are preferred to answers that count downwards."""
    prompt = torch.randint(0, VOCAB, (count, 2))
    steps = torch.arange(1, 6)
    chosen = torch.cat([prompt, (prompt[:, 1:] + steps) % VOCAB], dim=1)
    rejected = torch.cat([prompt, (prompt[:, 1:] - steps) % VOCAB], dim=1)
    lengths = torch.randint(3, 6, (2, count, 1))
    places = torch.arange(7)
    masks = (places >= 2) & (places < 2 + lengths)
    return chosen, rejected, masks[0].float(), masks[1].float()


def dpo_loss(model, chosen, rejected, chosen_mask, rejected_mask):
    set_adapters(model, False)
    with torch.no_grad():
        reference_chosen = sequence_logps(model, chosen, chosen_mask)
        reference_rejected = sequence_logps(model, rejected, rejected_mask)
    set_adapters(model, True)
    gain_chosen = sequence_logps(model, chosen, chosen_mask) - reference_chosen
    gain_rejected = sequence_logps(model, rejected, rejected_mask) - reference_rejected
    return -F.logsigmoid(BETA * (gain_chosen - gain_rejected)).mean()


def main():
    torch.manual_seed(2609)
    model = LanguageModel()
    inject_lora(model, ("dense", "lm_head"), RANK)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=5e-3, weight_decay=0.0)
    for step in range(40):
        loss = dpo_loss(model, *preference_pairs(16))
        model.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, round(loss.item(), 4))


main()
