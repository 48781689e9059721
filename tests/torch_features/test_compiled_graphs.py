"""Bugs inside compiled code are named on their lines, and the kernels run as they would without us."""

from __future__ import annotations

import textwrap

import pytest
import torch
from torch.distributions import Normal

from harness import run_code


@pytest.fixture(scope="module", autouse=True)
def settled_compiler() -> None:
    """The compiler puts things of its own into PyTorch when it is first used."""

    def score(x: torch.Tensor) -> torch.Tensor:
        return Normal(torch.nn.functional.linear(x, x), 1.0, validate_args=False).log_prob(x)

    torch.compile(score, backend="aot_eager")(torch.ones(3, 3, requires_grad=True)).sum().backward()


HEAD = """
import copy, torch
from torch.distributions import Normal
torch.manual_seed(0)
actor = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
target = copy.deepcopy(critic)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
"""
TAIL = """
update = torch.compile(loss_of, backend="aot_eager", dynamic=False)
for i in range(16):
    loss = update(torch.randn(16, 3), torch.randn(16, 2), torch.randn(16), torch.randn(16, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 4 == 3:
        target.load_state_dict(critic.state_dict())
"""
RIGHT = """
def loss_of(s, a, r, s2):
    score = Normal(actor(s), 1.0, validate_args=False).log_prob(a).sum(-1)
    value = critic(s).squeeze(-1)
    with torch.no_grad():
        goal = r + 0.9 * target(s2).squeeze(-1)
    gain = (goal - value).detach()
    return -(score * gain).mean() + 0.5 * (value - goal).pow(2).mean()
"""
BUGS = {
    "GS303": ("gain = (goal - value).detach()", "gain = goal - value"),
    "GS301": (
        "with torch.no_grad():\n        goal = r + 0.9 * target(s2).squeeze(-1)",
        "if True:\n        goal = r + 0.9 * critic(s2).squeeze(-1)",
    ),
    "GS601": ("0.5 * (value - goal)", "0.5 * (critic(s) - goal)"),
    "GS202": ("Normal(actor(s), 1.0", "Normal(actor(s).detach(), 1.0"),
}


@pytest.mark.parametrize("rule", BUGS)
def test_a_bug_inside_is_named_on_its_line(rule: str) -> None:
    old, new = BUGS[rule]
    assert old in RIGHT
    code = HEAD + RIGHT.replace(old, new) + TAIL
    changed = next(n for n, line in enumerate(code.splitlines(), 1) if new.splitlines()[-1] in line)
    told = [(f.rule, f.culprit.line) for f in run_code(code, "adaptive").findings if f.culprit]
    assert told == [(rule, changed)]


@pytest.mark.parametrize("mode", ["deep", "adaptive"])
def test_right_code_inside_is_silent(mode: str) -> None:
    report = run_code(HEAD + RIGHT + TAIL, mode)
    assert not report.findings
    assert not report.faults
    reasons = {entry["reason"] for entry in report.not_evaluated}
    assert any("what the values inside torch.compile are" in reason for reason in reasons)
    assert not any("code inside torch.compile" in reason for reason in reasons)


def test_pieces_with_plain_code_between_them_are_said_not_to_be_looked_at() -> None:
    code = HEAD + RIGHT.replace("    gain =", "    torch._dynamo.graph_break()\n    gain =") + TAIL
    report = run_code(code, "adaptive")
    assert not report.findings
    assert any("code inside torch.compile" in entry["reason"] for entry in report.not_evaluated)


def test_sizes_that_change_are_not_asked_about() -> None:
    """Whoever compares them makes the compiler write down what it then has to compile for."""
    code = """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    graphs = 0
    def counted(graph, inputs):
        global graphs
        graphs += 1
        return graph.forward
    @torch.compile(backend=counted, dynamic=True)
    def loss_of(x):
        return (net(x).squeeze(-1) - x.sum(-1)).pow(2).mean()
    for i in range(12):
        loss = loss_of(torch.randn(8 + i, 3))
        opt.zero_grad()
        loss.backward()
        opt.step()
    assert graphs == 1, graphs
    """
    assert not run_code(textwrap.dedent(code), "deep").findings
