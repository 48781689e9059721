"""gradsan.integrations.transformers under transformers itself: `make llm-callback`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch
from planted import Padded
from program import settings
from tiny import make
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments
from transformers.utils import logging as their_logging

from gradsan.integrations.transformers import GradsanCallback


class Detached(Trainer):
    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
        out = model(**inputs)
        return out.loss.detach() + 1e-3 * out.logits.logsumexp(-1).pow(2).mean()  # wrong


class Raising(Trainer):
    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **_: Any) -> Any:
        return model(**inputs).loss.detach()  # wrong


def wrong_line(kind: type) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"class {kind.__name__}("))
    return next(n for n in range(begin, len(lines)) if lines[n].endswith("# wrong")) + 1


def trainer(kind: type[Trainer], folder: Path, callbacks: list[Any]) -> Trainer:
    path = make(folder / "model")
    options = {**settings(["steps=12"], folder), "remove_unused_columns": False, "logging_steps": 4}
    data = Padded(AutoTokenizer.from_pretrained(path))
    model = AutoModelForCausalLM.from_pretrained(path)
    args = TrainingArguments(**options)
    return kind(model, args, train_dataset=data, data_collator=Padded.collate, callbacks=callbacks)


def weights(made: Trainer) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in made.model.parameters()])


def test_a_finding_is_logged_when_it_is_made_and_counted_in_the_trainers_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    their_logging.enable_propagation()
    with caplog.at_level(logging.WARNING), GradsanCallback() as callback:
        made = trainer(Detached, tmp_path, [callback])
        made.train()
    assert [(f.rule, f.culprit and f.culprit.line) for f in callback.report.findings] == [
        ("GS202", wrong_line(Detached))
    ]
    assert any("GS202" in record.getMessage() for record in caplog.records)
    last = [entry for entry in made.state.log_history if "gradsan/errors" in entry][-1]
    assert (last["gradsan/errors"], last["gradsan/warnings"], last["gradsan/watched"]) == (1, 0, 1)


def test_raise_on_stops_the_run(tmp_path: Path) -> None:
    callback = GradsanCallback(raise_on="error", quiet=True)
    made = trainer(Detached, tmp_path, [callback])
    with pytest.raises(Exception, match="GS202"), callback:
        made.train()
    assert made.state.global_step < 12


def test_an_error_that_pytorch_raises_inside_train_is_explained(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="does not require grad"), GradsanCallback(quiet=True) as callback:
        trainer(Raising, tmp_path, [callback]).train()
    assert [(f.rule, f.culprit and f.culprit.line) for f in callback.report.findings] == [
        ("GS201", wrong_line(Raising))
    ]


def test_a_right_run_has_no_finding_and_the_same_weights(tmp_path: Path) -> None:
    bare = trainer(Trainer, tmp_path / "bare", [])
    bare.train()
    with GradsanCallback() as callback:
        seen = trainer(Trainer, tmp_path / "watched", [callback])
        seen.train()
    assert callback.report.watched
    assert not callback.report.findings
    assert torch.equal(weights(bare), weights(seen))
