"""transformers (and with it TRL, PEFT, accelerate): a callback that watches `Trainer.train`."""

from __future__ import annotations

from typing import Any, Unpack

from transformers import TrainerCallback
from transformers.utils import logging

from gradsan.api.showing import show_findings
from gradsan.api.watch import Mode, WatchOptions
from gradsan.integrations.watched_callback import WatchedCallback
from gradsan.judge.report.findings import Finding

logger = logging.get_logger("gradsan")


class GradsanCallback(WatchedCallback, TrainerCallback):
    """Watches from the beginning of `train` to its end.

        with GradsanCallback() as callback:
            Trainer(model, args, train_dataset=data, callbacks=[callback]).train()
        callback.report.findings

    The `with` is for the case that `train` raises, of which a callback is not told: the watch is closed and the error
    explained. A finding is logged by transformers' logger when it is made; their number is logged as
    `gradsan/errors` and `gradsan/warnings` with everything else. `raise_on="error"` stops the run on the line of the
    first error; `include=("trl",)` names lines inside the library.
    """

    def __init__(
        self, mode: Mode | None = None, *, quiet: bool = False, **options: Unpack[WatchOptions]
    ) -> None:
        self._quiet = quiet
        options.setdefault("on_finding", self._log)
        self.prepare(mode, options)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.begin()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if not self._open:
            return
        found = self.report.findings
        counts = {f"gradsan/{s}s": sum(f.severity == s for f in found) for s in ("error", "warning")}
        counts["gradsan/watched"] = int(self.report.watched)
        for entry in (logs, state.log_history[-1] if state.log_history else None):
            if isinstance(entry, dict):
                entry.update(counts)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.close()
        if not self.report.watched:
            show_findings(self._watching)

    def _log(self, finding: Finding) -> None:
        if not self._quiet:
            logger.warning("%s", finding)
