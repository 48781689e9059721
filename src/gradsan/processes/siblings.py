"""Ranks that a launcher has started, each under a gradsan of its own: the last one to end reports for all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from gradsan.processes.folder import alone, traces_in
from gradsan.processes.identity import identity


def am_last(folder: Path, scratch: str) -> bool:
    """This process is done. Whether all others of this machine are, too, or are no more."""
    me = identity()
    with alone(scratch):
        Path(scratch, f"done-{me['pid']}").touch()
        others = [head for path in traces_in(folder) if (head := _head(path).get("process"))]
        return not any(
            isinstance(other, dict)
            and other.get("host") == me["host"]
            and "rank" in other
            and not Path(scratch, f"done-{other.get('pid')}").exists()
            and is_running(other.get("pid"))
            for other in others
        )


def run_of_ranks() -> str:
    """What the ranks of one job have in common, on all machines."""
    names = ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT")
    return ":".join(os.environ.get(name, "") for name in names)


def is_running(pid: Any) -> bool:
    """One that was killed and not yet waited for is not."""
    try:
        state = Path(f"/proc/{int(pid)}/stat").read_text(encoding="utf-8", errors="replace")
        return state.rpartition(")")[2].split()[0] not in ("Z", "X")
    except (OSError, ValueError, TypeError, IndexError):
        return _answers(pid) if not os.path.isdir("/proc/self") else False


def _answers(pid: Any) -> bool:
    try:
        os.kill(int(pid), 0)
    except (OSError, ValueError, TypeError):
        return False
    return True


def _head(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            head = json.loads(file.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) else {}
