"""A seeded sample of what `make faults` and `make hostile` do in full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gradsan
from gradsan.cli import main, run
from gradsan.cli.publish import Publisher
from gradsan.judge.report.findings import Report
from gradsan.observe import last_resort
from gradsan.observe.interruptions import Interruptions
from gradsan.render.fresh_line import FreshLine
from gradsan.runner import execute
from gradsan.runner.execute import ProgramOutcome

HERE = Path(__file__).parent


def sweep(name: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(HERE / name), *args], capture_output=True, text=True)


def test_faults_in_our_own_functions_are_contained_and_told() -> None:
    seen = sweep("injector.py", "--sample", "6", "--seed", "7")
    assert seen.returncode == 0, seen.stdout
    assert seen.stdout.splitlines()[-1].startswith("6 faults in ")


def test_damaged_and_hostile_files_are_read_or_refused() -> None:
    seen = sweep("hostile.py", "--files", "80", "--seed", "7")
    assert seen.returncode == 0, seen.stdout
    assert seen.stdout.splitlines()[-1].startswith("80 files: ")


def test_a_fault_in_what_ends_the_run_keeps_the_scripts_status(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    concluded = run._concluded

    def fails(*given: Any) -> int:
        concluded(*given)
        raise AttributeError("ours")

    monkeypatch.setattr(run, "_concluded", fails)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the script takes its place
    with pytest.raises(SystemExit) as end:
        main(["run", "--processes", "main", "-c", "raise SystemExit(7)"], prog_name="gradsan")
    assert end.value.code == 7
    assert "AttributeError: ours; the script was not affected" in capfd.readouterr().err


def test_a_fault_when_the_scripts_end_is_read_keeps_its_status(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(outcome: ProgramOutcome) -> bool:
        raise ValueError("ours")

    monkeypatch.setattr(ProgramOutcome, "interrupted", property(fails))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    with pytest.raises(SystemExit) as end:
        main(["run", "--processes", "main", "-c", "raise SystemExit(7)"], prog_name="gradsan")
    assert end.value.code == 7
    assert "ValueError: ours" in capfd.readouterr().err


def test_a_fault_in_what_begins_a_line_costs_no_report(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(line: FreshLine) -> str:
        raise ValueError("ours")  # as a closed stream does

    monkeypatch.setattr(FreshLine, "start", fails)
    Publisher("train.py", "text", None).publish(Report())
    assert "gradsan: no findings" in capfd.readouterr().err
    assert "ValueError: ours" in last_resort.take()[0].traceback


def test_a_fault_in_waiting_for_threads_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise ValueError("ours")

    monkeypatch.setattr(execute, "_wait_for_threads", fails)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    with pytest.raises(SystemExit) as end:
        main(["run", "--processes", "main", "-c", "raise SystemExit(7)"], prog_name="gradsan")
    assert end.value.code == 7
    assert "ValueError: ours" in capfd.readouterr().err


def test_a_fault_at_the_end_of_a_watch_is_in_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Interruptions.stop

    def fails(interruptions: Interruptions) -> None:
        stop(interruptions)
        raise ValueError("ours")

    monkeypatch.setattr(Interruptions, "stop", fails)
    with gradsan.watch() as report:
        pass
    assert any("ValueError: ours" in fault["traceback"] for fault in report.faults)


def test_no_room_for_a_temporary_folder_leaves_this_process_watched(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails() -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gradsan.processes.folder.scratch", fails)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    with pytest.raises(SystemExit) as end:
        main(["run", "-c", "raise SystemExit(7)"], prog_name="gradsan")
    assert end.value.code == 7
    told = capfd.readouterr().err
    assert "No space left on device" in told
    assert "processes" in told
