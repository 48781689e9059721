"""A place is a short script with a bug in reserve.

A line `#! code` stands for the bug: the line above it is what correct code has there. `#!` alone leaves that
line out, `#!+ code` takes no line's place. The line to blame is the bug's own, unless another carries the
mark `# BUG`. The first line names the rules of which one must find it; `# blind:` what the report must say
that it could not look at.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import linecache
import random
import re
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Report
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

SCRIPTS = Path(__file__).with_name("scripts")
_numbers = itertools.count()


class Feature(NamedTuple):
    name: str
    rules: set[str]
    correct: str
    buggy: str
    blame: set[int]
    blind: str


def read_place(path: Path) -> Feature:
    text = path.read_text(encoding="utf-8")
    rules = set(re.findall(r"GS\d+", text.splitlines()[0]))
    blind = re.search(r"^# blind: (.*)$", text, re.M)
    correct, buggy = [], []
    planted: set[int] = set()
    for line in text.splitlines():
        bug = re.fullmatch(r"(\s*)#!(\+?)( .*)?", line)
        if bug is None:
            correct.append(line.replace("  # BUG", ""))
            buggy.append(line)
            continue
        correct.append("")
        if not bug[2] and len(buggy) - 1 not in planted and not buggy[-1].strip().startswith("#"):
            buggy[-1] = bug[1] + "pass"
        buggy.append(bug[1] + (bug[3] or "").removeprefix(" "))
        planted.add(len(buggy) - 1)
    marked = {n for n, line in enumerate(buggy, 1) if line.endswith("# BUG")}
    blame = marked or {n + 1 for n in planted}
    return Feature(path.stem, rules, "\n".join(correct), "\n".join(buggy), blame, blind[1] if blind else "")


FEATURES = [read_place(path) for path in sorted(SCRIPTS.glob("*.py"))]


def run(code: str, mode: str = "") -> tuple[str, Report]:
    """Run the script with or without gradsan: a digest of all that it left behind, and the report."""
    file = f"<place-{next(_numbers)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    engine, module = Engine(), ModuleType("__main__")
    session = Session(Recorder([engine]), mode) if mode else contextlib.nullcontext()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), session:
        try:
            exec(compile(code, file, "exec"), module.__dict__)
        except RuntimeError as error:
            module.__dict__["error"] = str(error)
            if isinstance(session, Session):
                session.explain(error)
    return digest(vars(module)), engine.report()


def check_correct(place: Feature) -> None:
    expected, _ = run(place.correct)
    for mode in ("deep", "adaptive", "light"):
        found, report = run(place.correct, mode)
        assert not report.faults, report.faults[0]["traceback"]
        assert not report.findings, (mode, summary(report))
        assert report.iterations > 5, mode
        assert found == expected, mode


def check_bug(place: Feature, mode: str) -> None:
    expected, _ = run(place.buggy)
    found, report = run(place.buggy, mode)
    assert not report.faults, report.faults[0]["traceback"]
    assert {f.rule for f in report.findings} <= place.rules, summary(report)
    blamed = {f.culprit.line for f in report.findings if f.culprit}
    assert blamed, "nothing was found"
    assert blamed <= place.blame, (place.blame, summary(report))
    assert found == expected
    reasons = " ".join(n["reason"] for n in report.not_evaluated)
    assert place.blind in reasons, report.not_evaluated


def summary(report: Report) -> list[Any]:
    return [(f.rule, f.culprit and f.culprit.line, f.message) for f in report.findings]


def digest(variables: dict[str, Any]) -> str:
    """Every tensor, network, optimizer and plain value among the variables, and every random state."""
    found = hashlib.sha256()
    for name, value in sorted(variables.items()):
        if not name.startswith("__"):
            found.update(name.encode())
            for part in _parts(value):
                found.update(part)
    found.update(torch.get_rng_state().numpy().tobytes())
    found.update(repr((random.getstate(), np.random.get_state()[1].tolist())).encode())
    return found.hexdigest()


def _parts(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if value.is_meta:
            yield repr(tuple(value.shape)).encode()
            return
        plain = value.detach().to_dense().as_subclass(torch.Tensor)
        yield plain.resolve_conj().numpy().tobytes()
        if value.is_leaf and value.grad is not None:
            yield from _parts(value.grad)
    elif isinstance(value, torch.nn.Module):
        yield from _parts(dict(value.named_parameters()) | dict(value.named_buffers()))
    elif isinstance(value, torch.optim.Optimizer):
        yield from _parts(value.state_dict())
    elif isinstance(value, dict):
        for key, item in value.items():
            yield repr(key).encode() if isinstance(key, str | int) else b""
            yield from _parts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, int | float | str | bool):
        yield repr(value).encode()
    elif hasattr(value, "__dict__") and type(value).__module__ == "__main__":
        yield from _parts(vars(value))
