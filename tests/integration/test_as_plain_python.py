"""The script cannot tell gradsan from `python`: each of these is run under both and compared."""

from __future__ import annotations

import subprocess

import pytest

from sandbox import Sandbox

IDENTITY = """
    import os, sys
    print(sys.argv, __name__, __file__, __spec__, __package__, __doc__, type(__loader__).__name__)
    print(sys.path[0] == os.path.dirname(os.path.realpath(__file__)), sys.modules["__main__"].__file__)
    print(type(__builtins__).__name__, sorted(vars(sys.modules["__main__"])), "torch" in sys.modules)
"""
ENDINGS = {
    "falls off the end": "print('x')",
    "exits with a number": "import sys; sys.exit(3)",
    "exits with a message": "import sys; sys.exit('so long')",
    "exits with nothing": "raise SystemExit",
    "exits with a large number": "import sys; sys.exit(259)",
    "exits with a negative number": "import sys; sys.exit(-1)",
    "raises": "def f():\n    return 1 / 0\nf()",
    "raises from another": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "raises while handling": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise KeyError('k')",
    "raises a group": "raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
    "does not compile": "x = 1\ny = = 2\n",
    "has its own excepthook": (
        "import sys\nsys.excepthook = lambda t, v, tb: print('mine', t, v, tb.tb_lineno)\n\n1 / 0"
    ),
    "has a broken excepthook": "import sys\ndef hook(*a):\n    1 / 0\nsys.excepthook = hook\nraise KeyError",
    "leaves an excepthook by exit": (
        "import sys\ndef hook(*a):\n    sys.exit(7)\nsys.excepthook = hook\nraise KeyError"
    ),
    "registers exit handlers": "import atexit, sys\natexit.register(print, 'bye')\nsys.exit(4)",
    "forgets to close a file": "f = open('left', 'w'); f.write('all'); import sys; sys.exit(0)",
    "warns": "import warnings\nwarnings.warn('old', DeprecationWarning)",
    "ends by os._exit": "import os\nprint('x', flush=True)\nos._exit(5)",
    "fails in a thread": (
        "import threading\ndef f():\n    1 / 0\nt = threading.Thread(target=f, name='T')\nt.start()\nt.join()"
    ),
    "leaves a thread running": (
        "import threading, sys\ngo = threading.Event()\ndef f():\n    go.wait()\n    print('late')\n"
        "threading.Thread(target=f).start()\nthreading.main_thread()\ngo.set()\nsys.exit(6)"
    ),
    "leaves a pool open": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(2)\nprint(pool.submit(int, '3').result())"
    ),
}


def same(sandbox: Sandbox, *args: str, **options: str) -> subprocess.CompletedProcess[str]:
    expected = sandbox.python(*args, **options)
    seen = sandbox.gradsan("run", "--quiet", *args, **options)
    assert (seen.returncode, seen.stdout, seen.stderr) == (
        expected.returncode,
        expected.stdout,
        expected.stderr,
    )
    return seen


def test_a_script_has_the_same_identity(sandbox: Sandbox) -> None:
    sandbox.write("dir/who.py", IDENTITY)
    same(sandbox, "dir/who.py", "--mode", "-x", "--", "y")
    same(sandbox, "./dir/../dir/who.py")


def test_a_linked_script_finds_its_modules_where_it_really_is(sandbox: Sandbox) -> None:
    sandbox.write("real/who.py", "import neighbour, sys; print(sys.argv[0])")
    sandbox.write("real/neighbour.py", "print('found')")
    (sandbox.path / "link.py").symlink_to("real/who.py")
    assert "found" in same(sandbox, "link.py").stdout


def test_a_module_has_the_same_identity(sandbox: Sandbox) -> None:
    source = "import sys, os\nprint(sys.argv, __name__, __spec__.name, __package__, __file__, sys.path[0])\n"
    sandbox.write("pkg/__init__.py", "print('package', __name__)")
    sandbox.write("pkg/train.py", source + "from pkg import other")
    sandbox.write("pkg/other.py", "")
    sandbox.write("pkg/__main__.py", source)
    same(sandbox, "-m", "pkg.train", "--mode", "deep", "-c", "x")
    same(sandbox, "-m", "pkg", "a")


def test_a_directory_and_code_run_as_under_python(sandbox: Sandbox) -> None:
    sandbox.write("app/__main__.py", "import sys, helper; print(sys.argv, __name__, sys.path[0])")
    sandbox.write("app/helper.py", "")
    same(sandbox, "app", "a")
    same(
        sandbox,
        "-c",
        "import sys; print(sys.argv, __name__, repr(sys.path[0]), '__file__' in globals())",
        "-q",
    )


@pytest.mark.parametrize("source", ENDINGS.values(), ids=ENDINGS.keys())
def test_a_script_ends_the_same_way_when_it(sandbox: Sandbox, source: str) -> None:
    sandbox.write("end.py", source)
    same(sandbox, "end.py")


def test_standard_input_belongs_to_the_script(sandbox: Sandbox) -> None:
    sandbox.write("echo.py", "import sys\nfor line in sys.stdin: print(input.__name__, line.upper(), end='')")
    assert "HELLO" in same(sandbox, "echo.py", input="hello\nworld\n").stdout


def test_classes_of_the_script_can_be_pickled(sandbox: Sandbox) -> None:
    sandbox.write(
        "pick.py", "import pickle\nclass A: x = 1\nprint(pickle.loads(pickle.dumps(A())).x, A.__module__)"
    )
    assert same(sandbox, "pick.py").stdout == "1 __main__\n"


def test_the_report_stands_after_the_traceback(sandbox: Sandbox) -> None:
    sandbox.write("end.py", ENDINGS["raises"])
    plain, seen = sandbox.python("end.py"), sandbox.gradsan("run", "end.py")
    assert seen.stderr.startswith(plain.stderr)
    assert "no findings" in seen.stderr.removeprefix(plain.stderr)
    assert seen.returncode == 1


def test_a_traceback_through_torch_has_no_frame_of_gradsan(sandbox: Sandbox) -> None:
    sandbox.write(
        "mutate.py",
        """
        import torch
        def f():
            x = torch.ones(3, requires_grad=True)
            y = torch.sigmoid(x)
            y += 1
            y.sum().backward()
        try:
            f()
        except RuntimeError as error:
            raise ValueError("once more") from error
        """,
    )
    plain, seen = sandbox.python("mutate.py"), sandbox.gradsan("run", "--mode", "deep", "mutate.py")
    assert seen.stderr.startswith(plain.stderr)
    assert seen.returncode == 1


def test_variables_set_before_torch_is_imported_count(sandbox: Sandbox) -> None:
    source = "import os\nos.environ['OMP_NUM_THREADS'] = '2'\nimport torch\nprint(torch.get_num_threads())"
    sandbox.write("threads.py", source)
    assert same(sandbox, "threads.py").stdout == "2\n"


def test_python_dash_m_gradsan_is_the_same_command(sandbox: Sandbox) -> None:
    sandbox.write("who.py", "import sys; print(sys.argv, sys.path[0]); sys.exit(3)")
    expected, seen = sandbox.python("who.py", "a"), sandbox.python("-m", "gradsan", "run", "who.py", "a")
    assert (seen.returncode, seen.stdout) == (expected.returncode, expected.stdout)
