"""A group-relative trainer lets its model answer with a penalty on words that were said before, and keeps
the penalised log-probabilities. The update scores the answers without the penalty, so the ratio is not one
where it begins.

Round 34
Class: llm-rl
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, PROMPT, ANSWER = 16, 3, 6
PROMPTS, GROUP = 8, 6
PENALTY, CLIP = 0.8, 0.2


class TinyLM(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


def said_before(answers):
    """How often each word of the vocabulary was said in the answer before every place: [B, T, V]."""
    spoken = F.one_hot(answers, VOCAB)
    return (spoken.cumsum(1) - spoken).float()


@torch.no_grad()
def generate(model, prompts):
    tokens = prompts
    said = torch.zeros(len(prompts), VOCAB)
    log_probs = []
    for _ in range(ANSWER):
        logits = model(tokens)[:, -1] - PENALTY * said  # BUG GS803
        scores = logits.log_softmax(-1)
        word = torch.multinomial(scores.exp(), 1)
        log_probs.append(scores.gather(1, word))  # BUG GS803
        tokens = torch.cat([tokens, word], dim=1)
        said = said + F.one_hot(word.squeeze(1), VOCAB)
    return tokens, torch.cat(log_probs, dim=1)


def score(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]  # BUG GS803
    scores = logits.log_softmax(-1)
    return scores.gather(2, tokens[:, PROMPT:, None]).squeeze(2)


def reward_of(tokens):
    """Even words pay, and so does every different word."""
    answers = tokens[:, PROMPT:]
    even = (answers % 2 == 0).float().mean(1)
    new = said_before(answers).gather(2, answers[:, :, None]).squeeze(2) == 0
    return even + 0.5 * new.float().mean(1)


def group_advantages(rewards):
    groups = rewards.view(PROMPTS, GROUP)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.std(1, keepdim=True) + 1e-4)).view(-1)


def main(rounds=25, epochs=2):
    torch.manual_seed(362)
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
    history = []
    for _ in range(rounds):
        prompts = torch.randint(VOCAB, (PROMPTS, PROMPT)).repeat_interleave(GROUP, dim=0)
        tokens, old_log_probs = generate(model, prompts)
        rewards = reward_of(tokens)
        advantages = group_advantages(rewards)[:, None]
        for _ in range(epochs):
            ratio = (score(model, tokens) - old_log_probs).exp()  # BUG GS803
            limited = ratio.clamp(1 - CLIP, 1 + CLIP)
            loss = -torch.min(ratio * advantages, limited * advantages).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        history.append(rewards.mean().item())
    print(f"mean reward {history[0]:.3f} -> {history[-1]:.3f}")


main()
