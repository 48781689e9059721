"""Group-relative training at a temperature of 0.7: the policy's log-probabilities are those of the cooled logits, the
reference's are not, and the penalty pulls a policy that has not moved.

Round 23
Class: llm-rl
"""

import torch
from torch import nn

VOCAB, WIDTH, PROMPT, ANSWER = 16, 32, 3, 6


def attend(x, qkv):
    q, k, v = qkv(x).chunk(3, dim=-1)
    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, WIDTH), nn.Embedding(PROMPT + ANSWER, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.mlp = nn.Sequential(
            nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)
        )
        self.head = nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        x = x + attend(x, self.qkv)
        return self.head(x + self.mlp(x))


class GRPO:
    def __init__(self, temperature=0.7, group=6, beta=0.05):
        self.temperature, self.group, self.beta = temperature, group, beta
        self.policy, self.reference = Transformer(), Transformer()
        self.reference.load_state_dict(self.policy.state_dict())
        self.reference.eval().requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=1e-3)

    def per_token_logps(self, model, ids, temperature=1.0):
        logits = model(ids)[:, PROMPT - 1 : -1] / temperature
        return logits.log_softmax(-1).gather(-1, ids[:, PROMPT:, None]).squeeze(-1)

    @torch.no_grad()
    def generate(self):
        ids = torch.randint(VOCAB, (4, PROMPT)).repeat_interleave(self.group, dim=0)
        for _ in range(ANSWER):
            logits = self.policy(ids)[:, -1] / self.temperature
            ids = torch.cat([ids, logits.softmax(-1).multinomial(1)], dim=1)
        return ids

    def step(self):
        ids = self.generate()
        rewards = (ids[:, PROMPT:] == ids[:, :1]).float().sum(1).view(-1, self.group)
        advantages = ((rewards - rewards.mean(1, True)) / (rewards.std(1, keepdim=True) + 1e-4)).view(-1, 1)
        logps = self.per_token_logps(self.policy, ids, self.temperature)
        with torch.no_grad():
            ref_logps = self.per_token_logps(self.reference, ids)  # BUG GS808 GS803
        delta = ref_logps - logps
        kl = torch.exp(delta) - delta - 1
        loss = (-torch.exp(logps - logps.detach()) * advantages + self.beta * kl).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


torch.manual_seed(2312)
trainer = GRPO()
for _ in range(36):
    trainer.step()
