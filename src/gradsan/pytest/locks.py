"""`--gradsan-locked` and `--gradsan-write-lock`: one entry of the lock file for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gradsan.pytest.defaults import defaults_of

if TYPE_CHECKING:
    from gradsan.api.report import WatchReport
    from gradsan.judge.engine import Engine
    from gradsan.lock.file import LockFile
    from gradsan.lock.sink import LockSink

FILE: pytest.StashKey[LockFile] = pytest.StashKey()
SINK: pytest.StashKey[LockSink] = pytest.StashKey()


def wanted(config: pytest.Config) -> tuple[bool, bool]:
    """Whether tests are compared with the lock, and whether it is written."""
    return (
        config.getoption("--gradsan-locked") or config.getini("gradsan_locked"),
        config.getoption("--gradsan-write-lock"),
    )


def lock_of(config: pytest.Config) -> LockFile:
    if FILE not in config.stash:
        from gradsan.lock.file import NAME, LockFile
        from gradsan.lock.text import LockError

        given = defaults_of(config).lock
        path = Path(given) if given else config.rootpath / NAME
        try:
            config.stash[FILE] = LockFile(path)
        except LockError as error:
            raise pytest.UsageError(str(error)) from None
        compares, writes = wanted(config)
        if compares and not writes and not config.stash[FILE].exists:
            raise pytest.UsageError(f"there is no {path}; write it with --gradsan-write-lock")
    return config.stash[FILE]


def follower(item: pytest.Item) -> Callable[[Engine], LockSink] | None:
    """Makes the sink that follows this test, if one is wanted. A test that is not in the file has nothing to lose: all
    that it trains is new."""
    config = item.config
    compares, writes = wanted(config)
    if not compares and not writes:
        return None
    from gradsan.lock.file import test_entry
    from gradsan.lock.model import Flow

    file = lock_of(config)
    locked = None if writes else file.entries.get(test_entry(item.nodeid), Flow())

    def begin(engine: Engine) -> LockSink:
        item.stash[SINK] = file.sink(engine, locked)
        return item.stash[SINK]

    return begin


def failure(item: pytest.Item, report: WatchReport) -> str:
    """Why nothing is known of the flow of this test, where it was to be compared or written down."""
    from gradsan.lock.sink import is_spoiled

    if item.stash.get(SINK, None) is None or not is_spoiled(report.faults):
        return ""
    return f"gradsan itself has failed, so the flow of this test is not known\n\n{report.text()}"


def entry(item: pytest.Item) -> list[str]:
    """What is to be written of this test, as text, so that it can be sent; nothing where it trains nothing."""
    sink = item.stash.get(SINK, None)
    if (
        sink is None
        or not item.config.getoption("--gradsan-write-lock")
        or not sink.flow.losses
        or not sink.whole
    ):
        return []
    from gradsan.lock.file import test_entry
    from gradsan.lock.text import written

    return [written({test_entry(item.nodeid): sink.flow})]


def write(config: pytest.Config, texts: list[str]) -> str:
    """Entries of tests that did not run stay."""
    from gradsan.lock.text import parsed, written
    from gradsan.render.output import OutputError, OutputFile

    file = lock_of(config)
    new = {name: flow for text in texts for name, flow in parsed(text).items()}
    try:
        OutputFile(file.shown).write(written({**file.entries, **new}))
    except OutputError as error:
        raise pytest.UsageError(str(error)) from None
    return f"the flow of {len(new)} {'test is' if len(new) == 1 else 'tests is'} written to {file.shown}"
