"""Small training loops for the API tests; the line with the bug is marked, and found by its mark."""

from __future__ import annotations

import inspect
import linecache

import torch


def net() -> torch.nn.Linear:
    return torch.nn.Linear(3, 1)


def stale(steps: int = 4) -> None:
    model = net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = (model(torch.ones(8, 3)) - 1.0).pow(2).mean()
        loss.backward()
        opt.step()  # BUG


def clean(steps: int = 4) -> None:
    model = net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = (model(torch.ones(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def mutated() -> None:
    h = torch.sigmoid(net()(torch.ones(8, 3)))
    h += 1.0  # BUG
    h.mean().backward()


def bug_line(function: object) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if "# BUG" in line)


def raised_line(error: BaseException, file: str = __file__) -> int:
    """The innermost line of this file, or of `file`, that the error passed through."""
    found, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def code_at(error: BaseException, file: str) -> str:
    return linecache.getline(file, raised_line(error, file)).strip()
