"""The names that a user would call parameters by."""

from __future__ import annotations

from harness import run_code

STALE = """
import torch
{classes}
{network}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
"""


def subjects(network: str, classes: str = "") -> list[str]:
    report = run_code(STALE.format(network=network, classes=classes), "adaptive")
    assert [f.rule for f in report.findings] == ["GS401"]
    return list(report.findings[0].subjects)


def test_a_variable_of_a_loop_does_not_name_the_last_layer():
    classes = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
    network = "net = Net()\nfor layer in net.layers:\n    torch.nn.init.ones_(layer.weight)"
    names = subjects(network, classes)
    assert names == [f"net.layers.{i}.{part}" for i in (0, 1) for part in ("weight", "bias")]


def test_networks_that_have_variables_of_their_own_keep_their_names_in_a_list():
    classes = """
class Both(torch.nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)

    def forward(self, x):
        return self.parts[0](x) + self.parts[1](x)
"""
    network = "q1, q2 = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)\nnet = Both([q1, q2])"
    assert subjects(network, classes) == ["q1.weight", "q1.bias", "q2.weight", "q2.bias"]


def test_a_wrapper_that_answers_for_its_network_adds_no_word():
    classes = """
class Wrapper(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.base_model = model

    def forward(self, x):
        return self.base_model(x)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.base_model, name)
"""
    network = "net = Wrapper(torch.nn.Sequential(torch.nn.Linear(3, 1)))"
    assert subjects(network, classes) == ["net.0.weight", "net.0.bias"]
