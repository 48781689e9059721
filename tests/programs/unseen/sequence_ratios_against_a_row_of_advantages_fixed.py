"""The repaired twin of a program in which the following goes wrong.
GSPO: the ratio of a whole answer keeps its last axis, the advantages are flat, so each answer is weighed with the
advantages of all, which add up to nothing in every group. After lsdefine/simple_GRPO#3 (which shapes of log-probs
and advantages meet) and pytorch/rl#1243.

Round 27
Class: llm-rl
"""

import torch
import torch.nn as nn

torch.manual_seed(2717)

config = {"vocab": 15, "width": 32, "prompt": 3, "answer": 7, "prompts": 4, "group": 5, "steps": 20, "eos": 0}
config |= {"clip_low": 0.05, "clip_high": 0.08}


class TinyLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        out, _ = self.lstm(self.embedding(tokens))
        return self.head(out)


def masked_mean(x, mask):
    return (x * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True).clamp(min=1.0)


@torch.no_grad()
def sample(model, c):
    prompts = torch.randint(1, c["vocab"], (c["prompts"], c["prompt"])).repeat_interleave(c["group"], 0)
    tokens = prompts
    for _ in range(c["answer"]):
        step = torch.distributions.Categorical(logits=model(tokens)[:, -1]).sample()
        tokens = torch.cat([tokens, step[:, None]], 1)
    answers = tokens[:, c["prompt"] :]
    is_eos = (answers == c["eos"]).long()
    mask = (is_eos.cumsum(1) - is_eos == 0).float()
    return tokens, answers, mask


def token_log_probs(model, tokens, c):
    logits = model(tokens[:, :-1])[:, c["prompt"] - 1 :]
    answers = tokens[:, c["prompt"] :]
    return logits.log_softmax(-1).gather(-1, answers.unsqueeze(-1)).squeeze(-1)


def reward_of(tokens, answers, mask, c):
    """Words should be near the first word of the prompt."""
    distance = (answers - tokens[:, :1]).abs().float() / c["vocab"]
    return 1.0 - (distance * mask).sum(1) / mask.sum(1)


def group_advantages(rewards, c):
    r = rewards.view(c["prompts"], c["group"])
    return ((r - r.mean(1, keepdim=True)) / (r.std(1, keepdim=True) + 1e-4)).view(-1)


def gspo_loss(model, batch, c):
    log_probs = token_log_probs(model, batch["tokens"], c)
    log_ratio = masked_mean(log_probs - batch["old"], batch["mask"])
    ratio = log_ratio.exp()
    advantages = batch["advantages"].unsqueeze(1)
    clipped = ratio.clamp(1 - c["clip_low"], 1 + c["clip_high"])
    return -torch.min(ratio * advantages, clipped * advantages).mean()


def main(c):
    model = TinyLM(c["vocab"], c["width"])
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(c["steps"]):
        tokens, answers, mask = sample(model, c)
        rewards = reward_of(tokens, answers, mask, c)
        with torch.no_grad():
            old = token_log_probs(model, tokens, c)
        batch = {"tokens": tokens, "mask": mask, "old": old, "advantages": group_advantages(rewards, c)}
        for _ in range(3):
            loss = gspo_loss(model, batch, c)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 5 == 0:
            print(f"step {step} reward {rewards.mean():.3f} loss {loss.item():.4f}")


main(config)
