"""The real program in a real (pseudo) terminal: saves, keys, hints, going on, resuming."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from learn_answers import solution

from gradsan.learn import progress
from gradsan.learn.catalogue import course, find

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")
PATIENCE = 60.0  # seconds; generous because importing torch on a busy machine is slow


class Terminal:
    """Enough of a terminal to press keys and to wait for words."""

    def __init__(self, folder: Path) -> None:
        self.master, slave = pty.openpty()
        command = [sys.executable, "-c", "from gradsan.cli import main; main()", "learn", str(folder)]
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=_plain_terminal(),
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self.seen = ""

    def expect(self, words: str) -> str:
        """Wait until `words` appear; what came before them is consumed and returned."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))[0], self.seen
            self.seen += os.read(self.master, 4096).decode(errors="replace")
        before, _, self.seen = self.seen.partition(words)
        return before

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())


def _own_terminal() -> None:
    """Make the pseudo terminal the one whose Ctrl-C reaches the program."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _plain_terminal() -> dict[str, str]:
    return {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "200", "PYTHONUTF8": "1"}


@contextmanager
def running(folder: Path) -> Iterator[Terminal]:
    terminal = Terminal(folder)
    try:
        yield terminal
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


def save(folder: Path, name: str, text: str) -> None:
    """As careful editors save: write beside, then replace."""
    draft = folder / "draft.tmp"
    draft.write_text(text, encoding="utf-8")
    draft.replace(folder / find(name).file)


def own_answer(name: str) -> str:
    """Right, but not the official solution word for word."""
    return "import math\n" + solution(find(name))


def test_a_sitting_and_its_continuation(tmp_path: Path) -> None:
    folder = tmp_path / "course"
    with running(folder) as terminal:
        terminal.expect("A tensor that autograd follows")
        terminal.expect("requires_grad is not right yet")
        terminal.expect("its requires_grad is False")
        terminal.expect("q quit")
        terminal.press("h")
        terminal.expect("Hint 1 of 3")
        terminal.press("h")
        terminal.expect("Hint 2 of 3")
        right = own_answer("requires_grad")
        save(folder, "requires_grad", right.replace("requires_grad=True", "requires_grad=False"))
        terminal.expect("requires_grad is not right yet")
        save(folder, "requires_grad", right)
        terminal.expect("requires_grad is right")
        terminal.expect("1 of 33")
        terminal.expect("The official solution")
        terminal.expect("+     return torch.tensor(values, requires_grad=True)")
        assert "The slope of x² at 2" not in terminal.expect("Press Enter for the next exercise")
        terminal.press("\n")
        terminal.expect("The slope of x² at 2")
        terminal.expect("slope is not right yet")
        terminal.press("l")
        terminal.expect("> slope")
        terminal.press("q")
        terminal.expect("Your progress is kept")
        assert terminal.process.wait(PATIENCE) == 0
    state = progress.load(folder)
    assert (state.current, state.done, state.hints) == ("slope", {"requires_grad"}, {"requires_grad": 2})

    with running(folder) as terminal:
        assert "were put into" not in terminal.expect("The slope of x² at 2")
        terminal.expect("q quit")
        terminal.press("n")
        terminal.expect("The gradient of xᵀx")
        terminal.expect("q quit")
        save(folder, "slope", solution(find("slope")))  # back at an earlier file: the course follows
        terminal.expect("slope is right")
        terminal.expect("2 of 33")
        terminal.press("\x03")
        terminal.expect("Your progress is kept")
        assert terminal.process.wait(PATIENCE) == 130
    assert progress.load(folder).done == {"requires_grad", "slope"}


def test_a_check_that_never_ends_is_stopped_by_ctrl_c_and_the_course_goes_on(tmp_path: Path) -> None:
    with running(tmp_path) as terminal:
        terminal.expect("q quit")
        save(tmp_path, "requires_grad", "while True: pass")
        terminal.expect("Ctrl-C stops it")
        terminal.press("\x03")
        terminal.expect("You stopped the check")
        terminal.expect("q quit")
        save(tmp_path, "requires_grad", solution(find("requires_grad")))
        terminal.expect("requires_grad is right")
        terminal.expect("Press Enter")


def test_keys_and_saves_are_heard_while_a_check_runs(tmp_path: Path) -> None:
    with running(tmp_path) as terminal:
        terminal.expect("q quit")
        save(tmp_path, "requires_grad", "while True: pass")
        terminal.expect("Checking")
        terminal.press("h")
        terminal.expect("Hint 1 of 3")
        save(tmp_path, "requires_grad", solution(find("requires_grad")))
        assert "✗" not in terminal.expect("requires_grad is right")
        terminal.expect("Press Enter")
        save(tmp_path, "requires_grad", "while True: pass")
        terminal.expect("Checking")
        terminal.press("q")
        assert "✗" not in terminal.expect("Your progress is kept")
        assert terminal.process.wait(PATIENCE) == 0


def test_the_solution_is_shown_after_success_only_and_again_on_request(tmp_path: Path) -> None:
    with running(tmp_path) as terminal:
        terminal.expect("q quit")
        terminal.press("s")
        terminal.expect("is shown when requires_grad is right")
        save(tmp_path, "requires_grad", own_answer("requires_grad"))
        terminal.expect("The official solution")
        terminal.expect("Press Enter")
        terminal.press("s")
        terminal.expect("The official solution")


def test_a_reset_asks_and_brings_the_exercise_back(tmp_path: Path) -> None:
    file = tmp_path / find("requires_grad").file
    with running(tmp_path) as terminal:
        terminal.expect("q quit")
        save(tmp_path, "requires_grad", solution(find("requires_grad")))
        terminal.expect("Press Enter")
        terminal.press("x")
        terminal.expect("Throw away your work on 1_01_requires_grad.py?")
        terminal.press("n")
        terminal.expect("Nothing was changed")
        assert file.read_text(encoding="utf-8") == solution(find("requires_grad"))
        terminal.press("x")
        terminal.expect("Throw away")
        terminal.press("y")
        terminal.expect("requires_grad is not right yet")
        assert file.read_text(encoding="utf-8") == find("requires_grad").source
    assert progress.load(tmp_path).done == set()


def test_the_last_solved_exercise_ends_the_course(solved: Path) -> None:
    state = progress.load(solved)
    state.done = {exercise.name for exercise in course()} - {"sac"}
    state.current = "sac"
    state.save()
    with running(solved) as terminal:
        terminal.expect("sac is right")
        terminal.expect("That was all of it")
        assert terminal.process.wait(PATIENCE) == 0
