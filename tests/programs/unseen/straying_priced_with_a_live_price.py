"""Policy gradient for a language model whose rewards hold a price for straying from the reference, word by
word. The log-probs in that price are still attached, and the loss is differentiated through the weights of
its own words.

Round 32
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

config = {
    "seed": 3211,
    "vocab": 22,
    "hidden": 36,
    "prompt_len": 4,
    "max_new": 8,
    "batch": 24,
    "steps": 35,
    "beta": 0.15,
    "temperature": 1.0,
    "baseline_decay": 0.9,
    "lr": 2e-3,
}
EOS = 1


def build(cfg):
    return nn.ModuleDict(
        {
            "embed": nn.Embedding(cfg["vocab"], cfg["hidden"]),
            "rnn": nn.LSTM(cfg["hidden"], cfg["hidden"], batch_first=True),
            "head": nn.Linear(cfg["hidden"], cfg["vocab"]),
        }
    )


def logits_of(model, ids):
    hidden, _ = model["rnn"](model["embed"](ids))
    return model["head"](hidden)


def sample(model, prompts, cfg):
    ids = prompts
    finished = torch.zeros(len(ids), dtype=torch.bool)
    keep = []
    with torch.no_grad():
        for _ in range(cfg["max_new"]):
            probs = F.softmax(logits_of(model, ids)[:, -1] / cfg["temperature"], dim=-1)
            word = torch.multinomial(probs, 1).squeeze(1).masked_fill(finished, EOS)
            keep.append(~finished)
            finished = finished | (word == EOS)
            ids = torch.cat([ids, word[:, None]], dim=1)
    return ids, torch.stack(keep, dim=1).float()


def words_logp(model, ids, cfg):
    start = cfg["prompt_len"]
    logp = F.log_softmax(logits_of(model, ids[:, :-1])[:, start - 1 :] / cfg["temperature"], dim=-1)
    return logp.gather(-1, ids[:, start:, None]).squeeze(-1)


def judge(ids, mask, cfg):
    """Answers should be of middling length and keep to words under ten."""
    answers = ids[:, cfg["prompt_len"] :]
    small = ((answers < 10).float() * mask).sum(1) / mask.sum(1)
    return small - 0.2 * (mask.sum(1) - 4).abs()


def shaped_rewards(scores, logp, ref_logp, mask, cfg):
    """The price on every word, and the judge's score on the last one."""
    kl = logp - ref_logp  # BUG GS303
    rewards = -cfg["beta"] * kl * mask  # BUG GS303
    last = mask.sum(1).long() - 1
    final = F.one_hot(last, mask.shape[1]).float() * scores[:, None]
    return rewards + final


def reward_to_go(rewards, mask):
    return rewards.flip(1).cumsum(1).flip(1) * mask


def main(cfg):
    torch.manual_seed(cfg["seed"])
    policy, reference = build(cfg), build(cfg)
    reference.load_state_dict(policy.state_dict())
    reference.requires_grad_(False)
    optimizer = torch.optim.Adam(policy.parameters(), lr=cfg["lr"], betas=(0.9, 0.95))
    baseline = 0.0
    for step in range(cfg["steps"]):
        prompts = torch.randint(2, cfg["vocab"], (cfg["batch"], cfg["prompt_len"]))
        ids, mask = sample(policy, prompts, cfg)
        scores = judge(ids, mask, cfg)

        logp = words_logp(policy, ids, cfg)
        ref_logp = words_logp(reference, ids, cfg)
        rewards = shaped_rewards(scores, logp, ref_logp, mask, cfg)  # BUG GS303
        returns = reward_to_go(rewards, mask)
        advantages = (returns - baseline) * mask  # BUG GS303
        loss = -(advantages * logp).sum() / mask.sum()  # BUG GS303

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()

        average = (returns.sum() / mask.sum()).item()
        baseline = cfg["baseline_decay"] * baseline + (1 - cfg["baseline_decay"]) * average
        if step % 7 == 0:
            strayed = ((logp - ref_logp) * mask).sum(1).mean().item()
            print(f"step {step}: score {scores.mean().item():.3f} strayed {strayed:.4f}")


main(config)
