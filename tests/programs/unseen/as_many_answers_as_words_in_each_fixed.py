"""A recurrent model writes eight answers of eight words to one prompt and learns from how they compare. The
advantages of the answers are a column beside the ratios of their words.

Round 33
Class: axes
"""

import torch
from torch import nn
from torch.nn.functional import log_softmax, one_hot

LETTERS = 8
GROUP = 8
LENGTH = 8
settings = {"lr": 4e-3, "clip": 0.2, "inner": 2, "rounds": 40, "kl": 0.01}


class Writer(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.rnn = nn.GRU(LETTERS, width, batch_first=True)
        self.out = nn.Linear(width, LETTERS)

    def forward(self, letters, state=None):
        hidden, state = self.rnn(one_hot(letters, LETTERS).float(), state)
        return self.out(hidden), state

    @torch.no_grad()
    def write(self, prompt, length):
        state, last, written = None, prompt, []
        for _ in range(length):
            logits, state = self(last, state)
            last = torch.multinomial(logits[:, -1].softmax(-1), 1)
            written.append(last)
        return torch.cat(written, 1)

    def score(self, prompt, answer):
        logits, _ = self(torch.cat([prompt, answer[:, :-1]], 1))
        return log_softmax(logits, -1).gather(2, answer.unsqueeze(2)).squeeze(2)


def judge(prompt, answer):
    """Neighbouring letters should differ, and the first letter of the prompt should come back often."""
    changes = (answer[:, 1:] != answer[:, :-1]).float().mean(1)
    echoes = (answer == prompt[:, :1]).float().mean(1)
    return changes + 2 * echoes


def main():
    torch.manual_seed(64)
    writer, reference = Writer(), Writer()
    reference.load_state_dict(writer.state_dict())
    optimizer = torch.optim.Adam(writer.parameters(), lr=settings["lr"])
    marks = []
    for turn in range(settings["rounds"]):
        prompt = torch.randint(LETTERS, (1, 1)).expand(GROUP, 1)
        answer = writer.write(prompt, LENGTH)
        reward = judge(prompt, answer)
        marks.append(reward.mean().item())
        advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
        with torch.no_grad():
            before = writer.score(prompt, answer)
            anchor = reference.score(prompt, answer)
        for _ in range(settings["inner"]):
            now = writer.score(prompt, answer)
            ratio = (now - before).exp()
            bounded = ratio.clamp(1 - settings["clip"], 1 + settings["clip"])
            gain = torch.min(ratio * advantage.unsqueeze(1), bounded * advantage.unsqueeze(1))
            away = (anchor - now).exp() - (anchor - now) - 1
            loss = (settings["kl"] * away - gain).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if turn % 10 == 9:
            print(f"{turn + 1}: loss {loss.item():.4f}, marks {sum(marks[-10:]) / 10:.3f}")


main()
