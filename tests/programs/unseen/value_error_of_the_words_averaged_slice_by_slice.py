"""A small language model with a value head learns to end its answers early and to stay within its prompt's
letters; the batch goes through in slices. The policy's loss is divided by all words of the batch, the error
of the value head by the words of its own slice, so that short answers weigh more or less according to their
neighbours.

Round 34
Class: llm-rl
"""

import torch
from torch import nn
from torch.nn import functional as F

EOS, VOCAB, PROMPT, ANSWER = 0, 12, 4, 10
BATCH, SLICE, UPDATES = 32, 4, 30


class Speller(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.words = nn.Linear(width, VOCAB)
        self.value = nn.Linear(width, 1)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.words(hidden), self.value(hidden).squeeze(-1)


@torch.no_grad()
def generate(model, prompts):
    tokens = prompts
    for _ in range(ANSWER):
        logits, _ = model(tokens)
        word = torch.multinomial(logits[:, -1].softmax(-1), 1)
        tokens = torch.cat([tokens, word], dim=1)
    return tokens


def answer_mask(answers):
    """One for every word up to the first end, the end included."""
    ends = (answers == EOS).long()
    return ((ends.cumsum(1) - ends) == 0).float()


def reward_of(tokens, mask):
    prompts, answers = tokens[:, :PROMPT], tokens[:, PROMPT:]
    known = (answers[:, :, None] == prompts[:, None, :]).any(-1) | (answers == EOS)
    share = (known * mask).sum(1) / mask.sum(1)
    finished = ((answers == EOS) * mask).sum(1)
    return share + 0.5 * finished


def score(model, tokens):
    logits, values = model(tokens[:, :-1])
    log_probs = F.log_softmax(logits[:, PROMPT - 1 :], dim=-1)
    log_probs = log_probs.gather(2, tokens[:, PROMPT:, None]).squeeze(2)
    return log_probs, values[:, PROMPT - 1 :]


def update(model, optimizer):
    prompts = torch.randint(1, VOCAB, (BATCH, PROMPT))
    tokens = generate(model, prompts)
    mask = answer_mask(tokens[:, PROMPT:])
    rewards = reward_of(tokens, mask)
    total_words = mask.sum()

    optimizer.zero_grad()
    slices = torch.arange(BATCH).split(SLICE)
    for rows in slices:
        log_probs, values = score(model, tokens[rows])
        returns = rewards[rows, None].expand_as(values)
        advantages = returns - values.detach()
        policy_loss = -(log_probs * advantages * mask[rows]).sum() / total_words
        squared = (values - returns).pow(2) * mask[rows]
        value_loss = squared.sum() / mask[rows].sum() / len(slices)  # BUG GS407
        (policy_loss + 0.5 * value_loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return rewards.mean().item(), mask.sum(1).mean().item()


def main():
    torch.manual_seed(360)
    model = Speller()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(UPDATES):
        reward, length = update(model, optimizer)
        if step % 10 == 9:
            print(f"{step + 1}: reward {reward:.3f}, words {length:.2f}")


if __name__ == "__main__":
    main()
