"""What a run tells the processes that its script starts, through their environment."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import NamedTuple

FOLLOW, PYTHON, SEARCHED = "GRADSAN_FOLLOW", "GRADSAN_PYTHON", "PYTHONPATH"
START = str(Path(__file__).parent / "start")  # holds a `sitecustomize` and nothing else


class Orders(NamedTuple):
    """`folder`: where traces go. `scratch`: there as long as the run itself. `live`: the rules whose findings are told
    at once; none where nothing is to be said. `base`: what paths are shown relative to. `host`: where the run is.
    `draws`: there will be a page with charts."""

    folder: str
    scratch: str
    script: str
    mode: str
    base: str
    include: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    code: str | None = None
    run: str = ""
    host: str = ""
    draws: bool = False

    def give(self, environment: MutableMapping[str, str]) -> None:
        environment[FOLLOW] = json.dumps(self)
        environment[PYTHON] = sys.prefix
        others = [part for part in environment.get(SEARCHED, "").split(os.pathsep) if part != START]
        environment[SEARCHED] = os.pathsep.join([START, *others] if any(others) else [START])


def given(environment: MutableMapping[str, str]) -> Orders | None:
    """What this process was told; None where nobody follows it, or the run is over."""
    orders = read(environment.get(FOLLOW, ""))
    if orders is None or os.path.isdir(orders.scratch):
        return orders
    if orders.host in ("", socket.gethostname()) or not os.path.isdir(orders.folder):
        return None
    # Another machine, which shares the folder of the traces and nothing else: nobody there hears what is said.
    return orders._replace(scratch=orders.folder, live=())


def read(text: str) -> Orders | None:
    try:
        orders = Orders(*json.loads(text))
    except (TypeError, ValueError):
        return None
    return orders._replace(include=tuple(orders.include), live=tuple(orders.live))


def take_back(environment: MutableMapping[str, str]) -> None:
    """Whatever is started from now on is followed by nobody."""
    environment.pop(FOLLOW, None)
    environment.pop(PYTHON, None)
    others = [part for part in environment.get(SEARCHED, "").split(os.pathsep) if part != START]
    if any(others):
        environment[SEARCHED] = os.pathsep.join(others)
    else:
        environment.pop(SEARCHED, None)


def wait_no_longer() -> None:
    """This process is going to be watched in another way: its `sitecustomize` need not wait for torch any more."""
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__module__", "") != "sitecustomize"]
