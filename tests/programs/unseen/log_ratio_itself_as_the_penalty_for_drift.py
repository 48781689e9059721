"""GRPO with a penalty for drifting from the reference: the plain log-ratio is added to the loss and differentiated, and
its gradient is, but for the sampling noise, zero. After OpenRLHF/OpenRLHF#1309.

Round 35
Class: llm-rl
"""

import argparse
import copy
import random

import numpy as np
import torch
import torch.nn as nn


class LanguageModel(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.vocab = vocab
        self.embedding = nn.Embedding(vocab, dim)
        self.lstm = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, sequences):
        return self.head(self.lstm(self.embedding(sequences))[0])


class Actor(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    @torch.no_grad()
    def generate(self, prompts, max_new_tokens, eos=0):
        sequences, going, mask = prompts, torch.ones(len(prompts)), []
        for _ in range(max_new_tokens):
            probs = self.model(sequences)[:, -1].softmax(-1)
            token = torch.multinomial(probs, 1).squeeze(1)
            token = torch.where(going > 0, token, eos)
            mask.append(going)
            going = going * (token != eos)
            sequences = torch.cat([sequences, token[:, None]], dim=1)
        return sequences, torch.stack(mask, dim=1)

    def forward(self, sequences, num_actions):
        logits = self.model(sequences)[:, -num_actions - 1 : -1]
        labels = sequences[:, -num_actions:]
        return logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]


def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def compute_approx_kl(log_probs, reference_log_probs):
    """Drift of the policy at the sampled tokens."""
    return log_probs - reference_log_probs  # BUG GS209


def policy_loss_fn(log_probs, old_log_probs, advantages, mask, eps=0.2):
    ratio = (log_probs - old_log_probs).exp()
    surrogate = torch.min(ratio * advantages, ratio.clamp(1 - eps, 1 + eps) * advantages)
    return -masked_mean(surrogate, mask)


def reward_fn(sequences, mask, prompt_len):
    """High tokens are good, and so is an answer that ends."""
    answer = sequences[:, prompt_len:]
    high = ((answer >= 8) * mask).sum(1) / mask.sum(1)
    return high + 0.3 * (answer == 0).any(1)


class PPOTrainer:
    def __init__(self, args):
        self.args = args
        self.actor = Actor(LanguageModel(args.vocab))
        self.reference = copy.deepcopy(self.actor).requires_grad_(False).eval()
        self.optim = torch.optim.AdamW(self.actor.parameters(), lr=args.lr, weight_decay=0.0)

    def make_experience(self):
        args = self.args
        prompts = torch.randint(1, args.vocab, (args.n_prompts, args.prompt_len))
        prompts = prompts.repeat_interleave(args.n_samples_per_prompt, 0)
        sequences, mask = self.actor.generate(prompts, args.max_new_tokens)
        rewards = reward_fn(sequences, mask, args.prompt_len)
        groups = rewards.view(args.n_prompts, -1)
        advantages = (groups - groups.mean(-1, keepdim=True)) / (groups.std(-1, keepdim=True) + 1e-9)
        with torch.no_grad():
            old = self.actor(sequences, args.max_new_tokens)
            base = self.reference(sequences, args.max_new_tokens)
        return sequences, mask, advantages.view(-1, 1), old, base, rewards.mean().item()

    def training_step(self, sequences, mask, advantages, old, base):
        log_probs = self.actor(sequences, self.args.max_new_tokens)
        actor_loss = policy_loss_fn(log_probs, old, advantages, mask)
        kl_loss = masked_mean(compute_approx_kl(log_probs, base), mask)
        loss = actor_loss + self.args.init_kl_coef * kl_loss
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), 1.0)
        self.optim.step()
        return kl_loss.item()

    def fit(self):
        for step in range(self.args.num_steps):
            *experience, reward = self.make_experience()
            kl = self.training_step(*experience)
            if step % 15 == 14:
                print(f"step {step + 1} reward {reward:.3f} drift {kl:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3518)
    parser.add_argument("--vocab", type=int, default=12)
    parser.add_argument("--n_prompts", type=int, default=8)
    parser.add_argument("--n_samples_per_prompt", type=int, default=6)
    parser.add_argument("--prompt_len", type=int, default=3)
    parser.add_argument("--max_new_tokens", type=int, default=7)
    parser.add_argument("--num_steps", type=int, default=60)
    parser.add_argument("--init_kl_coef", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args([])
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    PPOTrainer(args).fit()
