"""Group-relative policy optimisation that leaves answers without an end out of the loss. The loss of an
answer is a mean over its words, and nothing for an answer that was left out.

Round 32
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

END, VOCAB = 0, 12
PROMPT_LEN, MAX_NEW = 3, 9
GROUPS, GROUP_SIZE = 3, 5


class Policy(nn.Module):
    def __init__(self, dim=32, layers=2):
        super().__init__()
        self.words = nn.Embedding(VOCAB, dim)
        self.places = nn.Parameter(0.02 * torch.randn(PROMPT_LEN + MAX_NEW, dim))
        layer = nn.TransformerEncoderLayer(dim, 2, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.decoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(dim, VOCAB)
        with torch.no_grad():
            self.head.bias[END] = 2.7

    def forward(self, ids):
        n = ids.shape[1]
        future = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
        return self.head(self.decoder(self.words(ids) + self.places[:n], mask=future))


def generate(policy):
    prompts = torch.randint(1, VOCAB, (GROUPS, PROMPT_LEN))
    ids = prompts.repeat_interleave(GROUP_SIZE, dim=0)
    done = torch.zeros(len(ids), dtype=torch.bool)
    mask = torch.zeros(len(ids), MAX_NEW)
    with torch.no_grad():
        for i in range(MAX_NEW):
            word = Categorical(logits=policy(ids)[:, -1]).sample()
            mask[:, i] = (~done).float()
            word[done] = END
            done |= word == END
            ids = torch.cat([ids, word.unsqueeze(1)], dim=1)
    return ids, mask, done


def answer_logp(policy, ids):
    dist = Categorical(logits=policy(ids[:, :-1])[:, PROMPT_LEN - 1 :])
    return dist.log_prob(ids[:, PROMPT_LEN:])


def reward(ids, mask, done):
    """One point for naming a word of the prompt, less a tenth for each word; minus one without an end."""
    found = (ids[:, PROMPT_LEN:, None] == ids[:, None, :PROMPT_LEN]).any(2).float() * mask
    return torch.where(done, found.amax(1) - 0.1 * mask.sum(1), -1.0)


def group_advantages(rewards):
    grouped = rewards.view(GROUPS, GROUP_SIZE)
    centred = grouped - grouped.mean(dim=1, keepdim=True)
    return (centred / (grouped.std(dim=1, keepdim=True) + 1e-4)).view(-1, 1)


def grpo_loss(logp, old_logp, ref_logp, advantages, mask, clip=0.2, beta=0.02):
    ratio = torch.exp(logp - old_logp)
    surrogate = torch.min(ratio * advantages, torch.clamp(ratio, 1 - clip, 1 + clip) * advantages)
    log_gap = ref_logp - logp
    per_word = -surrogate + beta * (log_gap.exp() - log_gap - 1)
    per_answer = (per_word * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1.0)
    return per_answer.mean()


def train(steps=30, inner=2):
    policy, reference = Policy(), Policy()
    reference.load_state_dict(policy.state_dict())
    reference.requires_grad_(False)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    skipped = 0
    for step in range(steps):
        ids, mask, done = generate(policy)
        rewards = reward(ids, mask, done)
        advantages = group_advantages(rewards)
        loss_mask = mask * done.unsqueeze(1).float()
        with torch.no_grad():
            old_logp, ref_logp = answer_logp(policy, ids), answer_logp(reference, ids)
        for _ in range(inner):
            loss = grpo_loss(answer_logp(policy, ids), old_logp, ref_logp, advantages, loss_mask)
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            if not torch.isfinite(norm):
                skipped += 1
                continue
            optimizer.step()
        if step % 4 == 0:
            print(f"step {step:2d} reward {rewards.mean():.3f} ended {done.float().mean():.2f}")
    print(f"{skipped} of {steps * inner} updates skipped")


if __name__ == "__main__":
    torch.manual_seed(3212)
    train()
