"""PPO-RLHF: the log-probabilities of the rollout are computed once, in front of the loop over the epochs.

Round 28
Class: llm-rl
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2820)

VOCAB, WIDTH, QUERY, RESPONSE, BATCH = 15, 32, 3, 6, 24
EPOCHS, GAMMA, LAM, CLIP, KL_COEF, VF_COEF = 3, 1.0, 0.95, 0.2, 0.05, 0.3


class PolicyWithValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.lm_head = nn.Linear(WIDTH, VOCAB)
        self.v_head = nn.Linear(WIDTH, 1)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.lm_head(hidden), self.v_head(hidden).squeeze(-1)


def evaluate(model, ids):
    """Log-probabilities of the response's words and the values of the places they were drawn at."""
    logits, values = model(ids[:, :-1])
    logp = F.log_softmax(logits, dim=-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return logp[:, QUERY - 1 :], values[:, QUERY - 1 :]


@torch.no_grad()
def respond(model, queries):
    ids = queries
    for _ in range(RESPONSE):
        logits, _ = model(ids)
        ids = torch.cat([ids, torch.multinomial(logits[:, -1].softmax(-1), 1)], dim=1)
    return ids


def task_reward(ids):
    """One for every word of the response that is also in the query."""
    query, response = ids[:, :QUERY], ids[:, QUERY:]
    return (response[:, :, None] == query[:, None, :]).any(-1).float().sum(1) / RESPONSE


def advantages_and_returns(rewards, values):
    out, last = torch.zeros_like(rewards), torch.zeros(len(rewards))
    for t in reversed(range(RESPONSE)):
        following = values[:, t + 1] if t + 1 < RESPONSE else torch.zeros(len(rewards))
        last = rewards[:, t] + GAMMA * following - values[:, t] + GAMMA * LAM * last
        out[:, t] = last
    return (out - out.mean()) / (out.std() + 1e-8), out + values


policy = PolicyWithValue()
ref_policy = copy.deepcopy(policy).eval().requires_grad_(False)
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)

for iteration in range(15):
    ids = respond(policy, torch.randint(0, VOCAB, (BATCH, QUERY)))
    with torch.no_grad():
        rollout_logp, values = evaluate(policy, ids)
        ref_logp, _ = evaluate(ref_policy, ids)
        rewards = -KL_COEF * (rollout_logp - ref_logp)
        scores = task_reward(ids)
        rewards[:, -1] += scores
        advantages, returns = advantages_and_returns(rewards, values)
    old_logp = rollout_logp

    for _ in range(EPOCHS):
        logp, new_values = evaluate(policy, ids)
        ratio = (logp - old_logp).exp()
        surrogate = torch.min(ratio * advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * advantages)
        pg_loss = -surrogate.mean()
        vf_loss = 0.5 * (new_values - returns).pow(2).mean()
        loss = pg_loss + VF_COEF * vf_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
    if iteration % 5 == 0:
        print(f"{iteration}: score {scores.mean():.3f} kl {(rollout_logp - ref_logp).sum(1).mean():.3f}")
