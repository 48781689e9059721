"""An engine draws answers at a temperature and reports the log-probabilities of what it drew from.

Round 23
Class: llm-rl
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

torch.manual_seed(2313)


class Batch(NamedTuple):
    ids: Tensor
    engine_logp: Tensor
    mask: Tensor
    advantage: Tensor


class Net(nn.Module):
    def __init__(self, words: int = 10, width: int = 20) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.cell = nn.GRUCell(width, width)
        self.out = nn.Linear(width, words)

    def forward(self, ids: Tensor) -> Tensor:
        state = torch.zeros(ids.shape[0], self.cell.hidden_size)
        logits = []
        for word in ids.unbind(1):
            state = self.cell(self.embed(word), state)
            logits.append(self.out(state))
        return torch.stack(logits, dim=1)


class Engine:
    """Generates with a copy of the weights that the trainer sends."""

    def __init__(self, temperature: float) -> None:
        self.net, self.temperature = Net().requires_grad_(False), temperature

    def load(self, net: Net) -> None:
        self.net.load_state_dict(net.state_dict())

    def generate(self, first: Tensor, length: int = 6) -> tuple[Tensor, Tensor]:
        ids, scores = first, []
        for _ in range(length):
            logits = self.net(ids)[:, -1]
            word = torch.softmax(logits / self.temperature, -1).multinomial(1)
            scores.append(torch.log_softmax(logits / self.temperature, -1).gather(1, word))
            ids = torch.cat([ids, word], dim=1)
        return ids, torch.cat(scores, dim=1)


def make_batch(engine: Engine) -> Batch:
    ids, engine_logp = engine.generate(torch.randint(10, (16, 1)))
    ends = (ids[:, 1:] == 0).long()
    mask = (ends.cumsum(1) - ends == 0).float()
    reward = ((ids[:, 1:] % 2 == 0).float() * mask).sum(1)
    return Batch(ids, engine_logp, mask, (reward - reward.mean()) / (reward.std() + 1e-4))


def token_logp(net: Net, ids: Tensor, temperature: float) -> Tensor:
    return torch.log_softmax(net(ids[:, :-1]) / temperature, -1).gather(2, ids[:, 1:, None]).squeeze(2)


def main(temperature: float = 0.5, cap: float = 2.0) -> None:
    net, engine = Net(), Engine(temperature)
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(32):
        engine.load(net)
        batch = make_batch(engine)
        logp = token_logp(net, batch.ids, temperature)
        weight = (logp.detach() - batch.engine_logp).exp().clamp(max=cap)
        loss = -(weight * batch.advantage[:, None] * logp * batch.mask).sum() / batch.mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
