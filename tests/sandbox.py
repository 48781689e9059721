"""A directory to write scripts into, and the two ways to run them: under `python` and under gradsan."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

GRADSAN = str(Path(sys.executable).with_name("gradsan"))
UNSET = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "PYTHONSAFEPATH")
PATIENCE = 120  # seconds until a hanging test is given up; no test is expected to come near it

STALE = """
import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def update():
    loss = (net(torch.ones(8, 3)) - 1.0).pow(2).mean()
    loss.backward()
    opt.step()  # BUG
for _ in range(4):
    update()
"""
CLEAN = STALE.replace("    loss.backward()\n", "    opt.zero_grad()\n    loss.backward()\n")


class Sandbox:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.started: list[subprocess.Popen[str]] = []
        self.env = {k: v for k, v in os.environ.items() if k not in UNSET}
        self.env |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm"}

    def write(self, name: str, source: str) -> str:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        return name

    def read(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def python(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, *args], **options)

    def gradsan(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self._run([GRADSAN, *args], **options)

    def shell(self, line: str) -> subprocess.CompletedProcess[str]:
        return self._run(["sh", "-c", line])

    def start(self, *args: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [GRADSAN, *args], cwd=self.path, env=self.env, text=True, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self.started.append(process)
        return process

    def _run(
        self, command: list[str], env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        options = {"capture_output": True, "text": True, "timeout": PATIENCE, **options}
        return subprocess.run(command, **{"cwd": self.path, **options}, env=self.env | (env or {}))
