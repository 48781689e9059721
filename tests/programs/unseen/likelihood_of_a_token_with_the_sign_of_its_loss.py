"""A small recurrent language model learns by group-relative policy optimisation to repeat the first word of
its prompt. Its log-probabilities come from the cross entropy as it is, which is their negative: the ratio
stands on its head and the words of good answers become rarer.

Round 33
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, PROMPT, ANSWER = 12, 3, 4
PROMPTS_PER_STEP, GROUP, EPOCHS, CLIP = 4, 8, 2, 0.2


class RecurrentLM(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


@torch.no_grad()
def generate(model, prompts):
    tokens = prompts
    for _ in range(ANSWER):
        probs = F.softmax(model(tokens)[:, -1], dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(probs, 1)], dim=1)
    return tokens


def token_log_probs(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
    targets = tokens[:, PROMPT:]
    return F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")  # BUG GS801


def reward_fn(tokens):
    return (tokens[:, PROMPT:] == tokens[:, :1]).float().mean(1)


def group_advantages(rewards):
    grouped = rewards.view(-1, GROUP)
    centred = grouped - grouped.mean(1, keepdim=True)
    return (centred / (grouped.std(1, keepdim=True) + 1e-4)).view(-1)


def train(steps=40):
    torch.manual_seed(101)
    model = RecurrentLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    for step in range(steps):
        prompts = torch.randint(VOCAB, (PROMPTS_PER_STEP, PROMPT)).repeat_interleave(GROUP, dim=0)
        tokens = generate(model, prompts)
        rewards = reward_fn(tokens)
        advantages = group_advantages(rewards).unsqueeze(1)
        with torch.no_grad():
            old_log_probs = token_log_probs(model, tokens)
        for _ in range(EPOCHS):
            log_probs = token_log_probs(model, tokens)
            ratio = torch.exp(log_probs - old_log_probs)  # BUG GS801
            clipped = torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
            loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f} reward {rewards.mean().item():.3f}")


if __name__ == "__main__":
    train()
