"""Is a run with gradsan the run without it? Output, status, weights, random state; no fault, no finding.

    make reliability                        # every correct program of the repository, bare, adaptive and deep
    make reliability RELIABILITY="jit_ fork_"      # those whose name holds one of these

Each program runs in a process of its own, forked from one that has imported torch; one marked `# fresh` (it
compiles) in a new interpreter. Of those marked `# races` the weights differ from run to run, and are not compared.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import final_state  # noqa: F401 - once for all
import torch

import gradsan.cli.run
import gradsan.observe.session  # noqa: F401 - once for all

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("tests/programs/legal", "tests/programs/clean", "tests/torch_features/scripts")
MODES = ("bare", "adaptive", "deep")
PROLOGUE = "import final_state as _final_state; _final_state.seed(); "
EPILOGUE = "\nimport final_state as _final_state; _final_state.write(dict(globals()))\n"
PATIENCE = 300  # seconds


class Outcome(NamedTuple):
    status: int
    output: str
    state: str
    faults: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    report: bool = True
    errors: str = ""


def programs(wanted: list[str]) -> list[Path]:
    found = [path for folder in PROGRAMS for path in sorted((ROOT / folder).glob("*.py"))]
    return [path for path in found if not wanted or any(part in path.stem for part in wanted)]


def outcome(path: Path, mode: str) -> Outcome:
    source = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        script, report, state = (Path(folder, name) for name in ("program.py", "report.json", "state"))
        first = "" if "from __future__" in source else PROLOGUE
        script.write_text(first + source + EPILOGUE, encoding="utf-8")
        arguments = ["run", "--mode", mode, "--format", "json", "--output", str(report), str(script)]
        os.environ["RELIABILITY_STATE"] = str(state)
        start = _in_new_interpreter if "# fresh" in source else _in_fork
        status = start(arguments if mode != "bare" else [str(script)], Path(folder))
        written = state.read_text() if state.exists() and "# races" not in source else ""
        output = Path(folder, "out").read_text(errors="replace")
        if mode == "bare":
            errors = Path(folder, "err").read_text(errors="replace")
            return Outcome(status, output, written, errors=errors)
        if not report.exists() or not report.stat().st_size:
            return Outcome(status, output, written, report=False)
        told = json.loads(report.read_text())
        faults = tuple(f"{f['tap']}: {_short(f['traceback'])}" for f in told["faults"])
        findings = tuple(f"{f['rule']} {f['message']}" for f in told["findings"])
        return Outcome(status, output, written, faults, findings)


def _short(trace: str) -> str:
    """The last line of ours, and what was raised."""
    lines = trace.strip().splitlines()
    ours = [line.strip() for line in lines if "gradsan" in line and line.lstrip().startswith("File")]
    return f"{ours[-1].replace(str(ROOT), '') if ours else ''} {lines[-1]}"


def _in_new_interpreter(arguments: list[str], folder: Path) -> int:
    watched = ["-m", "gradsan"] if arguments[0] == "run" else []
    path = {"PYTHONPATH": str(ROOT / "benchmarks"), "PYTHONHASHSEED": "0"}
    with open(folder / "out", "w") as out, open(folder / "err", "w") as err:
        command = [sys.executable, *watched, *arguments]
        return subprocess.run(
            command, stdout=out, stderr=err, cwd=folder, env=os.environ | path, timeout=PATIENCE, check=False
        ).returncode


def _in_fork(arguments: list[str], folder: Path) -> int:
    child = os.fork()
    if not child:
        os._exit(_child(arguments, folder))
    deadline = time.monotonic() + PATIENCE
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return -999
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(ended[1])


def _child(arguments: list[str], folder: Path) -> int:
    os.chdir(folder)
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    run: Callable[[list[str]], object] = _watched if arguments[0] == "run" else _bare
    try:
        run(arguments)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _bare(arguments: list[str]) -> None:
    sys.argv = arguments
    runpy.run_path(arguments[0], run_name="__main__")


def _watched(arguments: list[str]) -> None:
    from gradsan.cli import main

    main(arguments, prog_name="gradsan")


def differences(bare: Outcome, seen: Outcome) -> Iterator[str]:
    if seen.status != bare.status and not (seen.findings and seen.status == 1):
        yield f"status {seen.status}, not {bare.status}"
    if seen.output != bare.output:
        yield f"output {seen.output[-300:]!r}, not {bare.output[-300:]!r}"
    if seen.state != bare.state:
        yield "weights or random state"
    if not seen.report:
        yield "no report"
    yield from (f"fault in {fault}" for fault in seen.faults)
    yield from (f"finding {finding}" for finding in seen.findings)


def main(wanted: list[str]) -> int:
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="inductor-"))
    torch.set_num_threads(1)
    torch.optim.SGD([torch.zeros(1, requires_grad=True)])  # imports what every optimizer does, once for all
    os.environ["OMP_NUM_THREADS"] = "1"
    paths, wrong = programs(wanted), 0
    for path in paths:
        bare = outcome(path, "bare")
        for mode in MODES[1:]:
            found = list(differences(bare, outcome(path, mode)))
            wrong += bool(found)
            for difference in found:
                print(f"{path.stem} [{mode}]: {difference}", flush=True)
        if bare.status:
            print(f"{path.stem} [bare] ended with {bare.status}: {bare.errors[-600:]}", flush=True)
    print(f"{len(paths)} programs in {len(MODES)} modes: {wrong} runs that differ, of {2 * len(paths)}")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
