"""Behind the line that raised: the user's code that an autograd error is about, where no traceback shows it."""

from __future__ import annotations

import difflib
import dis
import functools
import inspect
import re
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

import torch

from gradsan.observe.graphs.graph import walk
from gradsan.observe.ops.switches import GradientSwitches
from gradsan.observe.sites import Sites, variables_of
from gradsan.record.events import NOWHERE, Site

Line = tuple[FrameType, int]
NEARLY = 0.8  # `backwards`, `_backward`, `bakward`; `forward` is half of it
NAMED = re.compile(r"function '?(\w+)Backward\b", re.IGNORECASE)


class ErrorOrigins:
    def __init__(self, sites: Sites, switches: GradientSwitches) -> None:
        self._sites = sites
        self._switches = switches

    def find(self, error: BaseException, kind: str) -> Site:
        if kind == "inference-tensor":
            return self._switches.only_inference()
        if kind.startswith("function-gradient"):
            return self._site(_result_line, _backwards(error))
        if kind == "function-without-backward":
            return self._site(_first_line, _meant_as_backward(error))
        if kind == "checkpoint-unpacked-twice":
            return self.inside_backward(error)
        if kind.startswith("checkpoint-"):
            return self._site(_first_line, [code_of(f) for f in _checkpointed(error)])
        return NOWHERE

    def raised(self, error: BaseException) -> Site:
        """The user's line that raised; for what went wrong inside a backward, the line that called it."""
        return self._last(split_at_backward(error)[0])

    def inside_backward(self, error: BaseException) -> Site:
        return self._last(split_at_backward(error)[1])

    def _last(self, frames: list[Line]) -> Site:
        users = [(frame.f_code, line) for frame, line in frames if self._sites.is_user(frame.f_code)]
        return (
            self._sites.at(users[-1][0].co_filename, users[-1][1], users[-1][0].co_name) if users else NOWHERE
        )

    def _site(self, line_in: Any, codes: list[CodeType | None]) -> Site:
        """Of the one that is the user's; where there are several, nobody can tell which."""
        users = {code for code in codes if code is not None and self._sites.is_user(code)}
        if len(users) != 1:
            return NOWHERE
        code = users.pop()
        return self._sites.at(code.co_filename, line_in(code), code.co_name)


def frames_of(error: BaseException) -> Iterator[Line]:
    """The frames that the error came through, outermost first, each with its line."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def code_of(function: Any) -> CodeType | None:
    """Of a function, a method, a partial or a module."""
    if isinstance(function, functools.partial):
        return code_of(function.func)
    if isinstance(function, torch.nn.Module):
        function = type(function).forward
    return getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None


def split_at_backward(error: BaseException) -> tuple[list[Line], list[Line]]:
    """The frames down to the call of backward, and those that backward called."""
    frames = list(frames_of(error))
    for index, (frame, _) in enumerate(frames):
        if frame.f_code.co_filename == torch.autograd.__file__ and frame.f_code.co_name in (
            "backward",
            "grad",
        ):
            return frames[: index + 1], frames[index + 1 :]
    return frames, []


def _functions(error: BaseException) -> set[Any]:
    """The custom functions in the graph that backward was called on."""
    called = split_at_backward(error)[0][-1][0]
    if called.f_code.co_filename != torch.autograd.__file__:
        return set()
    known = variables_of(called)
    roots = known.get("tensors", known.get("outputs", ()))
    nodes = walk(tuple(t for t in roots if isinstance(t, torch.Tensor))).nodes
    return {f for node in nodes if (f := getattr(node, "_forward_cls", None)) is not None}


def _backwards(error: BaseException) -> list[CodeType | None]:
    """The backward of each custom function in the graph that the message may be about."""
    named = NAMED.search(str(error))
    return [code_of(f.backward) for f in _functions(error) if not named or f.__name__ == named[1]]


def _meant_as_backward(error: BaseException) -> list[CodeType | None]:
    """Of each custom function that has none, the method whose name is nearly that; else its forward."""
    base = torch.autograd.Function
    lacking = [f for f in _functions(error) if f.backward is base.backward and f.vjp is base.vjp]
    return [code_of(getattr(f, _nearly("backward", f) or "forward")) for f in lacking]


def _nearly(name: str, owner: type) -> str:
    own = {key.lower(): key for base in owner.__mro__ for key in vars(base) if not key.startswith("__")}
    near = difflib.get_close_matches(name, own.keys() - {name}, n=1, cutoff=NEARLY)
    return own[near[0]] if near else ""


def _checkpointed(error: BaseException) -> Iterator[Any]:
    """What `torch.utils.checkpoint` has run again: it stands in the frames that the error came through."""
    for frame, _ in frames_of(error):
        known = variables_of(frame)
        again: Any = getattr(known.get("frame"), "recompute_fn", None)
        if (code := getattr(again, "__code__", None)) is not None:
            inside = dict(zip(code.co_freevars, again.__closure__ or (), strict=True))
            yield inside["fn"].cell_contents if "fn" in inside else None
        if frame.f_code.co_filename == torch.utils.checkpoint.__file__ and frame.f_code.co_name == "backward":
            yield getattr(known.get("ctx"), "run_function", None)


def _first_line(code: CodeType) -> int:
    return code.co_firstlineno


def _result_line(code: CodeType) -> int:
    """The one `return`, which is to be changed; where there are several, the function's first line."""
    lines = {
        i.positions.lineno for i in dis.get_instructions(code) if i.opname == "RETURN_VALUE" and i.positions
    }
    line = lines.pop() if len(lines) == 1 else None
    return line or code.co_firstlineno
