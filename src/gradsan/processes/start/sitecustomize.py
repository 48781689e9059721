"""Python runs this file first in every process that a watched script starts: the folder is on PYTHONPATH.

It waits for torch and does nothing else: no import beyond what Python itself has loaded, so that a worker which never
imports torch pays nothing. Then it makes room for the user's own `sitecustomize`, as if ours had not been there.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = __file__.rpartition("/")[0] or "."


class _Arrival:
    """Waits for torch. Asking whether it can be imported is not importing it."""

    @staticmethod
    def find_spec(name: str, path: "Any" = None, target: "Any" = None) -> "Any":
        if name != "torch":
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Arrival else finder.find_spec(name, path, target)
            if spec is not None:
                _follow(spec.loader)
                return spec
        return None


def _follow(loader: "Any") -> None:
    original = loader.exec_module

    def exec_module(module: "Any") -> None:
        loader.exec_module = original
        original(module)
        if _Arrival in sys.meta_path:
            sys.meta_path.remove(_Arrival)
            _begin()

    loader.exec_module = exec_module


def _begin() -> None:
    try:
        from gradsan.processes.child import begin

        begin()
    except Exception:  # the script goes on as if there were no gradsan
        return


def _is_this_python() -> bool:
    """Another Python has other packages: whoever runs it is left alone."""
    import os

    return os.environ.get("GRADSAN_PYTHON") == sys.prefix


def _make_room() -> None:
    """Nothing but the folder that ours was found in is taken off the path; then the user's own file has its turn."""
    sys.path[:] = [folder for folder in sys.path if folder.rstrip("/") != _HERE]
    del sys.modules["sitecustomize"]
    sys.path_importer_cache.pop(_HERE, None)
    # Another one; where there is none, `site` takes the error for that.
    import sitecustomize  # type: ignore[import-not-found]  # noqa: F401


if _is_this_python():
    sys.meta_path.insert(0, _Arrival)
_make_room()
