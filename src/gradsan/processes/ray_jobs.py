"""Ray makes the environment of its workers by itself: they are reached by the worker hook of the runtime environment.

`ray.init` calls the function that the variable below names with the runtime environment that the script gave. What it
returns has our hook in the place of the script's own, which ours calls; Ray takes it to every worker of the job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping
from importlib import import_module
from typing import Any

from gradsan.observe.import_hook import ImportHook
from gradsan.observe.last_resort import attempt
from gradsan.processes import child
from gradsan.processes.orders import FOLLOW, given, read, wait_no_longer

ASKED, THEIRS = "RAY_RUNTIME_ENV_HOOK", "GRADSAN_RAY_RUNTIME_ENV_HOOK"  # the latter: what the user had there
HOOK = "worker_process_setup_hook"
TAKEN = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR"  # a hook that a job supervisor has sent already


def prepare(environment: MutableMapping[str, str]) -> None:
    """For the case that the script uses Ray; it costs nothing where it does not."""
    ours = f"{__name__}.{with_hook.__name__}"
    before = environment.get(ASKED, "")
    if before != ours:
        environment[THEIRS] = before
        environment[ASKED] = ours


def take_back(environment: MutableMapping[str, str]) -> None:
    before = environment.pop(THEIRS, None)
    if before is None:
        return
    environment.pop(ASKED, None)
    if before:
        environment[ASKED] = before


def with_hook(runtime_env: Any) -> Any:
    """Called by `ray.init`."""
    theirs = os.environ.get(THEIRS)
    if theirs:
        runtime_env = _load(theirs)(runtime_env)
    return attempt("ray", _with_ours, runtime_env) or runtime_env


def _with_ours(runtime_env: Any) -> Any:
    orders = os.environ.get(FOLLOW)
    env = {} if runtime_env is None else runtime_env
    if orders is None or TAKEN in (env.get("env_vars") or {}):
        return env
    env = env.copy()
    env[HOOK] = hook_for(orders, env.get(HOOK))
    return env


def hook_for(orders: str, own: Any) -> Callable[[], None]:
    """Refers to nothing of this module: Ray pickles it whole, so that a worker without gradsan runs the script's own
    hook all the same."""

    def follow_worker() -> None:
        try:
            from gradsan.processes.ray_jobs import begin

            begin(orders)
        except Exception:
            pass  # the worker goes on as if there were no gradsan
        hook = own
        if isinstance(own, str):
            from importlib import import_module

            module, _, name = own.rpartition(".")
            hook = getattr(import_module(module), name)
        if hook is not None:
            hook()

    return follow_worker


def begin(text: str) -> None:
    """In a worker, before its first task."""
    orders = read(text)
    if orders is None:
        return
    orders.give(os.environ)
    if given(os.environ) is not None:
        wait_no_longer()
        ImportHook("torch", lambda: child.begin(orders.script), "ray").start()


def is_running() -> bool:
    """Whether this process has a Ray of its own, or is connected to one."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _load(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
