"""The names that a user would call parameters by."""

from __future__ import annotations

from gradsan.observe import names
from gradsan.record.events import ParamNamed
from harness import record_code, run_code

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


MADE_IN_EVERY_ITERATION = """
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def forward(x):
    inside = x.detach().requires_grad_()  # as a checkpoint makes it: nobody holds it any more when a name is looked for
    return net(inside)
for update in range(20):
    if update == 12:
        late = torch.nn.Linear(3, 1)
        opt.add_param_group({"params": late.parameters()})
    x = torch.randn(8, 3)
    loss = forward(x).pow(2).mean()
    if update >= 12:
        loss = loss + late(x).pow(2).mean()
    loss.backward()
    opt.step()
"""


def test_leaves_without_a_name_are_not_looked_for_in_every_iteration(monkeypatch):
    searches: list[object] = []
    find = names.find_names
    monkeypatch.setattr(names, "find_names", lambda *args: searches.append(args) or find(*args))
    events = record_code(MADE_IN_EVERY_ITERATION)
    assert len(searches) < 12  # there are two chances in each of twenty iterations
    assert {"net.weight", "late.weight"} <= {e.name for e in events if isinstance(e, ParamNamed)}
