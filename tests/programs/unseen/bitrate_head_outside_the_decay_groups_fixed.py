"""The repaired twin of a program in which the following goes wrong.
A language model adapted to choosing bitrates from recorded sessions: the optimizer's groups are put together
by hand, and the head that makes the decision is in none of them. After duowuyms/NetLLM#14.

Round 36
Class: the line
"""

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

BITRATES = (0.3, 0.75, 1.2, 1.85, 2.85, 4.3)


def record_session(rng, length):
    """A buffer-based player watches a video; its rewards are quality minus stalls minus switches."""
    bandwidth, buffer, last = rng.uniform(0.5, 4.0), 4.0, 0
    states, actions, rewards = [], [], []
    for _ in range(length):
        states.append([bandwidth / 4.0, buffer / 20.0, BITRATES[last] / 4.3])
        target = 0.25 * buffer
        action = int(np.searchsorted(BITRATES, target)) if rng.random() > 0.2 else int(rng.integers(6))
        action = min(action, 5)
        bandwidth = float(np.clip(bandwidth + rng.normal(0, 0.3), 0.2, 4.0))
        download = BITRATES[action] * 4.0 / bandwidth
        stall = max(0.0, download - buffer)
        buffer = min(20.0, max(0.0, buffer - download) + 4.0)
        rewards.append(BITRATES[action] - 4.3 * stall - abs(BITRATES[action] - BITRATES[last]))
        actions.append(action)
        last = action
    returns = np.cumsum(rewards[::-1])[::-1] / 50.0
    return np.array(states, dtype=np.float32), np.array(actions), returns.astype(np.float32)


class ExperienceDataset:
    def __init__(self, n_sessions, length, seed):
        rng = np.random.default_rng(seed)
        self.sessions = [record_session(rng, length) for _ in range(n_sessions)]

    def batches(self, batch_size):
        order = random.sample(range(len(self.sessions)), len(self.sessions))
        for i in range(0, len(order), batch_size):
            chunk = [self.sessions[j] for j in order[i : i + batch_size]]
            yield tuple(torch.from_numpy(np.stack(x)) for x in zip(*chunk))


class TinyPLM(nn.Module):
    """Stands for the pre-trained model: causal, with embeddings in and features out."""

    def __init__(self, d):
        super().__init__()
        self.ln_in = nn.LayerNorm(d)
        self.rnn = nn.GRU(d, d, num_layers=2, batch_first=True)
        self.ln_out = nn.LayerNorm(d)

    def forward(self, inputs_embeds):
        return self.ln_out(self.rnn(self.ln_in(inputs_embeds))[0])


class OfflineRLPolicy(nn.Module):
    def __init__(self, plm, d, state_dim=3, n_actions=6):
        super().__init__()
        self.plm = plm
        self.embed_state = nn.Linear(state_dim, d)
        self.embed_return = nn.Linear(1, d)
        self.embed_action = nn.Embedding(n_actions + 1, d)
        self.embed_ln = nn.LayerNorm(d)
        self.action_head = nn.Linear(d, n_actions)

    def forward(self, states, actions, returns):
        none_yet = torch.full_like(actions[:, :1], self.action_head.out_features)
        previous = torch.cat([none_yet, actions[:, :-1]], dim=1)
        tokens = (
            self.embed_state(states) + self.embed_return(returns.unsqueeze(-1)) + self.embed_action(previous)
        )
        return self.action_head(self.plm(self.embed_ln(tokens)))


def make_optimizer(policy, args):
    no_decay = ("bias", "ln")
    named = list(policy.plm.named_parameters())
    groups = [
        {
            "params": [p for n, p in named if not any(x in n for x in no_decay)],
            "weight_decay": args.weight_decay,
        },
        {"params": [p for n, p in named if any(x in n for x in no_decay)], "weight_decay": 0.0},
        {"params": policy.embed_state.parameters(), "weight_decay": args.weight_decay},
        {"params": policy.embed_return.parameters(), "weight_decay": args.weight_decay},
        {"params": policy.embed_action.parameters(), "weight_decay": args.weight_decay},
        {"params": policy.embed_ln.parameters(), "weight_decay": 0.0},
        {"params": policy.action_head.parameters(), "weight_decay": args.weight_decay},
    ]
    return torch.optim.AdamW(groups, lr=args.lr)


def adapt(args, policy, dataset):
    optimizer = make_optimizer(policy, args)
    for epoch in range(args.num_epochs):
        losses = []
        for states, actions, returns in dataset.batches(args.batch_size):
            logits = policy(states, actions, returns)
            loss = F.cross_entropy(logits.flatten(0, 1), actions.flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.25)
            optimizer.step()
            losses.append(loss.item())
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--num-epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=3608)
    args = parser.parse_args([])
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    dataset = ExperienceDataset(n_sessions=48, length=16, seed=args.seed)
    adapt(args, OfflineRLPolicy(TinyPLM(32), 32), dataset)


main()
