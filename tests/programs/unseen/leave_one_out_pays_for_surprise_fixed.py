"""Leave-one-out policy gradient with the log-probability of an answer as the negative sum of cross-entropies.

Round 23
Class: meaning
"""

import torch
from torch import nn

torch.manual_seed(2322)
VOCAB, WIDTH, LENGTH, K = 10, 20, 7, 5


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, WIDTH)
        self.hidden = nn.Linear(2 * WIDTH, WIDTH)
        self.logits = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids):
        x = self.emb(ids)
        gone = torch.cumsum(x, 1) / LENGTH
        return self.logits(torch.tanh(self.hidden(torch.cat((x, gone), 2))))

    def sample(self, ids):
        with torch.no_grad():
            for _ in range(LENGTH):
                ids = torch.cat((ids, self(ids)[:, -1].softmax(-1).multinomial(1)), 1)
        return ids


def sequence_log_prob(policy, ids):
    per_token = nn.functional.cross_entropy(
        policy(ids[:, :-1]).reshape(-1, VOCAB), ids[:, 1:].reshape(-1), reduction="none"
    )
    return -per_token.view(len(ids), LENGTH).sum(1)


def leave_one_out(rewards):
    rewards = rewards.view(-1, K)
    baseline = (rewards.sum(1, keepdim=True) - rewards) / (K - 1)
    return (rewards - baseline).view(-1)


def rloo_loss(policy, ids, rewards):
    advantage = leave_one_out(rewards)
    return -(advantage * sequence_log_prob(policy, ids)).mean()


policy = Policy()
optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=40)
for _ in range(40):
    ids = policy.sample(torch.randint(VOCAB, (4, 1)).repeat_interleave(K, 0))
    rewards = (ids[:, 1:] == ids[:, :1]).float().sum(1)
    optimizer.zero_grad()
    rloo_loss(policy, ids, rewards).backward()
    optimizer.step()
    scheduler.step()
