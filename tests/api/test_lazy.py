"""`import gradsan` costs nothing; a watch waits for torch."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import gradsan
from sandbox import STALE, Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def said(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_torch_is_imported_by_the_script_not_by_gradsan(sandbox: Sandbox) -> None:
    sandbox.write(
        "script.py",
        f"""
import sys
import gradsan
assert [m for m in sys.modules if m.startswith("gradsan")] == ["gradsan"]
gradsan.Finding, gradsan.GradientError, gradsan.WatchReport, gradsan.explain, gradsan.__version__
with gradsan.watch() as report:
    assert "torch" not in sys.modules
    exec(compile('''{STALE}''', "stale.py", "exec"))
print([f.rule for f in report.findings], sys.meta_path[0].__class__.__name__)
with gradsan.watch() as report:
    update()
print([f.rule for f in report.findings])
""",
    )
    assert said(sandbox.python("script.py")).startswith("['GS401'] ")


def test_under_gradsan_run_a_watch_joins_and_the_run_reports_too(sandbox: Sandbox) -> None:
    body = textwrap.indent(STALE.strip(), "    ")
    script = f"import gradsan\nwith gradsan.watch() as report:\n{body}\nprint(report.findings[0].rule)\n"
    sandbox.write("script.py", script)
    run = sandbox.gradsan("run", "script.py")
    assert run.stdout == "GS401\n"
    assert run.returncode == 1
    assert "GS401 stale-gradient" in run.stderr
    assert "fault" not in run.stderr


def test_every_public_name_exists_and_an_unknown_one_is_an_attribute_error() -> None:
    assert set(gradsan.__all__) <= {name for name in dir(gradsan) if getattr(gradsan, name) is not None}
    with pytest.raises(AttributeError, match="no attribute 'wach'"):
        gradsan.wach  # noqa: B018


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(sys.modules["gradsan"].__file__).parent / "py.typed").exists()
