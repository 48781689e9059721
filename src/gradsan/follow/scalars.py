"""Norms and losses as TensorBoard scalars."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Iterator
from typing import Any

from gradsan.follow.magnitudes import NAMING, by_network, optimizer_name
from gradsan.judge.history import History
from gradsan.judge.lines.source import shown_path
from gradsan.judge.report.wording import name_of
from gradsan.record.events import Event, Sample

MISSING = "--tensorboard needs the package tensorboard: pip install 'gradsan[tensorboard]'"


class ScalarsError(Exception):
    """Scalars cannot be written. The message is one sentence for the user."""


def folder(directory: str) -> str:
    """Where to write, made and tried before the script runs; absolute, for the script may go elsewhere."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ScalarsError(MISSING)
    path = os.path.abspath(directory)
    try:
        os.makedirs(path, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "it is write-protected")
    except OSError as error:
        raise ScalarsError(f"cannot write to {directory!r}: {error.strerror or error}") from error
    return path


class Scalars:
    """The file is opened with the first sample: by then the script has imported what it wants to import
    first, and an empty run leaves no file."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._history = History()
        self._file: Any = None

    def feed(self, event: Event) -> None:
        if isinstance(event, NAMING):
            self._history.apply(event)
        if not isinstance(event, Sample):
            return
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        if self._file is None:
            self._file = EventFileWriter(self._directory)
        values = [
            summary_pb2.Summary.Value(tag=tag, simple_value=value) for tag, value in self._scalars(event)
        ]
        summary = summary_pb2.Summary(value=values)
        self._file.add_event(event_pb2.Event(wall_time=time.time(), step=event.iteration, summary=summary))
        self._file.flush()  # samples are few, and a killed run keeps them all

    def _scalars(self, sample: Sample) -> Iterator[tuple[str, float]]:
        history = self._history
        for network, norms in by_network(history, sample).items():
            yield f"gradient norm/{network}", norms.gradient
            yield f"weight norm/{network}", norms.weight
            if norms.update >= 0:
                yield f"update norm/{network}", norms.update
                if norms.weight > 0:
                    yield f"update to weight/{network}", norms.update / norms.weight
        for pid, gradient, _, _ in sample.norms:
            yield f"gradient norm by parameter/{name_of(history, pid)}", gradient
        for site, value in sample.losses:
            seen = history.sites.get(site)
            where = f"{shown_path(seen.file).lstrip('/')}:{seen.line}" if seen else "unknown line"
            yield f"loss/{where}", value
        if sample.clipped:
            name = optimizer_name(history, sample.oid, (row[0] for row in sample.norms))
            yield f"clipped/{name}", sample.clipped

    def finish(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
