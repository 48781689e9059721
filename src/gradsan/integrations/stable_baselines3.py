"""Stable-Baselines3: a callback that watches `learn`."""

from __future__ import annotations

from typing import Any, Unpack

from stable_baselines3.common.callbacks import BaseCallback

from gradsan.api.report import WatchReport
from gradsan.api.showing import show_findings
from gradsan.api.watch import Mode, WatchOptions, watch, words
from gradsan.api.watch_context import WatchContext
from gradsan.runner.packages import is_installed

# The update is the library's own code: without its lines, every finding would point at `model.learn(…)`.
PACKAGES = ("stable_baselines3", "sb3_contrib")


class GradsanCallback(BaseCallback):
    """Watches from the beginning of `learn` to its end.

        with GradsanCallback() as callback:
            model.learn(100_000, callback=callback)
        callback.report.findings

    The `with` is for the case that `learn` raises, of which a callback is not told: the watch is closed and
    the error explained. Findings are logged as `gradsan/errors`, `gradsan/warnings` and `gradsan/infos`;
    `gradsan/watched` is 0, and stderr says why, where nothing could be watched.
    """

    def __init__(
        self, mode: Mode | None = None, *, verbose: int = 0, **options: Unpack[WatchOptions]
    ) -> None:
        super().__init__(verbose)
        self._open = False
        options["include"] = (*filter(is_installed, PACKAGES), *words(options.get("include", ())))
        self._watching: WatchContext = watch(mode, **options)
        self._watching.speaks = False

    @property
    def report(self) -> WatchReport:
        return self._watching.report

    def _on_training_start(self) -> None:
        self.close()  # an earlier `learn` raised, and nobody told us
        self._watching.__enter__()
        self._open = True

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        found = self.report.findings
        for severity in ("error", "warning", "info"):
            self.logger.record(f"gradsan/{severity}s", sum(f.severity == severity for f in found))
        self.logger.record("gradsan/watched", int(self.report.watched))

    def _on_training_end(self) -> None:
        self.close()
        if self.verbose or not self.report.watched:
            show_findings(self._watching)

    def close(self, error: BaseException | None = None) -> None:
        """Ends the watch, if it is open."""
        if self._open:
            self._open = False
            self._watching.__exit__(type(error) if error else None, error, None)

    def __enter__(self) -> GradsanCallback:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.close(error)
