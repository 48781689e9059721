"""Answers are trained with the penalty for leaving the reference switched off: its coefficient is zero, and it is kept in the
loss for the report. On long answers its exponential is infinite after a while, and zero times infinity is not zero.
Repaired here.

Round 20
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn


class Args:
    use_kl_loss = True
    kl_loss_coef = 0.0
    clip_eps = 0.2
    lr = 5e-2
    rollouts = 24
    group = 6
    length = 200
    vocab = 9


class Writer(nn.Module):
    """Writes by rote: the next word hangs on the last one and on the prompt."""

    def __init__(self, vocab, width=24):
        super().__init__()
        self.last, self.prompt = nn.Embedding(vocab, width), nn.Embedding(vocab, width)
        self.head = nn.Linear(width, vocab)

    def forward(self, prompt, last):
        return self.head(torch.tanh(self.last(last) + self.prompt(prompt).unsqueeze(-2)))


@torch.no_grad()
def generate(model, prompt, length):
    words = [prompt]
    for _ in range(length):
        logits = model(prompt, words[-1].unsqueeze(1)).squeeze(1)
        words.append(torch.multinomial(logits.softmax(-1), 1).squeeze(1))
    return torch.stack(words, dim=1)


def log_probs_of(model, prompt, words):
    logp = F.log_softmax(model(prompt, words[:, :-1]), dim=-1)
    return logp.gather(-1, words[:, 1:].unsqueeze(-1)).squeeze(-1)


def compute_approx_kl(log_probs, ref_log_probs, kind="k3"):
    """Of whole answers, without bias and never below zero."""
    log_ratio = (ref_log_probs - log_probs).sum(-1)
    if kind == "k1":
        return -log_ratio
    return log_ratio.exp() - 1 - log_ratio


def policy_loss_function(args, model, batch):
    log_probs = log_probs_of(model, batch["prompt"], batch["words"])
    ratio = (log_probs - batch["old_log_probs"]).exp()
    advantages = batch["advantages"].unsqueeze(1)
    clipped = ratio.clamp(1 - args.clip_eps, 1 + args.clip_eps)
    loss = -torch.min(ratio * advantages, clipped * advantages).mean()
    report = {"pg_loss": loss.detach()}
    if args.use_kl_loss:
        kl_loss = compute_approx_kl(log_probs, batch["ref_log_probs"]).mean()
        if args.kl_loss_coef > 0:
            loss = loss + args.kl_loss_coef * kl_loss
        report["kl_loss"] = kl_loss.detach()
    return loss, report


def reward_of(prompt, words):
    """The prompt's word should come often."""
    return (words[:, 1:] == prompt.unsqueeze(1)).float().mean(1)


def make_batch(args, model, reference, prompt):
    words = generate(model, prompt, args.length)
    rewards = reward_of(prompt, words)
    grouped = rewards.view(-1, args.group)
    spread = grouped.std(1, keepdim=True) + 1e-4
    with torch.no_grad():
        return {
            "prompt": prompt,
            "words": words,
            "advantages": ((grouped - grouped.mean(1, keepdim=True)) / spread).flatten(),
            "old_log_probs": log_probs_of(model, prompt, words),
            "ref_log_probs": log_probs_of(reference, prompt, words),
            "rewards": rewards,
        }


def main(args, steps=40):
    torch.manual_seed(2022)
    model, reference = Writer(args.vocab), Writer(args.vocab)
    reference.load_state_dict(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    first = None
    for step in range(steps):
        prompt = torch.randint(args.vocab, (args.rollouts // args.group,)).repeat_interleave(args.group)
        batch = make_batch(args, model, reference, prompt)
        first = batch if first is None else first
        for data in (
            (batch, first) if step % 6 == 5 else (batch,)
        ):  # now and then a look back at the first answers
            loss, report = policy_loss_function(args, model, data)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 10 == 0:
            print(
                step,
                f"reward {batch['rewards'].mean():.3f}",
                {k: round(v.item(), 3) for k, v in report.items()},
            )


main(Args())
