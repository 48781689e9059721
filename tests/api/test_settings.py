"""`[tool.gradsan]`: where it is looked for, what it may say, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

import gradsan
from gradsan import settings
from training import stale


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "package" / "part").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "package" / "part")
    return tmp_path


def write(folder: Path, *lines: str, name: str = "pyproject.toml") -> Path:
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return folder / name


def test_the_nearest_file_that_speaks_of_gradsan_counts(project: Path) -> None:
    assert settings.nearest().values == {}
    file = write(project, "[tool.gradsan]", "mode = 'deep'")
    write(project / "package", "[tool.ruff]")
    assert settings.nearest().values == {"mode": "deep"}
    assert settings.nearest().file == file
    write(project / "package", "[tool.gradsan]", "quiet = true")
    assert settings.nearest().values == {"quiet": True}


def test_every_key_is_taken_and_paths_start_at_the_file(project: Path) -> None:
    write(
        project,
        "[tool.gradsan]",
        "mode = 'light'",
        "select = ['GS3', 'stale-gradient']",
        "ignore = 'GS301, GS302'",
        "include = ['torch']",
        "format = 'json'",
        "fail-on = 'warning'",
        "output = 'out/report.json'",
        "html = '/tmp/report.html'",
        "quiet = false",
        "live = true",
    )
    assert settings.nearest().values == {
        "mode": "light",
        "select": ("GS3", "stale-gradient"),
        "ignore": ("GS301, GS302",),
        "include": ("torch",),
        "format": "json",
        "fail_on": "warning",
        "output": str(project / "out" / "report.json"),
        "html": "/tmp/report.html",
        "quiet": False,
        "live": True,
    }


def test_every_option_of_the_command_line_can_be_written_down() -> None:
    from gradsan.cli.report import command as report
    from gradsan.cli.run import command as run

    options = {str(p.name).rstrip("_") for p in (*run.params, *report.params) if isinstance(p, click.Option)}
    of_one_run = {"module", "code", "config", "no_config", "no_baseline", "write_baseline"}
    assert options - of_one_run == {key.replace("-", "_") for key in settings.KEYS}


def test_what_the_file_switches_on_the_command_line_can_switch_off() -> None:
    from gradsan.cli.run import command as run

    flags = {p.name: p.secondary_opts for p in run.params if isinstance(p, click.Option) and p.is_flag}
    switches = [key for key, check in settings.KEYS.items() if check is settings.KEYS["quiet"]]
    for key in switches:
        assert flags[key.replace("-", "_")] == [f"--no-{key}"]


MISTAKES = {
    "selct = 'GS3'": "has no 'selct'; did you mean 'select'?",
    "fail_on = 'error'": "has no 'fail_on'; did you mean 'fail-on'?",
    "colour = true": "has no 'colour'; it may have baseline, fail-on, finding-status, format",
    "mode = 'deeep'": "mode = 'deeep'; it must be 'adaptive', 'deep' or 'light'",
    "mode = 3": "mode = 3; it must be 'adaptive', 'deep' or 'light'",
    "format = 'xml'": "it must be 'text', 'json', 'sarif' or 'github'",
    "fail-on = 'info'": "it must be 'error', 'warning' or 'never'",
    "finding-status = 0": "finding-status = 0; it must be a number from 1 to 255",
    "select = 3": "select = 3; it must be a string or a list of strings",
    "ignore = ['GS3', 4]": "it must be a string or a list of strings",
    "select = 'GS999'": "select: there is no rule 'GS999'",
    "ignore = ['stale-gradiant']": "did you mean stale-gradient?",
    "select = ''": "select: '' names no rule",
    "select = []": "select = []; leave it out to judge by all rules",
    "quiet = 'yes'": "quiet = 'yes'; it must be true or false",
    "output = 1": "output = 1; it must be a string",
    "html = ''": "html = ''; it must be the path of a file",
    "mode": "is no TOML",
}


@pytest.mark.parametrize(("line", "words"), MISTAKES.items(), ids=MISTAKES.keys())
def test_mistakes_are_refused_with_the_file_and_what_was_meant(project: Path, line: str, words: str) -> None:
    write(project, "[tool.gradsan]", line)
    with pytest.raises(settings.SettingsError) as told:
        settings.nearest()
    assert words in str(told.value)
    assert str(project / "pyproject.toml") in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_named_may_leave_the_heading_out(project: Path) -> None:
    file = write(project, "mode = 'deep'", name="gradsan.toml")
    assert settings.load(str(file)).values == {"mode": "deep"}
    file = write(project, "[tool.gradsan]", "mode = 'deep'", name="other.toml")
    assert settings.load(str(file)).values == {"mode": "deep"}
    with pytest.raises(settings.SettingsError, match=r"cannot read .*none.toml: No such file"):
        settings.load("none.toml")
    with pytest.raises(settings.SettingsError, match=r"there is no \[tool.gradsan\] in"):
        settings.load(str(write(project, "[tool.ruff]")))


def test_a_heading_that_is_no_table_is_refused(project: Path) -> None:
    write(project, "[tool]", "gradsan = 3")
    with pytest.raises(settings.SettingsError, match=r"\[tool.gradsan\] must be a table"):
        settings.nearest()


def test_bytes_that_are_no_text_are_refused(project: Path) -> None:
    (project / "pyproject.toml").write_bytes(b"\xff\xfe[tool.gradsan]")
    with pytest.raises(settings.SettingsError, match="is no TOML"):
        settings.nearest()


def test_watch_takes_its_defaults_from_it_and_arguments_win(project: Path) -> None:
    write(project, "[tool.gradsan]", "mode = 'light'", "ignore = 'GS401'")
    assert gradsan.watch().mode == "light"
    assert gradsan.watch("deep").mode == "deep"
    with gradsan.watch() as report:
        stale()
    assert report.findings == []
    with gradsan.watch(ignore="GS402") as report:
        stale()
    assert [f.rule for f in report.findings] == ["GS401"]


def test_watch_refuses_a_mistaken_file_as_it_refuses_an_argument(project: Path) -> None:
    write(project, "[tool.gradsan]", "select = 'GS999'")
    with pytest.raises(ValueError, match="there is no rule 'GS999'"):
        gradsan.watch()


def test_settings_that_are_pinned_count_wherever_the_script_goes(project: Path) -> None:
    write(project, "[tool.gradsan]", "mode = 'light'")
    with settings.pinned(settings.Settings()):
        assert gradsan.watch().mode == "adaptive"
    assert gradsan.watch().mode == "light"
