"""Lightning: a callback that watches `Trainer.fit`."""

from __future__ import annotations

from typing import Unpack

from lightning.pytorch import Callback, LightningModule, Trainer

from gradsan.api.showing import show_findings
from gradsan.api.watch import Mode, WatchOptions
from gradsan.integrations.watched_callback import WatchedCallback


class GradsanCallback(WatchedCallback, Callback):
    """Watches `fit` from its first batch to its end, be it an exception.

        callback = GradsanCallback()
        Trainer(callbacks=[callback]).fit(module)
        callback.report.findings

    In automatic optimization Lightning itself calls `backward` and `step`; those sites show as the line that
    called `fit`. Findings are printed to stderr at the end, unless `quiet` or `on_finding` say otherwise; that
    nothing could be watched always is.
    """

    def __init__(
        self, mode: Mode | None = None, *, quiet: bool = False, **options: Unpack[WatchOptions]
    ) -> None:
        self._quiet = quiet or options.get("on_finding") is not None
        self.prepare(mode, options)

    def setup(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Before `configure_optimizers`, so that the optimizers' own lines are known."""
        if stage == "fit":
            self.begin()

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        found = self.report.findings
        pl_module.log_dict(
            {
                "gradsan/watched": float(self.report.watched),
                **{f"gradsan/{s}s": float(sum(f.severity == s for f in found)) for s in ("error", "warning")},
            }
        )

    def on_exception(self, trainer: Trainer, pl_module: LightningModule, exception: BaseException) -> None:
        self._close(exception)

    def teardown(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        self._close(None)

    def _close(self, error: BaseException | None) -> None:
        if not self._open:
            return
        self.close(error)
        if not self._quiet or not self.report.watched:
            show_findings(self._watching)
