"""Mends that strangers' code asked for, each with the smallest program that needs it."""

from __future__ import annotations

import textwrap

import numpy as np
import torch

from gradsan.judge.engine import Engine
from gradsan.judge.history import History
from gradsan.observe.ops.values import Departures
from gradsan.observe.session import Session
from gradsan.record.events import Op, OpFacts, Ops
from gradsan.record.recorder import Recorder
from harness import run_code

OVERRIDING = """
import torch
class Net(torch.nn.Linear):
    def named_parameters(self, prefix="", recurse=True):  # as it was before PyTorch 2.0
        for name, parameter in super().named_parameters(prefix, recurse):
            yield f"mine.{name}", parameter
net = Net(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
    opt.step()
"""


def test_parameters_have_their_names_though_the_module_overrides_named_parameters() -> None:
    report = run_code(OVERRIDING)
    assert not report.faults
    assert [(f.rule, f.subjects) for f in report.findings] == [("GS401", ("net.weight", "net.bias"))]


def test_an_array_is_known_by_its_memory_while_it_lives() -> None:
    departures, memory = Departures(), bytearray(8)
    left = np.frombuffer(memory, np.float32)
    departures.left("numpy", left, 7)
    left[:] = 0.1234
    assert departures.recognise(left) == [7]


def test_another_array_on_the_memory_of_a_dead_one_is_not_taken_for_it() -> None:
    departures, memory = Departures(), bytearray(8)
    left = np.frombuffer(memory, np.float32)
    departures.left("numpy", left, 7)
    del left
    other = np.frombuffer(memory, np.float32)
    other[:] = 0.1234
    assert departures.recognise(other) == []
    assert departures.returned(torch.from_numpy(other)) == ()


def test_gradient_that_is_given_to_another_parameter_is_handed_over() -> None:
    history = History()
    read = Op(1, "grad", 0, (), False, (), facts=OpFacts(pid=5), kind="gradient read")
    halved = Op(2, "div", 0, (1,), False, ())
    history.apply(
        Ops((read, halved, Op(3, "", 0, (2,), False, (), facts=OpFacts(pid=6), kind="gradient set")))
    )
    history.apply(
        Ops((Op(4, "", 0, (1,), False, (), facts=OpFacts(pid=5), kind="gradient set"),))
    )  # clipped by hand: its own
    assert history.networks.handed_over == {5}


def test_an_unused_parameter_that_enters_a_loss_as_a_constant_is_told_with_that_line() -> None:
    report = run_code(
        """
        import torch
        encoder, model = torch.nn.Linear(5, 8), torch.nn.Linear(8, 8)
        opt = torch.optim.Adam([*encoder.parameters(), *model.parameters()])
        for _ in range(12):
            z, z2 = encoder(torch.randn(4, 5)), encoder(torch.randn(4, 5))
            loss = (model(z).detach() - z2).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """
    )
    (finding,) = report.findings
    assert (finding.rule, finding.culprit.line) == ("GS204", 4)
    assert "only as a constant" in finding.message
    assert [(site.role, site.location.line) for site in finding.sites] == [("optimizer", 4), ("constant", 7)]


def test_an_iteration_that_is_judged_is_judged_with_what_it_is_made_of() -> None:
    """The actor's weights are read first while acting, in an iteration that is only counted; the last one, which the
    end of the script breaks off, uses them."""
    code = """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(30):
        with torch.no_grad():
            action = actor(torch.randn(4, 3))
        for _ in range(2):
            critic_opt.zero_grad()
            critic(action).pow(2).mean().backward()
            critic_opt.step()
        actor_opt.zero_grad()
        critic(actor(torch.randn(4, 3))).mean().backward()
        actor_opt.step()
    """
    engine = Engine()
    with Session(Recorder([engine]), "deep"):
        exec(textwrap.dedent(code), {})
    graph = engine.history.graph
    loss = max(graph.ops.values(), key=lambda op: op.nid)
    assert loss.name == "mean"
    assert len(graph.live_params([loss.nid])) == 4


def test_a_gradient_that_grows_is_told_with_its_own_backward() -> None:
    report = run_code(
        """
        import torch
        v, model = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(v.parameters(), lr=0.1)
        model_opt = torch.optim.SGD(model.parameters(), lr=0.1)
        s, scale = torch.randn(8, 3), 1.0
        for i in range(200):
            scale = scale * 1.5 if i > 100 else 1.0
            opt.zero_grad()
            (v(s) - 1.0 * scale).pow(2).mean().backward()
            model_opt.zero_grad()
            (model(s) - 1.0).pow(2).mean().backward()
            opt.step()
            model_opt.step()
        """
    )
    assert {(finding.rule, finding.culprit.line) for finding in report.findings} == {("GS501", 10)}


def test_a_view_that_torch_refuses_to_speak_of_may_be_written() -> None:
    """One that was made under `no_grad`, and whose base got a graph since."""
    report = run_code("""
        import torch
        net = torch.nn.Linear(3, 3)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(4):
            rows = torch.zeros(4, 3)
            with torch.no_grad():
                first = rows[0]
            rows[1] = net(torch.randn(3))
            with torch.no_grad():
                first[0] = 1.0
            loss = rows[1:].pow(2).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """)
    assert not report.faults, report.faults[0]["traceback"]
    assert not report.findings
