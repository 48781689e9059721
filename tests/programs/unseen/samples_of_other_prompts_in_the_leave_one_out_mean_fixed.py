"""The prompts are tiled as a whole and the rewards are cut into groups as if every prompt stood there several times in
a row: the mean that is left out of each sample is one over answers to other prompts.
Repaired here.

Round 24
Class: llm-rl
"""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=2404)
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--prompts", type=int, default=6)
    parser.add_argument("--rloo_k", type=int, default=4)
    parser.add_argument("--length", type=int, default=5)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--kl_coef", type=float, default=0.01)
    return parser.parse_args([])


args = parse()
torch.manual_seed(args.seed)
VOCAB = 10


class Policy(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Embedding(16, d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 48), nn.GELU(), nn.Linear(48, VOCAB))

    def forward(self, ids):
        length = ids.size(1)
        x = self.tok(ids) + self.pos(torch.arange(length))
        causal = torch.ones(length, length, dtype=torch.bool).triu(1)
        attended, _ = self.attn(x, x, x, attn_mask=causal, need_weights=False)
        return self.mlp(x + attended)


def sample(policy, queries):
    ids = queries
    with torch.no_grad():
        for _ in range(args.length):
            dist = torch.distributions.Categorical(logits=policy(ids)[:, -1])
            ids = torch.cat([ids, dist.sample()[:, None]], dim=1)
    return ids


def sequence_log_prob(policy, ids, context):
    log_softmax = F.log_softmax(policy(ids[:, :-1])[:, context - 1 :], dim=-1)
    return log_softmax.gather(2, ids[:, context:, None]).squeeze(-1).sum(1)


def get_reward(queries, responses):
    """Some prompts are worth a lot whatever is said, others hardly anything: that is what the baseline is for."""
    worth = queries[:, 0].float()
    return worth + (responses == queries[:, 1:2]).float().sum(1)


policy, reference = Policy(), Policy()
reference.load_state_dict(policy.state_dict())
reference.requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)

for update in range(args.updates):
    queries = torch.randint(VOCAB, (args.prompts, 3))
    queries = queries.repeat_interleave(args.rloo_k, dim=0)
    context = queries.size(1)
    ids = sample(policy, queries)
    scores = get_reward(queries, ids[:, context:])

    log_prob = sequence_log_prob(policy, ids, context)
    with torch.no_grad():
        kl = log_prob - sequence_log_prob(reference, ids, context)
    rlhf_reward = (scores - args.kl_coef * kl).reshape(args.prompts, args.rloo_k)
    baseline = (rlhf_reward.sum(1, keepdim=True) - rlhf_reward) / (args.rloo_k - 1)
    advantages = (rlhf_reward - baseline).flatten()

    loss = -(advantages * log_prob).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if (update + 1) % 10 == 0:
        hits = (ids[:, context:] == queries[:, 1:2]).float().mean()
        print(f"{update + 1:3d}  hits {hits:.3f}  spread of the advantages {advantages.std():.2f}")
