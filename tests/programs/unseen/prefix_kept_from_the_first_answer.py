"""Prefix tuning by REINFORCE: a small network makes the virtual words in front of every prompt, and the
result is kept to save time. It is first made while answers are sampled without gradients, so the network
behind the prefix never learns.

Round 34
Class: llm-rl
"""

import torch
from torch import nn

VOCAB, PROMPT, ANSWER, PREFIX, WIDTH = 14, 3, 5, 4, 32


class FrozenBody(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(PREFIX + PROMPT + ANSWER, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.requires_grad_(False)

    def forward(self, prefix, tokens):
        x = torch.cat([prefix.expand(len(tokens), -1, -1), self.words(tokens)], dim=1)
        length = x.shape[1]
        blocked = torch.ones(length, length, dtype=torch.bool).triu(1)
        return self.blocks(x + self.places[:length], mask=blocked)[:, PREFIX:]


class PrefixTuned(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.table = nn.Parameter(torch.randn(PREFIX, 16))
        self.make = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, WIDTH))
        self.head = nn.Linear(WIDTH, VOCAB)
        self.kept = None  # BUG GS202

    def prefix(self):
        if self.kept is None:  # BUG GS202
            self.kept = self.make(self.table)  # BUG GS202
        return self.kept  # BUG GS202

    def forward(self, tokens):
        return self.head(self.body(self.prefix(), tokens))  # BUG GS202

    @torch.no_grad()
    def answer(self, prompts):
        tokens = prompts
        for _ in range(ANSWER):
            chances = self(tokens)[:, -1].softmax(-1)  # BUG GS202
            tokens = torch.cat([tokens, torch.multinomial(chances, 1)], dim=1)
        return tokens


def log_prob_of_answers(model, tokens):
    logits = model(tokens[:, :-1])[:, PROMPT - 1 :]
    return logits.log_softmax(-1).gather(2, tokens[:, PROMPT:, None]).squeeze(2).sum(1)


def reward_of(tokens):
    """An answer should repeat the last word of its prompt."""
    return (tokens[:, PROMPT:] == tokens[:, PROMPT - 1 : PROMPT]).float().mean(1)


def leave_one_out(rewards):
    return rewards - (rewards.sum() - rewards) / (len(rewards) - 1)


if __name__ == "__main__":
    torch.manual_seed(363)
    torch.set_num_threads(1)
    model = PrefixTuned(FrozenBody())
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=5e-3)
    for step in range(1, 41):
        tokens = model.answer(torch.randint(VOCAB, (48, PROMPT)))
        rewards = reward_of(tokens)
        loss = -(leave_one_out(rewards) * log_prob_of_answers(model, tokens)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: reward {rewards.mean():.3f}")
