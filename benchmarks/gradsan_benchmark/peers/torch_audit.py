"""torch-audit: its zero-touch mode, put around every optimizer and the networks whose parameters it owns."""

from __future__ import annotations

import gc
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan_benchmark import forks
from gradsan_benchmark.sarif import Finding
from gradsan_benchmark.tools import Said

SPEED = {"TA200", "TA201", "TA202", "TA203"}  # about speed, and true of every small network


@dataclass(frozen=True)
class TorchAudit:
    """Its findings name modules and parameters, no lines: it can be right, not at a line."""

    packages: Path
    name: str = "torch-audit"
    settings: str = (
        "`autopatch(model, optimizer=…, every_n_steps=1)` at each optimizer's first step, without TA2xx"
    )
    limit: float = 120.0

    def run(self, program: Path, original: Path) -> Said:
        with tempfile.TemporaryDirectory() as place:
            result = Path(place, "said.json")
            done = forks.call(lambda: watch(str(program), result, self.packages), program.parent, self.limit)
            if not result.exists():
                last = (done.stderr.strip().splitlines() or ["no word"])[-1]
                return Said([], done.seconds, f"status {done.status}: {last[:200]}")
            said = json.loads(result.read_text(encoding="utf-8"))
        return Said([Finding(rule, entity, 0) for rule, entity in said], done.seconds)


def watch(program: str, result: Path, packages: Path) -> None:
    sys.path.insert(0, str(packages))
    from torch.optim.optimizer import register_optimizer_step_pre_hook
    from torch_audit import autopatch  # type: ignore[import-not-found]

    auditors: list[Any] = []
    seen: set[int] = set()

    def first_step(optimizer: Any, *_: Any) -> None:
        if id(optimizer) not in seen:
            seen.add(id(optimizer))
            options = {"every_n_steps": 1, "fail_level": "FATAL", "reporters": [], "ignore_rules": SPEED}
            auditors.extend(autopatch(model, optimizer=optimizer, **options) for model in owners(optimizer))

    register_optimizer_step_pre_hook(first_step)
    try:
        forks.script(program)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
    found = {
        (f.rule_id, str(f.module_path or f.entity or "")) for auditor in auditors for f in auditor.findings
    }
    result.write_text(json.dumps(sorted(found)), encoding="utf-8")


def owners(optimizer: Any) -> list[Any]:
    """The outermost modules that hold parameters of this optimizer, and no others."""
    import torch

    mine = {id(p) for group in optimizer.param_groups for p in group["params"]}
    modules = [o for o in gc.get_objects() if isinstance(o, torch.nn.Module)]
    whole = [m for m in modules if (ids := {id(p) for p in m.parameters()}) and ids <= mine]
    inner = {id(child) for m in whole for child in m.modules() if child is not m}
    return [m for m in whole if id(m) not in inner]
