"""Policy training with an adaptive penalty: the controller of its coefficient is handed the divergence as it stands in
the loss, and the coefficient brings the graph of every update before along.

Round 29
Class: llm-rl
"""

import copy

import torch
from torch import nn


class AdaptiveKLController:
    def __init__(self, init_kl_coef, target, horizon):
        self.value, self.target, self.horizon = init_kl_coef, target, horizon

    def update(self, current, n_steps):
        proportional_error = current / self.target - 1
        if proportional_error > 0.2:
            proportional_error = 0.2
        mult = 1 + proportional_error * n_steps / self.horizon
        self.value = self.value * mult  # BUG GS305


class LM(nn.Module):
    def __init__(self, vocab=18, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.lm_head, self.v_head = nn.Linear(width, vocab), nn.Linear(width, 1)

    def forward(self, ids):
        hidden = self.rnn(self.embed(ids))[0]
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


def logprobs_of(logits, ids):
    return logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


@torch.no_grad()
def respond(model, query, length):
    ids = query
    for _ in range(length):
        ids = torch.cat([ids, model(ids)[0][:, -1].softmax(-1).multinomial(1)], dim=1)
    return ids


torch.manual_seed(2926)
model = LM()
ref_model = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
controller = AdaptiveKLController(init_kl_coef=0.1, target=0.05, horizon=400)
query_length, response_length = 3, 7

for step in range(25):
    ids = respond(model, torch.randint(18, (16, query_length)), response_length)
    response = ids[:, query_length:]
    reward = (response % 3 == 0).float().mean(1)
    keep = slice(query_length - 1, -1)
    with torch.no_grad():
        ref_logps = logprobs_of(ref_model(ids)[0][:, keep], response)

    logits, values = model(ids)
    logps, values = logprobs_of(logits[:, keep], response), values[:, keep]
    advantage = (reward.unsqueeze(1) - values).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    pg_loss = -(advantage * logps).mean()
    vf_loss = (values - reward.unsqueeze(1)).pow(2).mean()
    kl = 0.5 * (logps - ref_logps).pow(2).mean()
    loss = pg_loss + 0.1 * vf_loss + controller.value * kl

    optimizer.zero_grad()
    loss.backward()  # BUG GS305 GS402
    optimizer.step()
    controller.update(kl, len(ids))  # BUG GS305
