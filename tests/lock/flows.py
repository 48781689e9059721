"""The flow of a piece of code, and the same code written otherwise: other seeds, other names, other lines."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import linecache
import random
import re
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import torch

from gradsan.judge.engine import Engine
from gradsan.judge.report.findings import Finding
from gradsan.lock.compare import compare
from gradsan.lock.model import Flow
from gradsan.lock.sink import LockSink
from gradsan.lock.words import sentence
from gradsan.observe.session import Session
from gradsan.record.recorder import Recorder

_numbers = itertools.count()
SEEDS = re.compile(r"(manual_seed|default_rng|\bseed|RandomState)\((\d+)\)")
NAMED_SEEDS = re.compile(r"\bseed=(\d+)")


def run_flow(code: str, mode: str = "deep", seed: int = 0, locked: Flow | None = None) -> tuple[Flow, Engine]:
    """Run the code as a script of its own; where it raises, what was seen before counts."""
    code = textwrap.dedent(code)
    folder = Path(f"/lock/{next(_numbers)}")
    file = str(folder / "program.py")
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    engine = Engine()
    sink = LockSink(engine, folder, locked)
    recorder = Recorder([engine, sink])
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), Session(recorder, mode):
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, file, "exec"), types.ModuleType("__main__").__dict__)
        except Exception:
            sink.whole = False
    torch.set_grad_enabled(True)
    assert not recorder.sinks.faults, recorder.sinks.faults[0].traceback
    return sink.flow, engine


def flow_of(code: str, mode: str = "deep", seed: int = 0) -> Flow:
    return run_flow(code, mode, seed)[0]


def findings(code: str, locked: Flow, mode: str = "deep") -> list[Finding]:
    engine = run_flow(code, mode, locked=locked)[1]
    return [finding for finding in engine.findings.values() if finding.rule == "GS901"]


def changes(one: Flow, other: Flow) -> list[str]:
    return [sentence(change) for change in compare(one, other)]


def with_other_seeds(code: str) -> str:
    code = SEEDS.sub(lambda found: f"{found[1]}({int(found[2]) + 1000})", code)
    return NAMED_SEEDS.sub(lambda found: f"seed={int(found[1]) + 1000}", code)


def with_other_names(code: str) -> str:
    """Every variable gets another name, in another alphabetical order, and all lines move. Arguments, attributes and
    what is imported or defined keep theirs: those are interfaces."""
    tree = ast.parse(textwrap.dedent(code))
    nodes = list(ast.walk(tree))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    kept = {
        a.arg for n in nodes if isinstance(n, ast.arguments) for a in (*n.args, *n.kwonlyargs, *n.posonlyargs)
    }
    kept |= {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    kept |= {a.asname or a.name for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
    for of in (n for n in nodes if isinstance(n, ast.ClassDef)):
        fields = [s for s in of.body if isinstance(s, ast.Assign | ast.AnnAssign)]
        kept |= {n.id for field in fields for n in ast.walk(field) if isinstance(n, ast.Name)}
    names = {
        name: f"v{number}_{name[::-1]}" for number, name in enumerate(sorted(stored - kept, reverse=True))
    }
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [names.get(name, name) for name in node.names]
    return "# moved\n\n\n" + ast.unparse(tree)


VARIANTS = {
    "another run": (lambda code: code, "deep", 0),
    "adaptive": (lambda code: code, "adaptive", 0),
    "other seeds": (with_other_seeds, "deep", 99),
    "other names and lines": (with_other_names, "deep", 0),
}


def unstable(
    code: str, base: Flow | None = None, variants: tuple[str, ...] = tuple(VARIANTS)
) -> dict[str, list[str]]:
    """By variant of the same program: what its lock says otherwise. Nothing, if all is well."""
    base = flow_of(code) if base is None else base
    found = {}
    for name in variants:
        change, mode, seed = VARIANTS[name]
        if different := changes(base, flow_of(change(code), mode, seed)):
            found[name] = different
    return found
