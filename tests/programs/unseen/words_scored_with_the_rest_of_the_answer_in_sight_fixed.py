"""Clipped policy optimisation of a small transformer that scores whole answers under a causal mask.

Round 26
Class: llm-rl
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2603)
VOCAB, WIDTH, PROMPT, ANSWER = 16, 32, 3, 7
ROWS, EPOCHS, CLIP, UPDATES = 24, 2, 0.2, 25


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCAB, WIDTH)
        self.position = nn.Embedding(PROMPT + ANSWER, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.lm_head = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.token(ids) + self.position(torch.arange(length))
        causal = nn.Transformer.generate_square_subsequent_mask(length)
        return self.lm_head(self.layers(x, mask=causal, is_causal=True))


@torch.no_grad()
def generate(policy, prompts):
    ids, logps = prompts, []
    for _ in range(ANSWER):
        dist = Categorical(logits=policy(ids)[:, -1])
        token = dist.sample()
        logps.append(dist.log_prob(token))
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    return ids, torch.stack(logps, dim=1)


def reward_fn(ids):
    """Pays for every word that is one more than the word before it."""
    answer = ids[:, PROMPT - 1 :]
    return ((answer[:, 1:] - answer[:, :-1]) % VOCAB == 1).float().sum(dim=1)


def answer_logps(policy, ids):
    logits = policy(ids[:, :-1])[:, PROMPT - 1 :]
    return Categorical(logits=logits).log_prob(ids[:, PROMPT:])


def main():
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    for update in range(UPDATES):
        prompts = torch.randint(0, VOCAB, (ROWS, PROMPT))
        ids, old_logps = generate(policy, prompts)
        rewards = reward_fn(ids)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        for _ in range(EPOCHS):
            logps = answer_logps(policy, ids)
            ratio = (logps - old_logps).exp()
            surrogate = ratio * advantages[:, None]
            limited = ratio.clamp(1 - CLIP, 1 + CLIP) * advantages[:, None]
            loss = -torch.min(surrogate, limited).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
        if update % 5 == 0:
            print(f"{update:3d} reward {rewards.mean():.3f}")


main()
