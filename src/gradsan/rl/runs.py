"""A run on disk: one folder with its configuration, logs, checkpoints and plot."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsan.rl import checkpoint
from gradsan.rl.algorithms import from_plain, name_of, to_plain
from gradsan.rl.config import Config
from gradsan.rl.errors import CheckpointError, ConfigError

Row = dict[str, float]


@dataclass(frozen=True)
class Run:
    folder: Path

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    @property
    def best(self) -> Path:
        return self.folder / "best.pt"

    @property
    def progress(self) -> Path:
        return self.folder / "progress.csv"

    @property
    def evaluations(self) -> Path:
        return self.folder / "evaluations.csv"

    @property
    def curve(self) -> Path:
        return self.folder / "curve.png"

    @classmethod
    def create(cls, config: Config, folder: Path | None = None) -> Run:
        """A new folder; an existing run is never written over."""
        chosen = folder or cls.folder_for(config)
        try:
            chosen = free(chosen)
            chosen.mkdir(parents=True, exist_ok=True)
            run = cls(chosen)
            run.write_config(config)
        except OSError as error:
            raise ConfigError(f"Cannot make a run in {chosen}: {error.strerror}.") from error
        return run

    @staticmethod
    def folder_for(config: Config, above: Path = Path("runs")) -> Path:
        env = config.env.replace("/", "_").replace(":", "_")
        return above / f"{name_of(config)}-{env}-seed{config.seed}"

    def write_config(self, config: Config) -> None:
        content = {"algorithm": name_of(config), **to_plain(config)}
        (self.folder / "config.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def config(self) -> Config:
        """As it was written down when the run began."""
        path = self.folder / "config.json"
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return from_plain(content.pop("algorithm"), content)
        except (OSError, ValueError, KeyError, AttributeError) as error:
            raise CheckpointError(
                f"{self.folder} is not a run of gradsan train: cannot read {path}."
            ) from error

    def saved(self, path: Path | None = None) -> tuple[Config, dict[str, Any]]:
        """Configuration and content of a checkpoint; the latest by default."""
        if not self.folder.is_dir():
            raise CheckpointError(f"There is no run at {self.folder}.")
        content = checkpoint.load(path or self.checkpoint)
        return from_plain(content["algorithm"], content["config"]), content


def free(wanted: Path) -> Path:
    """This folder, or the next of its name that holds nothing yet."""
    chosen, attempt = wanted, 2
    while chosen.exists() and any(chosen.iterdir()):
        chosen, attempt = wanted.with_name(f"{wanted.name}-{attempt}"), attempt + 1
    return chosen


class Table:
    """A CSV file that grows row by row; every row is on disk when `add` returns."""

    def __init__(self, path: Path, columns: list[str], keep_until: int | None = None) -> None:
        """`keep_until`: rows past that step were written after the checkpoint that is resumed, and go."""
        kept = (
            [row for row in _read(path) if float(row["step"]) <= keep_until] if keep_until is not None else []
        )
        self._file = path.open("w", newline="", encoding="utf-8")
        self._writer = csv.DictWriter(self._file, columns, restval="", extrasaction="ignore")
        self._writer.writeheader()
        self._writer.writerows(kept)
        self._file.flush()

    def add(self, row: Mapping[str, float]) -> None:
        self._writer.writerow(
            {key: f"{value:.6g}" if key != "step" else int(value) for key, value in row.items()}
        )
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_table(path: Path) -> list[Row]:
    """Rows with their filled columns; none where the file is missing."""
    return [{key: float(value) for key, value in row.items() if key and value} for row in _read(path)]


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
