"""Checkpoints: written whole or not at all, read as data and never as code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from gradsan.rl.errors import CheckpointError

FORMAT = 2
# What loading the state of something else raises.
MISFITS = (KeyError, RuntimeError, ValueError, TypeError, AttributeError, IndexError)


def save(path: Path, content: dict[str, Any]) -> None:
    """A killed process or a full disk leaves the previous checkpoint as it was."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            torch.save({"format": FORMAT, **content}, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except (OSError, RuntimeError) as error:
        raise CheckpointError(f"Cannot write the checkpoint {path}: {error}") from error
    finally:
        draft.unlink(missing_ok=True)


def load(path: Path) -> dict[str, Any]:
    """`weights_only`: a checkpoint from elsewhere can hold numbers, not code that runs."""
    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint at {path}.")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except PermissionError as error:
        raise CheckpointError(f"Cannot read {path}: {error.strerror}.") from error
    except Exception as error:
        # Zip, pickle and torch each have their own way to say so, and advice that is not ours.
        raise CheckpointError(f"{path} is truncated or not a checkpoint of gradsan.") from error
    expected = {"format": int, "algorithm": str, "config": dict, "agent": dict}
    if not isinstance(content, dict) or not all(
        isinstance(content.get(key), kind) for key, kind in expected.items()
    ):
        raise CheckpointError(f"{path} is not a checkpoint of gradsan.")
    if content["format"] != FORMAT:
        raise CheckpointError(f"{path} has format {content['format']}; this version reads format {FORMAT}.")
    return content
