"""The commands as a person uses them."""

from __future__ import annotations

import os
import select
import signal
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


def test_help_shows_the_defaults_that_suit_the_environment() -> None:
    lines = gradsan("train", "dqn", "--help", "--env", "LunarLander-v3").output
    assert "default: 100000" in lines
    assert "default: huber" in lines
    assert "LunarLander-v3" in lines
    plain = gradsan("train", "dqn", "--help").output
    assert "default: squared" in plain
    assert "give --env to see" in " ".join(plain.split())


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
        (("train", "--resume", "a", "--out", "b"), "give one of them"),
        (("train", "a2c", "--env", "CartPole-v1", "--out", "file/run"), "Cannot make a run in file/run"),
    ],
)
def test_mistakes_get_one_sentence_and_no_traceback(
    arguments: tuple[str, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
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


def test_places_that_cannot_be_written_to_get_one_sentence(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygame")
    for arguments in (
        ("play", run, "--episodes", "1", "--film", tmp_path / "no" / "film.GIF"),
        ("compare", run, "--output", tmp_path / "no" / "plot.png"),
        ("compare", run, "--output", tmp_path / "plot.foo"),
    ):
        result = gradsan(*arguments)
        assert (result.exit_code, type(result.exception)) == (1, SystemExit)
        assert result.output.startswith("Error: ")


def test_an_environment_without_images_is_not_filmed(tmp_path: Path) -> None:
    gradsan("train", "a2c", "--env", "toys/Identity-v0", *FAST, "--out", tmp_path / "run")
    result = gradsan("play", tmp_path / "run", "--film", tmp_path / "film.gif")
    assert result.output == "Error: toys/Identity-v0 renders no images, so there is nothing to film.\n"


def test_an_environment_that_cannot_be_rendered_here_gets_one_sentence(tmp_path: Path) -> None:
    gradsan("train", "a2c", "--env", "toys/Dark-v0", *FAST, "--out", tmp_path / "run")
    result = gradsan("play", tmp_path / "run", "--film", tmp_path / "film.gif")
    assert result.exit_code == 1
    assert result.output.startswith(
        "Error: toys/Dark-v0 cannot be filmed here: video system not initialized."
    )
    assert "SDL_VIDEODRIVER=dummy" in result.output
    assert not (tmp_path / "film.gif").exists()


def test_without_a_display_a_film_ends_in_one_sentence(run: Path, tmp_path: Path) -> None:
    pytest.importorskip("pygame")
    hidden = {key: value for key, value in os.environ.items() if not key.endswith("DISPLAY")}
    command = [Path(sys.executable).with_name("gradsan"), "play", run, "--film", tmp_path / "film.gif"]
    done = subprocess.run(
        command, env={**hidden, "SDL_VIDEODRIVER": "x11"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "CartPole-v1 cannot be filmed here" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_algorithm_may_stand_anywhere_and_the_environment_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import gymnasium\ngymnasium.register('Mine-v0', 'gymnasium.envs.classic_control:CartPoleEnv')\n"
    )
    command = [Path(sys.executable).with_name("gradsan"), "train", "--env", "mine:Mine-v0", *FAST, "a2c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "a2c-mine_Mine-v0-seed1" / "checkpoint.pt").is_file()


@pytest.mark.parametrize("ending", ["ctrl-c", "exit", "die"])
def test_environments_in_processes_of_their_own_end_as_others_do(tmp_path: Path, ending: str) -> None:
    """Ctrl-C in a terminal reaches the workers too; and one of them may die."""
    (tmp_path / "mine.py").write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport gymnasium, rl_toys\n"
        f"gymnasium.register('Mine-v0', rl_toys.Faulty, kwargs={{'fault': {ending!r}, 'at': 300}})\n"
    )
    fast = ("--num-envs", "2", "--vectorization", "async", "--eval-every", "0", "--sanitize", "off")
    steps = ("--steps", str(10**7), "--out", "run")
    command = [Path(sys.executable).with_name("gradsan"), "train", "a2c", "--env", "mine:Mine-v0"]
    os.mkfifo(tmp_path / "under-way")
    under_way = os.open(tmp_path / "under-way", os.O_RDWR)  # so that nobody waits for the other end
    process = subprocess.Popen(
        [*command, *fast, *steps], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    if ending == "ctrl-c":
        assert select.select([under_way], [], [], 60)[0]
        os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    os.close(under_way)  # not before: the second worker says so, too
    assert "Traceback" not in said, said
    assert process.returncode == (130 if ending == "ctrl-c" else 1), said
    assert (tmp_path / "run" / "checkpoint.pt").is_file(), said


def test_compare_groups_seeds_and_plots(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    gradsan("train", "a2c", "--env", "CartPole-v1", *FAST, "--seed", "2", "--out", other)
    result = gradsan("compare", run, other, "--output", tmp_path / "plot.png")
    assert result.exit_code == 0, result.output
    assert "CartPole-v1" in result.output
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert "careful" not in result.output
    one = gradsan("compare", run, run, "--output", tmp_path / "plot.png").output
    assert " 1 " in one
    assert "–" in one


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
