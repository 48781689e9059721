"""Training meets the sanitizer in one place: opened with the mode asked for, findings handed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import gradsan
from gradsan.rl.sanitize import sanitized

FINDING = SimpleNamespace(rule="GS301", name="target-carries-gradient", message="it leaks", severity="error")


def test_the_session_is_opened_with_the_mode_and_its_findings_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []

    @contextmanager
    def watch(mode: str) -> Iterator[Any]:
        opened.append(mode)
        report = SimpleNamespace(findings=[])
        yield report
        report.findings.append(FINDING)  # some are known only at the end

    monkeypatch.setattr(gradsan, "watch", watch, raising=False)
    said: list[str] = []
    with sanitized("deep", said.append) as findings:
        assert findings == []
    assert (opened, findings) == (["deep"], [FINDING])
    assert said == ["GS301 target-carries-gradient: it leaks"]


def test_off_opens_nothing_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradsan, "watch", None, raising=False)
    said: list[str] = []
    with sanitized("off", said.append) as findings:
        pass
    assert (said, findings) == ([], [])


def test_a_missing_sanitizer_is_said_once_and_never_looks_like_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradsan, "watch", None, raising=False)
    said: list[str] = []
    with sanitized("adaptive", said.append):
        pass
    assert len(said) == 1
    assert "not watched" in said[0]


def test_an_exception_of_the_training_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def watch(mode: str) -> Iterator[Any]:
        yield SimpleNamespace(findings=[])

    monkeypatch.setattr(gradsan, "watch", watch, raising=False)
    with pytest.raises(ZeroDivisionError), sanitized("adaptive", print):
        raise ZeroDivisionError
