"""No test may leave a hook, a patch or a mode behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

# Before anybody imports torch: the workers of `pytest -n 2` would have two threads each on two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

MODULE_HOOKS = (
    "_global_forward_pre_hooks",
    "_global_forward_hooks",
    "_global_backward_pre_hooks",
    "_global_backward_hooks",
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A shell starts background jobs with SIGINT ignored, and whatever the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _namespaces() -> list[Any]:
    """Every place in PyTorch where gradsan could put something of its own."""
    import torch
    import torch.distributions
    import torch.nn.utils.clip_grad
    from torch.optim import optimizer

    optimizers = [torch.optim.Optimizer, torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop]
    tensors = [
        torch.Tensor,
        torch._C.TensorBase,
        torch.nn.Parameter,
        torch.nn.Module,
        torch.autograd.Function,
    ]
    modes = [torch.no_grad, torch.enable_grad, torch.inference_mode, torch.set_grad_enabled]
    modules = [torch, torch.autograd, torch.autograd.graph, torch.nn.utils, torch.nn.utils.clip_grad]
    modules += [torch.nn.functional, torch.optim, optimizer, torch.distributions]
    return [*modules, *tensors, *optimizers, *modes, torch.distributions.Distribution]


def _attributes() -> dict[tuple[str, str], int]:
    """Modules are left out: PyTorch imports some of its own late."""
    return {
        (space.__name__, name): id(value)
        for space in _namespaces()
        for name, value in list(vars(space).items())
        if not isinstance(value, ModuleType) and not name.startswith(("__warning", "_abc", "__abstract"))
    }


def _is_ours(hook: Any) -> bool:
    """Others leave import hooks behind on purpose, as absl does from 2.5 on."""
    kind = hook if isinstance(hook, type) else type(hook)
    return kind.__module__.split(".")[0] == "gradsan"


def _state() -> dict[str, Any]:
    import torch
    from torch.nn.modules import module
    from torch.optim import optimizer

    # There is no way to ask PyTorch 2.6 for them.
    saved_tensor_hooks = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", lambda ignore: None)
    return {
        "step hooks before": dict(optimizer._global_optimizer_pre_hooks),
        "step hooks after": dict(optimizer._global_optimizer_post_hooks),
        "module hooks": [len(getattr(module, table)) for table in MODULE_HOOKS],
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "saved-tensor hooks": saved_tensor_hooks(True),
        "anomaly mode": torch.is_anomaly_enabled(),
        "grad mode": torch.is_grad_enabled(),
        "signal handlers": [signal.getsignal(s) for s in SIGNALS],
        "exception hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook),
        "import hooks": [hook for hook in sys.meta_path if _is_ours(hook)],
        "main module": sys.modules["__main__"],
        "warnings": warnings.showwarning,
        "recursion limit": (sys.getrecursionlimit(), sys.getrecursionlimit, sys.setrecursionlimit),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "start of threads": threading.Thread.__dict__["_bootstrap_inner"],
        "threads": {t for t in threading.enumerate() if not t.daemon},
    }


@pytest.fixture(scope="session")
def settled_torch() -> None:
    """PyTorch wraps some functions of its own the first time an optimizer is made and stepped."""
    import torch

    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop):
        weight = torch.zeros(1, requires_grad=True)
        optimizer = kind([weight], lr=0.1)
        weight.sum().backward()
        optimizer.step()


@pytest.fixture(autouse=True)
def nothing_is_left_behind(settled_torch: None) -> Iterator[None]:
    attributes, state = _attributes(), _state()
    yield
    after = _attributes()
    patched = {key for key, value in attributes.items() if after.get(key) != value}
    assert not patched, f"still patched: {sorted(patched)}"
    assert _state() == state


@pytest.fixture(autouse=True)
def paths_from_here() -> Iterator[None]:
    """A watch pins the folder that paths are shown from: for its own test, not for the next one."""
    yield
    from gradsan.judge.lines import source

    source._base.clear()
