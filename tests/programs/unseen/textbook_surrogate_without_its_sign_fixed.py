"""The clipped surrogate copied from a textbook that maximises it: the smaller of the two terms goes to the
optimizer as it is.
Repaired here.

Round 22
Class: meaning
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

PROMPTS, WORDS, LENGTH = 12, 8, 5


@dataclass
class Sampled:
    prompt: Tensor
    words: Tensor
    log_probs: Tensor
    reward: Tensor


class Writer(nn.Module):
    """Says LENGTH words about a prompt; every word knows the prompt and its place."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = nn.Embedding(PROMPTS, 24)
        self.place = nn.Embedding(LENGTH, 24)
        self.out = nn.Linear(24, WORDS)

    def forward(self, prompt: Tensor) -> Categorical:
        hidden = torch.tanh(self.prompt(prompt)[:, None] + self.place.weight)
        return Categorical(logits=self.out(hidden))


def score(prompt: Tensor, words: Tensor) -> Tensor:
    return ((words + prompt[:, None]) % 3 == 0).float().mean(1)


@torch.no_grad()
def sample(writer: Writer, number: int) -> Sampled:
    prompt = torch.randint(PROMPTS, (number,))
    spoken = writer(prompt)
    words = spoken.sample()
    return Sampled(prompt, words, spoken.log_prob(words), score(prompt, words))


def ppo_loss(writer: Writer, batch: Sampled, clip: float = 0.2) -> Tensor:
    spoken = writer(batch.prompt)
    ratio = torch.exp(spoken.log_prob(batch.words) - batch.log_probs)
    advantages = ((batch.reward - batch.reward.mean()) / (batch.reward.std() + 1e-6))[:, None]
    pg_losses1 = ratio * advantages
    pg_losses2 = ratio.clamp(1 - clip, 1 + clip) * advantages
    return -torch.min(pg_losses1, pg_losses2).mean()


def main() -> None:
    torch.manual_seed(2203)
    writer = Writer()
    optimizer = torch.optim.AdamW(writer.parameters(), lr=1e-2, weight_decay=0.0)
    for step in range(20):
        batch = sample(writer, 64)
        for _ in range(2):
            loss = ppo_loss(writer, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % 5 == 0:
            print(f"{step:3d} reward {batch.reward.mean():.3f}")


main()
