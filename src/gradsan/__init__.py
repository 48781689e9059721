"""gradsan: the gradient sanitizer for PyTorch reinforcement learning.

    with gradsan.watch() as report: train()
    gradsan.check(loss, reaches=policy, avoids=[critic, target])
    obs = gradsan.freeze(obs)
    with gradsan.guard("raise"): ...
    finding = gradsan.explain(error)

Nothing here imports torch before it is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gradsan.api.check import check as check
    from gradsan.api.errors import FrozenTensorError as FrozenTensorError
    from gradsan.api.errors import GradientContractError as GradientContractError
    from gradsan.api.errors import GradientError as GradientError
    from gradsan.api.errors import GuardError as GuardError
    from gradsan.api.explain import explain as explain
    from gradsan.api.freeze import freeze as freeze
    from gradsan.api.freeze import thawed as thawed
    from gradsan.api.guard import guard as guard
    from gradsan.api.report import WatchReport as WatchReport
    from gradsan.api.watch import watch as watch
    from gradsan.integrations.notebook import load_ipython_extension as load_ipython_extension
    from gradsan.judge.report.findings import Finding as Finding

_HOME = {
    "watch": "gradsan.api.watch",
    "WatchReport": "gradsan.api.report",
    "check": "gradsan.api.check",
    "freeze": "gradsan.api.freeze",
    "thawed": "gradsan.api.freeze",
    "guard": "gradsan.api.guard",
    "explain": "gradsan.api.explain",
    "GradientError": "gradsan.api.errors",
    "GradientContractError": "gradsan.api.errors",
    "FrozenTensorError": "gradsan.api.errors",
    "GuardError": "gradsan.api.errors",
    "Finding": "gradsan.judge.report.findings",
    "load_ipython_extension": "gradsan.integrations.notebook",  # for `%load_ext gradsan`
}
__all__ = [
    "Finding",
    "FrozenTensorError",
    "GradientContractError",
    "GradientError",
    "GuardError",
    "WatchReport",
    "__version__",
    "check",
    "explain",
    "freeze",
    "guard",
    "thawed",
    "watch",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'gradsan' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return __all__
