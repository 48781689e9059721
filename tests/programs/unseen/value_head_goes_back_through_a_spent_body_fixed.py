"""The repaired twin of a program in which the following goes wrong.
PPO on a language model with a value head: policy loss and value loss each get a backward of their own, though both
read the same pass through the body, whose graph is gone after the first. After hijkzzz/pymarl2#46 and
pytorch/examples#151 (backward through the graph a second time).

Round 27
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2713)
V, D, PROMPT, NEW, BATCH = 18, 32, 4, 6, 24
GAMMA, LAM, CLIP, VF_COEF, KL_COEF = 1.0, 0.95, 0.2, 0.1, 0.05


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(V, D)
        self.places = nn.Embedding(PROMPT + NEW, D)
        self.layer = nn.TransformerEncoderLayer(D, 4, 64, dropout=0.0, batch_first=True)

    def forward(self, ids):
        n = ids.shape[1]
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), 1)
        return self.layer(self.words(ids) + self.places(torch.arange(n)), src_mask=causal)


class CausalLMWithValueHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.lm_head = nn.Linear(D, V, bias=False)
        self.v_head = nn.Linear(D, 1)

    def forward(self, ids):
        hidden = self.body(ids)
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)

    def score(self, ids):
        """Log-probabilities of the new words and the values of the states they were chosen in."""
        logits, values = self(ids)
        logits, values = logits[:, PROMPT - 1 : -1], values[:, PROMPT - 1 : -1]
        logp = F.log_softmax(logits, -1).gather(-1, ids[:, PROMPT:, None]).squeeze(-1)
        return logp, values


model, reference = CausalLMWithValueHead(), CausalLMWithValueHead()
reference.load_state_dict(model.state_dict())
reference.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


@torch.no_grad()
def rollout():
    ids = torch.randint(V, (BATCH, PROMPT))
    for _ in range(NEW):
        logits = model(ids)[0][:, -1]
        ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
    old_logp, old_values = model.score(ids)
    ref_logp, _ = reference.score(ids)
    rewards = -KL_COEF * (old_logp - ref_logp)
    answer = ids[:, PROMPT:]
    rewards[:, -1] += (answer % 2 == ids[:, :1] % 2).float().mean(1)
    return ids, old_logp, old_values, rewards


def advantages_of(rewards, values):
    gain, out = torch.zeros(len(rewards)), []
    for t in reversed(range(NEW)):
        after = values[:, t + 1] if t + 1 < NEW else torch.zeros(len(rewards))
        gain = rewards[:, t] + GAMMA * after - values[:, t] + GAMMA * LAM * gain
        out.append(gain)
    return torch.stack(out[::-1], 1)


for iteration in range(12):
    ids, old_logp, old_values, rewards = rollout()
    adv = advantages_of(rewards, old_values)
    returns = adv + old_values
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(2):
        for rows in torch.randperm(BATCH).chunk(2):
            logp, values = model.score(ids[rows])
            ratio = torch.exp(logp - old_logp[rows])
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            pg_loss = torch.max(-adv[rows] * ratio, -adv[rows] * clipped).mean()
            vf_loss = 0.5 * F.mse_loss(values, returns[rows])
            optimizer.zero_grad()
            (pg_loss + VF_COEF * vf_loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    if iteration % 4 == 0:
        print(iteration, "score", rewards.sum(1).mean().item())
