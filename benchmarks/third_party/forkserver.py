"""Python processes that need not import torch again: forks of this one, which has done nothing else yet.

The library under test is imported in the child, after gradsan has put its taps in place, as it would be in a
process of its own.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple

import gymnasium  # noqa: F401
import numpy as np  # noqa: F401
import torch
import torch._dynamo
import torch.distributions


class Done(NamedTuple):
    status: int
    stdout: str
    stderr: str


def python(*words: str, cwd: Path) -> Done:
    """`python WORDS` in `cwd`; a first word that names no file is a module."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place) / "out", Path(place) / "err"
        child = os.fork()
        if not child:
            _run(words, cwd, out, err)
        _, status = os.waitpid(child, 0)
        return Done(os.waitstatus_to_exitcode(status), out.read_text(), err.read_text())


def _run(words: tuple[str, ...], cwd: Path, out: Path, err: Path) -> None:
    """In the child, and never back from here."""
    status = 1
    try:
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), number)
        os.chdir(cwd)
        torch.set_num_threads(1)
        sys.argv = list(words)
        if (cwd / words[0]).exists():
            sys.path[0] = str(cwd)
            runpy.run_path(words[0], run_name="__main__")
        else:
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
