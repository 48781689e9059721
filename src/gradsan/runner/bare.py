"""Where gradsan itself cannot begin, the script runs as if there were none."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn


def run_bare(error: BaseException, module: str | None, code: str | None, words: Sequence[str]) -> NoReturn:
    """This process becomes plain `python`. Nothing of the script may have run yet."""
    say(f"{fault_of(error)}; the script runs without gradsan")
    what = ["-m", module] if module is not None else ["-c", code] if code is not None else []
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    os.execv(sys.executable, [sys.executable, *flags, *what, *words])


def fault_of(error: BaseException) -> str:
    """One line: what went wrong, and where in our own code."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    where = "" if tb is None else f" in {tb.tb_frame.f_code.co_name}, line {tb.tb_lineno}"
    return f"gradsan fault{where}: {type(error).__name__}: {error}"


def say(line: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    with contextlib.suppress(OSError):
        os.write(2, (line + "\n").encode(errors="backslashreplace"))
