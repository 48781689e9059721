"""Stable-Baselines3: a callback that watches `learn`."""

from __future__ import annotations

from typing import Unpack

from stable_baselines3.common.callbacks import BaseCallback

from gradsan.api.showing import show_findings
from gradsan.api.watch import Mode, WatchOptions, words
from gradsan.integrations.watched_callback import WatchedCallback
from gradsan.runner.packages import is_installed

# The update is the library's own code: without its lines, every finding would point at `model.learn(…)`.
PACKAGES = ("stable_baselines3", "sb3_contrib")


class GradsanCallback(WatchedCallback, BaseCallback):
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
        options["include"] = (*filter(is_installed, PACKAGES), *words(options.get("include", ())))
        self.prepare(mode, options)

    def _on_training_start(self) -> None:
        self.begin()

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
