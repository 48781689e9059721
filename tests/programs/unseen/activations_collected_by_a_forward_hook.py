"""A student is distilled from a teacher; a forward hook collects its activations for a table of dormant units at the
end, each of them with the graph of its update.

Round 12
Class: stays alive
"""

from collections import defaultdict
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1207)


class Probe:
    """Remembers what the layers of a kind put out."""

    def __init__(self, network, kind):
        self.seen = defaultdict(list)
        for name, layer in network.named_modules():
            if isinstance(layer, kind):
                layer.register_forward_hook(self.reader(name))

    def reader(self, name):
        def read(layer, inputs, output):
            self.seen[name].append(output)  # BUG GS305

        return read

    def dormant(self, name):
        mean = torch.cat(list(self.seen[name])).mean(0)
        return (mean < 0.05 * mean.mean()).float().mean().item()


def mlp(*sizes):
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


teacher = mlp(12, 64, 64, 5).requires_grad_(False)
student = mlp(12, 24, 24, 5)
probe = Probe(student, nn.ReLU)
optimizer = torch.optim.Adam(student.parameters(), lr=2e-3)
temperature = 0.5

for update in range(60):
    obs = torch.randn(32, 12)
    wanted = torch.softmax(teacher(obs) / temperature, -1)
    loss = F.kl_div(torch.log_softmax(student(obs), -1), wanted, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for name in probe.seen:
    print(name, f"{probe.dormant(name):.0%} dormant")
print("loss", loss.item())
