"""The repaired twin of a program in which the following goes wrong.
The critic of a PPO trainer for language models works on slices of similar length; its values come back in
the order of the slices and are multiplied with the mask of the original order before they are sorted back,
so padding keeps its values and words lose theirs. After verl-project/verl#1440.

Round 37
Class: llm-rl
"""

import random
from types import SimpleNamespace

import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = SimpleNamespace(
    rows=24, prompt=3, response=10, use_dynamic_bsz=True, max_token_len=64, epochs=2, steps=18,
    gamma=1.0, lam=0.95, cliprange=0.2, actor_lr=3e-3, critic_lr=5e-3, seed=3737,
)  # fmt: skip
VOCAB, EOS = 12, 0


class TokenModel(nn.Module):
    def __init__(self, n_out, dim=32):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, n_out)

    def forward(self, input_ids):
        """One output for each word of the response, made from what stands before it."""
        return self.out(self.rnn(self.embed(input_ids[:, :-1]))[0])[:, cfg.prompt - 1 :]


def seqlen_balanced_partitions(lengths, max_token_len):
    parts, filled = [[]], 0
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if parts[-1] and filled + lengths[i] > max_token_len:
            parts.append([])
            filled = 0
        parts[-1].append(i)
        filled += lengths[i]
    return parts


def get_reverse_idx(order):
    reverse = [0] * len(order)
    for place, original in enumerate(order):
        reverse[original] = place
    return reverse


class DataParallelPPOCritic:
    def __init__(self):
        self.critic_module = TokenModel(1)
        self.critic_optimizer = torch.optim.AdamW(self.critic_module.parameters(), lr=cfg.critic_lr)

    def _forward_micro_batch(self, input_ids):
        return self.critic_module(input_ids).squeeze(-1)

    @torch.no_grad()
    def compute_values(self, input_ids, response_mask):
        if cfg.use_dynamic_bsz:
            lengths = (cfg.prompt + response_mask.sum(1).long()).tolist()
            indices = seqlen_balanced_partitions(lengths, cfg.max_token_len)
            micro_batches = [input_ids[part] for part in indices]
        else:
            micro_batches = input_ids.split(8)
        values = torch.cat([self._forward_micro_batch(ids) for ids in micro_batches])
        if cfg.use_dynamic_bsz:
            order = [i for part in indices for i in part]
            values = values[get_reverse_idx(order)]
        return values * response_mask

    def update_critic(self, input_ids, mask, values, returns):
        vpreds = self._forward_micro_batch(input_ids)
        clipped = torch.clamp(vpreds, values - 0.5, values + 0.5)
        losses = torch.max((vpreds - returns) ** 2, (clipped - returns) ** 2)
        loss = 0.5 * (losses * mask).sum() / mask.sum()
        self.critic_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.critic_module.parameters(), 1.0)
        self.critic_optimizer.step()
        return loss.item()


class DataParallelPPOActor:
    def __init__(self):
        self.actor_module = TokenModel(VOCAB)
        self.actor_optimizer = torch.optim.AdamW(self.actor_module.parameters(), lr=cfg.actor_lr)

    def log_prob(self, input_ids):
        logp = F.log_softmax(self.actor_module(input_ids), -1)
        return logp.gather(-1, input_ids[:, cfg.prompt :].unsqueeze(-1)).squeeze(-1)

    @torch.no_grad()
    def generate(self):
        ids = torch.randint(1, VOCAB, (cfg.rows, cfg.prompt))
        alive, mask = torch.ones(cfg.rows), []
        for _ in range(cfg.response):
            model = self.actor_module
            probs = model.out(model.rnn(model.embed(ids))[0][:, -1]).softmax(-1)
            word = torch.multinomial(probs, 1).squeeze(1) * alive.long()
            mask.append(alive)
            alive = alive * (word != EOS).float()
            ids = torch.cat([ids, word.unsqueeze(1)], 1)
        return ids, torch.stack(mask, 1)

    def update_policy(self, input_ids, mask, old_log_prob, advantages):
        ratio = torch.exp(self.log_prob(input_ids) - old_log_prob)
        clipped = ratio.clamp(1 - cfg.cliprange, 1 + cfg.cliprange)
        loss = (torch.max(-advantages * ratio, -advantages * clipped) * mask).sum() / mask.sum()
        self.actor_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.actor_module.parameters(), 1.0)
        self.actor_optimizer.step()


def compute_gae_advantage_return(rewards, values, mask):
    lastgaelam, nextvalues, advantages = 0, 0.0, []
    for t in reversed(range(cfg.response)):
        delta = rewards[:, t] + cfg.gamma * nextvalues - values[:, t]
        lastgaelam = delta + cfg.gamma * cfg.lam * lastgaelam
        nextvalues = values[:, t]
        advantages.append(lastgaelam)
    advantages = torch.stack(advantages[::-1], 1)
    returns = advantages + values
    mean = (advantages * mask).sum() / mask.sum()
    std = (((advantages - mean).pow(2) * mask).sum() / mask.sum()).sqrt()
    return (advantages - mean) / (std + 1e-8) * mask, returns


def token_rewards(input_ids, mask):
    """Even words after an even prompt, odd ones after an odd one; paid with the last word."""
    fits = (input_ids[:, cfg.prompt :] % 2 == input_ids[:, :1] % 2).float()
    rewards = torch.zeros_like(mask)
    rewards[torch.arange(cfg.rows), mask.sum(1).long() - 1] = (fits * mask).sum(1) / mask.sum(1)
    return rewards


random.seed(cfg.seed)
torch.manual_seed(cfg.seed)
actor, critic = DataParallelPPOActor(), DataParallelPPOCritic()
for step in range(cfg.steps):
    input_ids, mask = actor.generate()
    with torch.no_grad():
        old_log_prob = actor.log_prob(input_ids)
    values = critic.compute_values(input_ids, mask)
    rewards = token_rewards(input_ids, mask)
    advantages, returns = compute_gae_advantage_return(rewards, values, mask)
    for _ in range(cfg.epochs):
        value_loss = critic.update_critic(input_ids, mask, values, returns)
        actor.update_policy(input_ids, mask, old_log_prob, advantages)
print("reward", round(rewards.sum(1).mean().item(), 3), "value loss", round(value_loss, 4))
