"""What the commands of `gradsan.rl` share: the extra they need, and errors as one sentence."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


def need_rl() -> None:
    missing = [name for name in ("torch", "gymnasium", "tyro") if importlib.util.find_spec(name) is None]
    if missing:
        raise click.ClickException(f"This needs {' and '.join(missing)}: pip install 'gradsan[rl]'.")


def find_own_modules() -> None:
    """`--env mymodule:Game-v0` means the one in this folder, as with `python -m`."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


@contextmanager
def plain_errors() -> Iterator[None]:
    """Faults that were put into words are shown as that sentence; anything else keeps its traceback."""
    from gradsan.rl.errors import RlError

    try:
        yield
    except RlError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{error.strerror or error}: {error.filename}.") from error
