"""One check, from the learner's text to a verdict. Runs in the checking process, beside torch."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from gradsan.learn import checks, sanitize, words
from gradsan.learn.attempt import Attempt, Wrong
from gradsan.learn.catalogue import Exercise
from gradsan.learn.source import objections
from gradsan.learn.verdict import Grade, Note

PRINTED = 2000  # characters of the learner's own output worth showing


def judge(exercise: Exercise, path: Path) -> Grade:
    """Read, run, compare, sanitize. What the file prints is kept and shown with the verdict."""
    printed = io.StringIO()
    with _fresh_torch(), _own_streams(printed):
        problems, notes = _problems(exercise, path)
    return Grade(tuple(problems), tuple(notes), printed.getvalue()[-PRINTED:])


def _problems(exercise: Exercise, path: Path) -> tuple[list[str], list[Note]]:
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return [f"{path.name} is not in {path.parent}. Start `gradsan learn` again to get a fresh copy."], []
    except (OSError, UnicodeDecodeError) as error:
        return [f"{path.name} cannot be read: {error}."], []
    if refused := objections(source):
        return refused, []
    attempt = None
    problems: list[str] = []
    with _collect(problems, path):
        attempt = Attempt(path, source)
    if attempt is None:
        return problems, []
    with _collect(problems, path):
        checks.VALUES[exercise.name](attempt)
    notes = _watch(exercise, attempt, problems)
    return problems, notes


def _watch(exercise: Exercise, attempt: Attempt, problems: list[str]) -> list[Note]:
    torch.manual_seed(0)
    try:
        drive = checks.DRIVES[exercise.name]
        notes, raised = sanitize.watched(lambda: drive(attempt), attempt.path, exercise.rules)
    except sanitize.CannotWatch as error:
        problems.append(f"gradsan could not watch this exercise, so it cannot be called right: {error}.")
        return []
    if raised and not problems:  # otherwise the value check has already met the same trouble
        with _collect(problems, attempt.path):
            raise raised
    return notes


@contextlib.contextmanager
def _collect(problems: list[str], path: Path) -> Iterator[None]:
    """Whatever the learner's code does, short of killing the process, becomes a sentence."""
    try:
        yield
    except Wrong as wrong:
        problems.append(str(wrong))
    except (Exception, SystemExit) as error:
        problems.append(words.exception(error, path))


@contextlib.contextmanager
def _own_streams(printed: io.StringIO) -> Iterator[None]:
    stdin, sys.stdin = sys.stdin, io.StringIO()  # `input()` must not read the next request
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            yield
    finally:
        sys.stdin = stdin


@contextlib.contextmanager
def _fresh_torch() -> Iterator[None]:
    """Double precision, so that finite differences mean something, and nothing left from the last check."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the tensors are tiny: more threads only wait for each other
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(True)
    torch.seed()  # fresh inputs each time: an answer tuned to one set of numbers does not last
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
