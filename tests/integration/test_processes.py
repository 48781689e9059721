"""Threads and child processes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gradsan.record.trace import TraceWriter
from sandbox import STALE, Sandbox

SPAWN = """
import multiprocessing, sys
class Message:
    text = "hello"
def work(message):
    main = sys.modules["__mp_main__"]
    return message.text, main.__file__, "gradsan" in sys.modules, sys.argv
if __name__ == "__main__":
    with multiprocessing.get_context(METHOD).Pool(1) as pool:
        print(pool.map(work, [Message()]))
"""
FORK = """
import os
def in_child():
    for _ in range(4):
        update()
    print("child trained", flush=True)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_fresh_children_import_the_script_as_under_python(sandbox: Sandbox, method: str) -> None:
    sandbox.write("pool.py", SPAWN.replace("METHOD", repr(method)))
    expected, seen = sandbox.python("pool.py", "--x"), sandbox.gradsan("run", "--quiet", "pool.py", "--x")
    assert (seen.returncode, seen.stdout, seen.stderr) == (0, expected.stdout, expected.stderr)
    assert "hello" in seen.stdout


def test_fresh_children_of_a_module_import_it_by_name(sandbox: Sandbox) -> None:
    sandbox.write("pkg/__init__.py", "")
    sandbox.write("pkg/pool.py", SPAWN.replace("METHOD", "'spawn'"))
    expected, seen = sandbox.python("-m", "pkg.pool"), sandbox.gradsan("run", "--quiet", "-m", "pkg.pool")
    assert (seen.returncode, seen.stdout, seen.stderr) == (0, expected.stdout, expected.stderr)


@pytest.mark.parametrize(
    "fork",
    [
        "import multiprocessing\nchild = multiprocessing.get_context('fork').Process(target=in_child)\n"
        "child.start(); child.join(); assert child.exitcode == 0",
        "child = os.fork()\nif not child:\n    in_child()\nelse:\n    assert os.waitpid(child, 0)[1] == 0",
    ],
    ids=["by multiprocessing", "by hand"],
)
def test_a_forked_child_trains_unwatched_where_only_the_main_process_is_wanted(
    sandbox: Sandbox, fork: str
) -> None:
    sandbox.write("train.py", STALE + FORK + fork)
    options = ("--processes", "main", "--trace", "run.trace", "--format", "json", "--mode", "deep")
    seen = sandbox.gradsan("run", *options, "train.py")
    assert seen.stdout == "child trained\n"
    report = json.loads(seen.stderr)  # one report, and nothing beside it
    assert report["iterations"] == 4
    assert [f["count"] for f in report["findings"]] == [3]
    judged = json.loads(sandbox.gradsan("report", "run.trace", "--format", "json").stdout)
    assert judged["findings"] == report["findings"]


def test_training_in_a_thread_is_watched_even_after_the_main_thread_ended(sandbox: Sandbox) -> None:
    train = STALE.replace("for _ in range(4):\n    update()\n", "")
    threads = """
import threading
main_is_over = threading.Event()
def work():
    main_is_over.wait()
    for _ in range(20):
        update()
threading.Thread(target=work).start()
threading._register_atexit(main_is_over.set)  # what pools use: called when the main thread is through
"""
    sandbox.write("train.py", train + threads)
    seen = sandbox.gradsan("run", "--format", "json", "train.py")
    report = json.loads(seen.stderr)
    assert [(f["rule"], f["count"]) for f in report["findings"]] == [("GS401", 19)]
    assert (seen.returncode, report["faults"]) == (1, [])


def test_a_fork_in_the_middle_of_a_write_leaves_the_line_to_the_parent(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "trace")
    assert writer._file is not None
    writer._file.write("half a line")  # as another thread may have done when this one forks
    child = os.fork()
    if not child:
        writer.forget_in_child()
        os._exit(0)
    os.waitpid(child, 0)
    writer.finish()
    assert (tmp_path / "trace").read_text().count("half a line") == 1
