"""The repaired twin of a program in which the following goes wrong.
A script for group-relative policy optimisation that skips the update where all answers to a prompt earned
the same; clearing and backward are skipped, the optimizer's step is not, and takes the gradient of the
prompt before once more. After rasbt/reasoning-from-scratch#186.

Round 37
Class: late and rare
"""

import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

DIGITS = 10
PLUS, EQUALS, END, PAD = 10, 11, 12, 13
VOCAB = 14


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--num_rollouts", type=int, default=6)
    parser.add_argument("--max_new_tokens", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--keep_zero_advantage_updates", action="store_true")
    return parser.parse_args([])


class SmallModel(nn.Module):
    def __init__(self, emb_dim=32):
        super().__init__()
        self.tok_emb = nn.Embedding(VOCAB, emb_dim)
        self.gru = nn.GRU(emb_dim, emb_dim, batch_first=True)
        self.out_head = nn.Linear(emb_dim, VOCAB)

    def forward(self, token_ids):
        return self.out_head(self.gru(self.tok_emb(token_ids))[0])


@torch.no_grad()
def sample_response(model, prompt_ids, max_new_tokens):
    ids = prompt_ids
    for _ in range(max_new_tokens):
        probs = torch.softmax(model(ids.unsqueeze(0))[0, -1], dim=-1)
        following = torch.multinomial(probs, 1)
        ids = torch.cat([ids, following])
        if following.item() == END:
            break
    return ids, len(prompt_ids)


def sequence_logprob(model, token_ids, prompt_len):
    logprobs = torch.log_softmax(model(token_ids[:-1].unsqueeze(0))[0], dim=-1)
    selected = logprobs.gather(1, token_ids[1:].unsqueeze(1)).squeeze(1)
    return selected[prompt_len - 1 :].sum()


def reward_rlvr(token_ids, prompt_len, parity):
    """Is the first word of the answer a digit of the right parity?"""
    first = token_ids[prompt_len].item()
    return float(first < DIGITS and first % 2 == parity)


def compute_grpo_loss(model, prompt_ids, parity, args):
    roll_logps, roll_rewards = [], []
    for _ in range(args.num_rollouts):
        token_ids, prompt_len = sample_response(model, prompt_ids, args.max_new_tokens)
        roll_logps.append(sequence_logprob(model, token_ids, prompt_len))
        roll_rewards.append(reward_rlvr(token_ids, prompt_len, parity))
    rewards = torch.tensor(roll_rewards)
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    pg_loss = -(advantages.detach() * torch.stack(roll_logps)).mean()
    return pg_loss, rewards


def train_rlvr_grpo(model, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    correct, skipped = 0.0, 0
    for step in range(args.steps):
        a, b = random.randrange(5), random.randrange(5)
        prompt_ids = torch.tensor([a, PLUS, b, EQUALS])
        loss, rewards = compute_grpo_loss(model, prompt_ids, (a + b) % 2, args)
        correct += rewards.mean().item()
        if bool((rewards == rewards[0]).all()) and not args.keep_zero_advantage_updates:
            skipped += 1
        else:
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
    return correct / args.steps, skipped


if __name__ == "__main__":
    random.seed(3708)
    torch.manual_seed(3708)
    mean_reward, skipped = train_rlvr_grpo(SmallModel(), parse_args())
    print(f"mean reward {mean_reward:.3f}, {skipped} groups without a signal")
