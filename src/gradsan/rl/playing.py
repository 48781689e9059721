"""A trained agent at work: returns of some episodes, and a film of them where asked for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsan.rl.agent import Agent
from gradsan.rl.algorithms import build
from gradsan.rl.checkpoint import MISFITS
from gradsan.rl.envs import FAULTS
from gradsan.rl.errors import CheckpointError, EnvironmentFault, in_a_line
from gradsan.rl.evaluate import evaluate
from gradsan.rl.make import make_env, make_envs
from gradsan.rl.runs import Run

FILMS = (".gif", ".webp", ".mp4")
HEADLESS = "Without a display, try SDL_VIDEODRIVER=dummy (pygame) or MUJOCO_GL=egl (MuJoCo)."


def load_agent(run: Run, *, best: bool = False) -> Agent:
    """The agent of a run as it was last saved, or at its best evaluation."""
    config, content = run.saved(run.best if best else None)
    if not config.has_device():
        config = dataclasses.replace(config, device="cpu")  # it was trained on another machine
    agent = build(config, make_envs(config.env, config.num_envs, "sync"))
    try:
        agent.load_policy(content["agent"])
    except MISFITS as error:
        reason = in_a_line(error)
        raise CheckpointError(
            f"The checkpoint in {run.folder} does not fit {config.env}: {reason}"
        ) from error
    return agent


def play(agent: Agent, episodes: int, seed: int, film: Path | None = None) -> NDArray[np.float64]:
    env = make_env(agent.base.env)
    if film is not None:
        if "rgb_array" not in env.metadata.get("render_modes", ()):
            raise EnvironmentFault(f"{agent.base.env} renders no images, so there is nothing to film.")
        env.close()
        env = make_env(agent.base.env, render_mode="rgb_array")
    frames: list[NDArray[np.uint8]] = []

    def record() -> None:
        try:
            frames.append(np.asarray(env.render()))
        except FAULTS as error:
            raise EnvironmentFault(
                f"{agent.base.env} cannot be filmed here: {in_a_line(error)} {HEADLESS}"
            ) from error

    try:
        if film is None:
            return evaluate(agent, env, episodes, seed)
        returns = evaluate(agent, env, episodes, seed, record)
        write_film(film, frames, float(env.metadata.get("render_fps", 30)))
    finally:
        env.close()
        agent.envs.close()
    return returns


def write_film(path: Path, frames: list[NDArray[np.uint8]], rate: float) -> None:
    """GIF and WebP by Pillow; MP4 where imageio and ffmpeg are installed."""
    if path.suffix.lower() == ".mp4":
        try:
            import imageio.v3 as iio

            iio.imwrite(path, np.stack(frames), fps=rate)
        except ImportError as error:
            raise CheckpointError("MP4 needs imageio[ffmpeg]; install it, or write a .gif.") from error
        return
    from PIL import Image

    # Viewers slow GIFs down that ask for less than 20 ms per frame: skip frames instead.
    stride = max(1, round(rate / 50))
    images = [Image.fromarray(frame) for frame in frames[::stride]]
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=round(1000 * stride / rate), loop=0
    )
