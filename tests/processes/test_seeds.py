"""`gradsan train --seeds` with real processes that are stopped or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PATIENCE = 300
OPTIONS = ("--env", "CartPole-v1", "--num-envs", "2", "--checkpoint-every", "500", "--eval-every", "0")


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).with_name("gradsan")), "train", "a2c", *OPTIONS, *options]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, env=env, text=True, **pipes)  # type: ignore[call-overload, no-any-return]


def wait_for(*files: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not all(file.exists() for file in files):
        assert time.monotonic() < until, files
        time.sleep(0.05)


def at_work(folder: Path) -> dict[str, int]:
    """The processes that write the logs of the runs below this folder."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            for file in (process / "fd").iterdir():
                target = Path(os.readlink(file))
                if target.name == "progress.csv" and folder in target.parents:
                    found[target.parent.name] = int(process.name)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_every_seed_and_saves_it(tmp_path: Path, number: int) -> None:
    run = started(tmp_path, "--seeds", "3", "--at-once", "2", "--steps", "5000000")
    folders = [tmp_path / "runs" / f"a2c-CartPole-v1-seed{seed}" for seed in (1, 2)]
    wait_for(*(folder / "checkpoint.pt" for folder in folders))
    run.send_signal(number)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130, err
    assert "not begun: seed 3" in out
    for folder in folders:
        assert f"continue with --resume {folder.relative_to(tmp_path)}" in err
    assert not at_work(tmp_path)


def test_a_seed_that_is_killed_is_taken_up_again_and_the_other_goes_on(tmp_path: Path) -> None:
    run = started(tmp_path, "--seeds", "2", "--at-once", "2", "--steps", "6000", "--sanitize", "off")
    wait_for(tmp_path / "runs" / "a2c-CartPole-v1-seed2" / "checkpoint.pt")
    os.kill(at_work(tmp_path)["a2c-CartPole-v1-seed2"], signal.SIGKILL)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, err
    assert "seed 2 failed: Its process was ended by SIGKILL. Trying again from its last checkpoint." in err
    assert "│ a2c  │ 2 " in out
