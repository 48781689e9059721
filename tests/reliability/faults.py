"""Where a fault can be put into gradsan's own code, and how."""

from __future__ import annotations

import builtins
import gc
import sys
import types
from collections.abc import Callable
from typing import Any

ROOMS = (
    "observe", "record", "judge", "rules", "picture", "render", "follow", "runner", "cli", "fix", "processes", "api",
)  # fmt: skip
MARK = "a fault on purpose"

# The frame that everything else is contained by, each with the reason why a fault of its own has nowhere to go.
OUTERMOST = {
    "observe.operations.OperationTap.__torch_function__": "PyTorch calls it in place of the script's operation",
    "observe.last_resort.attempt": "the containment itself: a call inside a try",
    "observe.last_resort.note": "where the containment puts what it caught",
    "observe.last_resort.own": "the same, for a caller that catches by itself",
    "cli.run.command": "it decides between running the script and running it bare",
    "runner.bare.run_bare": "what is left when everything else has failed",
    "runner.bare.say": "the same",
    "runner.bare.fault_of": "the same",
    "render.fresh_line.FreshLine._follow": "it stands where the stream's own `write` stood, for the script as well",
    "api.watch.watch": "it decides between a watch and none",
    "api.watch_context.WatchContext.__enter__": "the same",
    "api.watch_context.WatchContext.__exit__": "the same",
    "api.watch_context.Unwatched.__init__": "what is left when there is none",
    "api.watch_context.own_fault": "the same",
    "api.watch_context._of_nothing": "the same",
    "api.report.WatchReport.__init__": "the report itself: four attributes",
}
# Before there is a script to be run at all: what is typed is taken apart.
COMMAND_LINE = ("cli.LazyGroup.", "cli.main", "cli.run.ProgramCommand")


def places() -> dict[str, types.FunctionType]:
    """Every function of ours that was imported, by its name."""
    found: dict[str, types.FunctionType] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType:
            name = name_of(thing.__code__, thing.__module__)
            if name and "<locals>" not in name and thing.__code__.co_filename == _file_of(thing.__module__):
                found.setdefault(name, thing)
    return {
        name: f for name, f in found.items() if name not in OUTERMOST and not name.startswith(COMMAND_LINE)
    }


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


def name_of(code: types.CodeType, module: str | None) -> str:
    """`observe.session.Session._send`; nothing for code that is not ours."""
    parts = (module or "").split(".")
    if parts[0] != "gradsan" or len(parts) < 2 or parts[1] not in ROOMS:
        return ""
    return ".".join([*parts[1:], code.co_qualname])


def called_in(run: Callable[[], Any], known: dict[str, types.FunctionType]) -> dict[str, int]:
    """How often each of these was called."""
    names = {id(function.__code__): name for name, function in known.items()}
    counts: dict[str, int] = {}

    def profile(frame: types.FrameType, event: str, _: object) -> None:
        if event == "call" and (name := names.get(id(frame.f_code))) is not None:
            counts[name] = counts.get(name, 0) + 1

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts


# -- putting a fault in ---------------------------------------------------------------------------------------


def inject(
    function: types.FunctionType,
    breaks: Callable[[int], bool],
    error: type[Exception],
    happened: Callable[[], object],
) -> None:
    """Change the function's code, so that whoever holds it, by whatever name, meets the fault."""
    original = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    original.__kwdefaults__ = function.__kwdefaults__
    calls = 0

    def meet(args: Any, kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if breaks(calls):
            happened()
            raise error(MARK)
        return original(*args, **kwargs)

    vars(builtins)["__meet_fault__"] = meet
    free = function.__code__.co_freevars
    lines = [f"    {name}" for name in free] + ["    return __meet_fault__(args, kwargs)"]
    source = "def stub(*args, **kwargs):\n" + "\n".join(lines)
    if free:
        inner = "\n".join("    " + line for line in source.splitlines())
        source = f"def outer({', '.join(free)}):\n{inner}\n    return stub"
    space: dict[str, Any] = {}
    exec(source, space)
    stub = space["outer"](*[None] * len(free)) if free else space["stub"]
    old = function.__code__
    function.__code__ = stub.__code__.replace(
        co_filename=old.co_filename, co_name=old.co_name, co_qualname=old.co_qualname
    )


def breaks(when: str, calls: int) -> Callable[[int], bool]:
    chosen = {"first": 1, "later": max(1, calls // 2)}.get(when)
    return (lambda call: True) if chosen is None else (lambda call: call == chosen)
