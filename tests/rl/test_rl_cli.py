"""The commands as a person uses them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gradsan.cli import main


def gradsan(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


FAST = ("--steps", "400", "--num-envs", "4", "--eval-every", "0", "--eval-episodes", "1", "--sanitize", "off")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "a2c"
    result = gradsan("train", "a2c", "--env", "CartPole-v1", *FAST, "--out", folder)
    assert result.exit_code == 0, result.output
    assert str(folder) in result.output
    return folder


def test_help_and_version_import_neither_torch_nor_gymnasium() -> None:
    for arguments in ("'--help'", "'train', '--help'", "'play', '--help'", "'compare', '--help'"):
        code = (
            "import sys; from gradsan.cli import main\n"
            f"try: main([{arguments}])\n"
            "except SystemExit: pass\n"
            "sys.exit(any(name in sys.modules for name in ('torch', 'gymnasium', 'numpy', 'tyro')))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        assert "Usage" in done.stdout


def test_train_lists_every_hyperparameter_with_its_default() -> None:
    result = gradsan("train", "dqn", "--help")
    assert result.exit_code == 0
    for option in ("--learning-rate", "--epsilon-end", "--double", "--sanitize", "--loss"):
        assert option in result.output


def test_what_suits_the_environment_is_the_default() -> None:
    from gradsan.cli.train import parse

    assert parse("dqn", ["--env", "LunarLander-v3"], None).steps == 100_000
    given = parse("ppo", ["--env=Acrobot-v1", "--num-envs", "3", "--hidden", "8", "8"], None)
    assert (given.num_envs, given.hidden, given.normalize) == (3, (8, 8), True)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train", "dpn"), "Unknown algorithm 'dpn'"),
        (("train", "ppo", "--env", "NoSuchGame-v0"), "Cannot make environment 'NoSuchGame-v0'"),
        (("train", "sac", "--env", "CartPole-v1"), "needs Box actions"),
        (("train", "ppo", "--env", "CartPole-v1", "--device", "tpu9"), "Unknown device"),
        (("train", "--resume", "no/such/run"), "There is no run at no/such/run"),
        (("play", "no/such/run"), "There is no run at no/such/run"),
        (("compare", "no/such/run"), "no/such/run is not a run of gradsan train"),
    ],
)
def test_mistakes_get_one_sentence_and_no_traceback(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = gradsan(*arguments)
    assert result.exit_code in (1, 2)
    assert sentence in result.output
    assert "Traceback" not in result.output


def test_a_wrong_hyperparameter_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    result = gradsan("train", "ppo", "--env", "CartPole-v1", "--steps", "0")
    assert result.exit_code != 0
    assert "--steps must be at least 1" in result.output + capsys.readouterr().err


def test_a_run_is_resumed_with_more_steps(run: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    result = gradsan("train", "--resume", copy, "--steps", "600")
    assert result.exit_code == 0, result.output
    assert 600 <= int(result.output.splitlines()[-1].split()[0]) < 620
    wrong = gradsan("train", "ppo", "--resume", copy)
    assert "is a run of a2c, not of ppo" in wrong.output


@pytest.mark.parametrize("film", ["film.gif", "film.webp"])
def test_play_evaluates_and_films(run: Path, tmp_path: Path, film: str) -> None:
    pytest.importorskip("pygame")
    result = gradsan("play", run, "--episodes", "2", "--best", "--film", tmp_path / film)
    assert result.exit_code == 0, result.output
    assert "mean" in result.output
    from PIL import Image

    with Image.open(tmp_path / film) as image:
        assert image.n_frames > 1  # type: ignore[attr-defined]


def test_play_gives_the_same_episodes_for_the_same_seed(run: Path) -> None:
    one, two = (gradsan("play", run, "--episodes", "3", "--seed", "4").output for _ in range(2))
    assert one == two


def test_play_refuses_other_films(run: Path) -> None:
    assert "must end in" in gradsan("play", run, "--film", "film.avi").output


def test_compare_groups_seeds_and_plots(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    gradsan("train", "a2c", "--env", "CartPole-v1", *FAST, "--seed", "2", "--out", other)
    result = gradsan("compare", run, other, "--output", tmp_path / "plot.png")
    assert result.exit_code == 0, result.output
    assert "a2c CartPole-v1" in result.output
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "gymnasium" else find(name))
    result = gradsan("train", "ppo", "--env", "CartPole-v1")
    assert result.exit_code == 1
    assert "needs gymnasium: pip install 'gradsan[rl]'" in result.output


def test_play_films_as_mp4(run: Path, tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v3")
    pytest.importorskip("imageio_ffmpeg")
    result = gradsan("play", run, "--episodes", "1", "--film", tmp_path / "film.mp4")
    assert result.exit_code == 0, result.output
    assert len(imageio.imread(tmp_path / "film.mp4")) > 1
