"""Reports of runs that never took place: a very long one, and one whose names mean harm."""

from __future__ import annotations

import linecache
import math

from gradsan.judge.engine import Engine
from gradsan.picture.collector import PictureCollector
from gradsan.record import events as e
from gradsan.record.sinks import Sinks
from gradsan.render.html import render
from gradsan.rules import catalogue

# A script that gets out of its quotes, line ends that only JavaScript knows, colours for a terminal, and
# text that reads backwards.
HOSTILE = (
    "</script><img src=x onerror=window.hacked=1>",
    "\u2028window.hacked=1\u2029",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnp.exe",
    "'\"><svg onload=window.hacked=1>",
    "{{ 7 * 7 }}{% raw %}",
    "<!--<script>",
)


def long_report(steps: int = 1_000_000, samples: int = 1_000, layers: int = 8) -> str:
    """An actor and a critic of many layers, sampled as often as the observer would."""
    engine, picture = Engine(), PictureCollector()
    sinks = Sinks([engine, picture])
    _source("<long>", "actor_loss.backward()\nactor_opt.step()\nopt = Adam()\ncritic_loss.backward()")
    for line in (1, 2, 3, 4):
        sinks.feed(e.SiteSeen(line, "<long>", line, "train"))
    for pid in range(1, 2 * layers + 1):
        name = f"{'actor' if pid <= layers else 'critic'}.{pid}.weight"
        sinks.feed(e.ParamSeen(pid, "parameter", (64, 64), True, 3, name))
    mine, theirs = tuple(range(1, layers + 1)), tuple(range(layers + 1, 2 * layers + 1))
    sinks.feed(e.OptimizerSeen(1, "Adam", mine, 3))
    sinks.feed(e.OptimizerSeen(2, "Adam", theirs, 3))
    sinks.feed(e.Attention(True, "first"))
    for number in range(samples):
        at = 1 + number * steps // samples
        if number == 1:
            sinks.feed(e.Attention(False))
        for oid, pids in ((1, mine), (2, theirs)):
            sinks.feed(e.ZeroGrad(2, "optimizer", pids))
            sinks.feed(e.Backward(2 * number + oid, oid * 3 - 2, "backward", (), pids, pids, loss=1 / at))
            size = 1 + 0.5 * math.sin(number / 40)
            norms = tuple((pid, size / pid, 10.0, 0.01 * size) for pid in pids)
            sinks.feed(e.Sample(at, oid, norms, (((oid * 3 - 2), 1 / at),), 2.0 * size / oid))
            sinks.feed(e.Step(oid, 2, pids))
            sinks.feed(e.StepDone(oid))
        sinks.feed(e.IterationEnd())
        sinks.feed(e.Repeated(steps // samples - 1))
    sinks.finish()
    report = engine.report()
    report.findings[:] = [_finding("GS503", "<long>", 2, 400_001)]
    report.picture = picture.picture(report.findings)
    return render(report)


def hostile_report() -> str:
    engine, picture = Engine(), PictureCollector()
    sinks = Sinks([engine, picture])
    nasty = "".join(HOSTILE)
    file = f"<{nasty}>"
    _source(file, f"loss = net('{nasty}')\nloss.backward()  # {nasty}\nopt.step()")
    for line in (1, 2, 3):
        sinks.feed(e.SiteSeen(line, file, line, nasty))
    sinks.feed(e.ParamSeen(1, "parameter", (1,), True, 1, nasty))
    sinks.feed(e.OptimizerSeen(1, nasty, (1,), 3))
    sinks.feed(
        e.Ops(
            (
                e.Op(1, "", 0, (), True, (1,), facts=e.OpFacts(pid=1), kind="parameter"),
                e.Op(2, nasty, 1, (1,), True, ()),
            )
        )
    )
    sinks.feed(e.Blind("compiled", 1))
    for number in range(4):
        sinks.feed(e.Backward(number + 1, 2, "backward", (e.Root(2, (), True),), (1,), (1,), loss=1.0))
        sinks.feed(e.Sample(number + 1, 1, ((1, 1.0, 1.0, 1.0),), ((2, 1.0),), 2.0))
        sinks.feed(e.Step(1, 3, (1,)))
        sinks.feed(e.StepDone(1))
        sinks.feed(e.IterationEnd())
    sinks.feed(e.Fault(nasty, nasty))  # nothing is judged after it
    sinks.finish()
    report = engine.report()
    assert any(f.rule == "GS401" for f in report.findings)
    report.script = report.mode = report.torch = nasty
    report.picture = picture.picture(report.findings)
    return render(report)


def _source(file: str, text: str) -> None:
    linecache.cache[file] = (len(text), None, [line + "\n" for line in text.split("\n")], file)


def _finding(code: str, file: str, line: int, iteration: int):  # type: ignore[no-untyped-def]
    from gradsan.judge.report.findings import Finding, Location, RoleSite

    rule = catalogue()[code]
    where = Location(file, line, "train", linecache.getline(file, line).strip())
    return Finding(code, rule.name, rule.severity, "a norm is not finite", rule.fix, where,
                   (RoleSite("step", where),), ("actor.1.weight",), 3, iteration)  # fmt: skip
