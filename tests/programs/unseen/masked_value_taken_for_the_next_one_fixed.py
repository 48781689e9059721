"""PPO for a language model whose answers end at different places: behind an answer's last token the advantage
estimator takes the critic's value of the padding for the next value. After alibaba/ROLL#447.
Repaired here.

Round 35
Class: llm-rl
"""

import random

import numpy as np
import torch
import torch.nn as nn

SEED = 3505
PAD, EOS, VOCAB = 0, 1, 12
PROMPT_LEN, ANSWER_LEN = 3, 8


class Backbone(nn.Module):
    def __init__(self, out, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, out)

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


@torch.no_grad()
def rollout(actor, n):
    prompts = torch.randint(2, VOCAB, (n, PROMPT_LEN))
    ids, alive, masks = prompts, torch.ones(n), []
    for _ in range(ANSWER_LEN):
        token = torch.distributions.Categorical(logits=actor(ids)[:, -1]).sample()
        token = torch.where(alive > 0, token, torch.full_like(token, PAD))
        masks.append(alive)
        alive = alive * (token != EOS).float()
        ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    return ids, torch.stack(masks, dim=1)


def score(ids, mask):
    """A point for every even token of the answer, and one for stopping by oneself."""
    answer = ids[:, PROMPT_LEN:]
    even = ((answer % 2 == 0).float() * mask).sum(1) / mask.sum(1)
    return even + (answer == EOS).any(1).float()


def token_rewards(scores, mask):
    rewards = torch.zeros_like(mask)
    last = mask.sum(1).long() - 1
    rewards[torch.arange(len(mask)), last] = scores
    return rewards


def compute_gae(rewards, values, mask, gamma=1.0, lam=0.95):
    advantages, running = [], torch.zeros(len(rewards))
    length = rewards.size(1)
    after = torch.cat([values * mask, torch.zeros(len(values), 1)], dim=1)
    for t in reversed(range(length)):
        delta = rewards[:, t] + gamma * after[:, t + 1] - values[:, t]
        running = (delta + gamma * lam * running) * mask[:, t]
        advantages.append(running)
    advantages = torch.stack(advantages[::-1], dim=1)
    return advantages, advantages + values


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def whiten(x, mask):
    mean = masked_mean(x, mask)
    return (x - mean) * torch.rsqrt(masked_mean((x - mean) ** 2, mask) + 1e-8) * mask


class Worker:
    def __init__(self):
        self.actor, self.critic = Backbone(VOCAB), Backbone(1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=2e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=5e-3)

    def log_probs(self, ids):
        logits = self.actor(ids)[:, PROMPT_LEN - 1 : -1].log_softmax(-1)
        return logits.gather(-1, ids[:, PROMPT_LEN:].unsqueeze(-1)).squeeze(-1)

    def values(self, ids):
        return self.critic(ids)[:, PROMPT_LEN - 1 : -1].squeeze(-1)

    def train_step(self, ids, mask):
        scores = score(ids, mask)
        with torch.no_grad():
            old_logp, old_values = self.log_probs(ids), self.values(ids)
            advantages, returns = compute_gae(token_rewards(scores, mask), old_values, mask)
            advantages = whiten(advantages, mask)
        for _ in range(3):
            ratio = (self.log_probs(ids) - old_logp).exp()
            surrogate = torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
            actor_loss = -masked_mean(surrogate, mask)
            self.actor_opt.zero_grad()
            actor_loss.backward()
            self.actor_opt.step()

            critic_loss = masked_mean((self.values(ids) - returns) ** 2, mask)
            self.critic_opt.zero_grad()
            critic_loss.backward()
            self.critic_opt.step()
        return scores.mean().item(), critic_loss.item()


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    worker = Worker()
    for step in range(25):
        score_mean, critic_loss = worker.train_step(*rollout(worker.actor, 32))
        if step % 8 == 7:
            print(f"step {step + 1} score {score_mean:.3f} critic {critic_loss:.4f}")


main()
