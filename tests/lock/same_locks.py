"""Bugs whose lock is the same as their twin's, each with the reason; and programs whose lock is not always the same."""

from __future__ import annotations

SAME: dict[str, str] = {}
UNSTABLE: dict[str, str] = {}
