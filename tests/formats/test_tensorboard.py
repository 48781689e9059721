"""`--tensorboard DIR`: the sampled magnitudes as scalars that TensorBoard itself can read."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from gradsan.cli import main
from gradsan.follow.magnitudes import optimizer_name, together
from gradsan.follow.scalars import Scalars
from gradsan.judge.engine import Engine
from gradsan.judge.history import History
from gradsan.record.events import Attention, Event, ParamNamed, ParamSeen, Sample
from gradsan.record.recorder import Recorder
from sandbox import CLEAN, Sandbox

Curves = dict[str, list[tuple[int, float]]]


def read(folder: Path) -> Curves:
    reader = EventAccumulator(str(folder))
    reader.Reload()
    return {tag: [(s.step, s.value) for s in reader.Scalars(tag)] for tag in reader.Tags()["scalars"]}


def test_run_and_report_write_the_same_curves(sandbox: Sandbox) -> None:
    script = sandbox.write(
        "train.py", "import os; os.makedirs('x'); os.chdir('x')\n" + CLEAN + "print('done')\n"
    )
    done = sandbox.gradsan("run", "--tensorboard", "tb/run", "--trace", "trace", script)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    curves = read(sandbox.path / "tb" / "run")
    assert [step for step, _ in curves["gradient norm/net"]] == [0, 1, 2, 3]
    assert [value > 0 for _, value in curves["loss/train.py:9"]] == [True] * 4
    by_parameter = [curves[f"gradient norm by parameter/net.{n}"] for n in ("weight", "bias")]
    for (_, whole), (_, weight), (_, bias) in zip(curves["gradient norm/net"], *by_parameter, strict=True):
        assert whole == pytest.approx(math.hypot(weight, bias), rel=1e-3)  # four digits are recorded
    for (_, gradient), (_, update) in zip(
        curves["gradient norm/net"], curves["update norm/net"], strict=True
    ):
        assert update == pytest.approx(0.1 * gradient, rel=1e-3)  # plain SGD with that learning rate
    assert sandbox.gradsan("report", "trace", "--tensorboard", "tb/report").returncode == 0
    assert read(sandbox.path / "tb" / "report") == curves


def test_without_tensorboard_one_sentence_and_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tensorboard" else find(name)
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace").write_text("an earlier one", encoding="utf-8")
    run = ["run", "--tensorboard", "tb", "--trace", "trace", "-c", "open('ran', 'w')"]
    result = CliRunner().invoke(main, run)
    assert result.exit_code == 2
    assert (
        result.stderr
        == "gradsan: --tensorboard needs the package tensorboard: pip install 'gradsan[tensorboard]'\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]
    assert (tmp_path / "trace").read_text(encoding="utf-8") == "an earlier one"


def test_a_folder_that_cannot_be_written_is_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(main, ["run", "--tensorboard", str(tmp_path / "file"), "-c", "1 / 0"])
    assert result.exit_code == 2
    assert "cannot write to" in result.stderr


def test_what_was_not_measured_is_left_out(tmp_path: Path) -> None:
    scalars = Scalars(str(tmp_path))
    for event in naming({1: "q.0.weight", 2: "q.0.bias"}):
        scalars.feed(event)
    scalars.feed(Sample(5, 1, ((1, 3.0, 1.0, -1.0), (2, 4.0, 1.0, 0.1)), (), 2.5))
    scalars.finish()
    curves = read(tmp_path)
    assert curves["gradient norm/q"] == [(5, 5.0)]
    assert curves["clipped/q"] == [(5, 2.5)]
    assert not [tag for tag in curves if tag.startswith(("update", "loss"))]


def test_a_run_without_samples_leaves_no_file(tmp_path: Path) -> None:
    scalars = Scalars(str(tmp_path))
    scalars.feed(Attention(True, "asked"))
    scalars.finish()
    assert not list(tmp_path.iterdir())


def test_a_follower_that_fails_is_a_fault_and_costs_nothing_else() -> None:
    class Broken:
        def feed(self, event: Event) -> None:
            raise OSError("the disk is full")

        def finish(self) -> None: ...

    class Seen(list[Event]):
        feed = list.append

        def finish(self) -> None: ...

    engine, seen = Engine(), Seen()
    recorder = Recorder([Broken(), seen, engine])
    for iteration in (1, 2):
        recorder.emit(Sample(iteration, 1, ()))
    assert [e.iteration for e in seen if isinstance(e, Sample)] == [1, 2]
    (fault,) = engine.report().faults
    assert "the disk is full" in fault["traceback"]


def test_optimizers_are_named_after_what_they_train() -> None:
    history = History()
    for event in naming({1: "agent.q.0.weight", 2: "agent.q.head.bias", 3: "alpha"}):
        history.apply(event)
    assert optimizer_name(history, 7, (1, 2)) == "agent.q"
    assert optimizer_name(history, 7, (3,)) == "alpha"
    assert optimizer_name(history, 7, (1, 3)) == "optimizer 7"
    assert together([(1, 3.0, 0.0, 0.0), (2, 4.0, 0.0, 0.0)]).gradient == 5.0


def naming(names: dict[int, str]) -> list[Event]:
    seen = [ParamSeen(pid, "parameter", (1,), True, 0) for pid in names]
    return [*seen, *(ParamNamed(pid, name) for pid, name in names.items())]
