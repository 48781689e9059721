"""Runs pieces of training code on two ranks, each in a forked process of its own, and judges their traces together.

Started once, as a program: torch is imported once, and every rank is a fork of a process that has done nothing yet.
Reads a JSON list of `{"name", "code"}` and writes one report for each."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import textwrap
import types
from pathlib import Path

import torch
import torch._dynamo.utils  # what a wrapper imports, before any rank is forked
import torch.distributed._functional_collectives

from gradsan.cli.report import judge
from gradsan.observe.session import Session
from gradsan.processes.folder import open_trace
from gradsan.record.recorder import Recorder
from gradsan.rules import catalogue

WORLD = 2


def port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def rank(folder: str, file: str, number: int, mode: str) -> None:
    os.environ |= {"RANK": str(number), "LOCAL_RANK": str(number)}
    os.environ.pop("GRADSAN_RANK_OWNER", None)
    torch.set_num_threads(1)
    code = Path(file).read_text(encoding="utf-8")
    os.environ["OUT"] = os.path.join(folder, "weights-")
    if mode == "bare":
        exec(compile(code, file, "exec"), types.ModuleType("__main__").__dict__)
        return
    writer = open_trace(folder, script=file, mode=mode, run="test")
    session = Session(Recorder([writer]), mode)
    with session:
        try:
            exec(compile(code, file, "exec"), types.ModuleType("__main__").__dict__)
        except Exception as error:
            session.explain(error)


def run(name: str, code: str, mode: str = "deep", world: int = WORLD) -> dict[str, object]:
    """`bare`: without gradsan. A program may leave what its weights are in the file that OUT and its rank name."""
    folder = tempfile.mkdtemp(dir=sys.argv[1])
    file = Path(folder, "example.py")
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    os.environ |= {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port()}
    children = []
    for number in range(world):
        if not (pid := os.fork()):
            try:
                rank(folder, str(file), number, mode)
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    weights = {path.name: path.read_text() for path in Path(folder).glob("weights-*")}
    if mode == "bare":
        return {"weights": weights}
    return judge(Path(folder), list(catalogue().values())).as_dict() | {"weights": weights}


if __name__ == "__main__":
    reports = [run(**asked) for asked in json.load(sys.stdin)]
    json.dump(reports, sys.stdout)
