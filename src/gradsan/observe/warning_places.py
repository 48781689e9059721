"""Warnings that PyTorch raises name the line that they would name without us.

A warning is about the frame that called; where one of ours has come in between, it would be about gradsan, and
said once for all the user's lines together. So what names a file of ours is raised again, for the frame below.
"""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

from gradsan.observe.last_resort import attempt
from gradsan.observe.patches import Patches
from gradsan.runner.tracebacks import REDISPATCH, is_own


def install(patches: Patches) -> None:
    def show(message: Any) -> None:
        frame = attempt("warnings", _real_place, message, sys._getframe(1))
        if frame is None:
            original(message)
            return
        space = frame.f_globals
        warnings.warn_explicit(
            message.message, message.category, frame.f_code.co_filename, frame.f_lineno,
            str(space.get("__name__", "<string>")), space.setdefault("__warningregistry__", {}),
            source=message.source,
        )  # fmt: skip

    # What every warning passes that a filter lets through, from Python and from C++.
    original = patches.set(warnings, "_showwarnmsg", show)


def _real_place(message: Any, frame: FrameType) -> FrameType | None:
    """The frame that a warning under our name is about."""
    if not is_own(message.filename) or (below := _called_from(frame)) is None:
        return None
    # Raised once already, under our name: that must not count as having been said.
    warnings.onceregistry.pop((str(message.message), message.category), None)  # type: ignore[attr-defined]
    return below


def _called_from(frame: FrameType | None) -> FrameType | None:
    """The frame below ours, had PyTorch not gone through us: a function mode is called from two frames of
    PyTorch's own, and then the function once more."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    while frame is not None and is_own(frame.f_code.co_filename):
        frame.f_globals.pop("__warningregistry__", None)
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename.endswith(REDISPATCH):
        frame = frame.f_back
        frame = frame.f_back if frame is not None else None
    return frame
