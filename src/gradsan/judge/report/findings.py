"""Findings and the report: what a run was judged to be, ready for any renderer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gradsan import __version__
from gradsan.judge.report.cells import CELL

if TYPE_CHECKING:
    from gradsan.fix.repair import Repair
    from gradsan.picture.model import Picture

SCHEMA = 1
SEVERITIES = ("info", "warning", "error")


@dataclass(frozen=True, slots=True)
class Location:
    """A source line of the user's. `file` is relative to the working directory where it lies below it."""

    file: str
    line: int
    function: str
    code: str

    @property
    def place(self) -> str:
        """As one says it: `train.py:41`, or `In[7], line 12` in a notebook."""
        cell = CELL.fullmatch(self.file) is not None
        return f"{self.file}, line {self.line}" if cell else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class RoleSite:
    """A location and its part in the story: "saved", "mutation", "backward", "loss", "step" …"""

    role: str
    location: Location

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, **asdict(self.location)}


@dataclass(frozen=True, slots=True)
class Process:
    """One of several processes of a run. `not_evaluated`: why nothing, or not all, is known of it."""

    pid: int | None = None
    parent: int | None = None
    host: str = ""
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    script: str = ""
    iterations: int = 0
    deep_iterations: int = 0
    ended: bool = True  # of itself; else it was killed, or is still running
    not_evaluated: str = ""

    @property
    def name(self) -> str:
        """As one says it: `rank 1`, or `process 4711`."""
        return f"process {self.pid}" if self.rank is None else f"rank {self.rank}"

    @property
    def is_idle(self) -> bool:
        return not self.iterations and not self.not_evaluated


@dataclass(frozen=True, slots=True)
class AcrossRanks:
    """A norm that should be the same on all ranks; None where a rank has not recorded it."""

    subject: str
    what: str  # "gradient" or "weight"
    norms: dict[int, float | None]  # by rank


RIGHT_ANGLE = 0.3  # cosines nearer to zero: within 18° of it


def _direction(cosine: float) -> str:
    way = (
        "nearly at right angles to"
        if abs(cosine) <= RIGHT_ANGLE
        else "against"
        if cosine < 0
        else "the same way as"
    )
    return f"{way} the rest (cosine {cosine:.2f})".replace("(cosine -", "(cosine \N{MINUS SIGN}")


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a gradient came the wrong way: |wrong| / (|wrong| + |rest|), and the cosine of the angle between the
    two; None where there is only one of them."""

    of: str
    parameters: int
    share: float
    cosine: float | None

    def __str__(self) -> str:
        angle = "" if self.cosine is None else f", {_direction(self.cosine)}"
        percent = (
            "all"
            if self.share == 1.0
            else f"{self.share:.0%}"
            if self.share >= 0.005
            else f"{self.share:.2%}"
        )
        return (
            f"{percent} of the gradient of {self.of}{angle}"
            if not self.of.startswith("what ")
            else (f"{percent} of {self.of}{angle}")
        )


@dataclass(frozen=True, slots=True)
class Effect:
    """What a finding does to the gradient, measured in the run; or why it was not measured."""

    shares: tuple[Share, ...] = ()
    not_measured: str = ""

    @property
    def is_nothing(self) -> bool:
        """Measured, and no gradient came that way."""
        return bool(self.shares) and all(share.share == 0.0 for share in self.shares)

    def __str__(self) -> str:
        if not self.shares:
            return f"not measured: {self.not_measured}"
        return "; ".join(map(str, self.shares))

    def as_dict(self) -> dict[str, Any]:
        return {"shares": [asdict(share) for share in self.shares], "not_measured": self.not_measured}


@dataclass(slots=True)
class Finding:
    """One defect: reported once per culprit line, with the number of times it was met."""

    rule: str
    name: str
    severity: str
    message: str
    fix: str
    culprit: Location | None
    sites: tuple[RoleSite, ...] = ()
    subjects: tuple[str, ...] = ()
    count: int = 1
    first_iteration: int = 0
    # Iterations from the first one on: `traced` were looked at closely enough to tell, it was `met` in so many of
    # them, and `repeated` went like those, without a close look.
    met: int = 0
    traced: int = 0
    repeated: int = 0
    processes: tuple[Process, ...] = ()  # those that it was met in, where there are several
    across_ranks: tuple[AcrossRanks, ...] = ()  # where ranks were compared
    effect: Effect | None = None  # of leaks and contaminations
    static: bool = False  # read off the source; nothing was run
    # Where its repairs were tried: the one that was verified, if any, and what the trial has shown.
    tried: bool = False
    repair: Repair | None = None
    evidence: str = ""

    def __str__(self) -> str:
        """As the terminal shows it."""
        from gradsan.render.text import of_finding  # only here: the judge itself knows no renderer

        return of_finding(self)

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "fix": self.fix,
            "culprit": None if self.culprit is None else asdict(self.culprit),
            "sites": [site.as_dict() for site in self.sites],
            "subjects": list(self.subjects),
            "effect": None if self.effect is None else self.effect.as_dict(),
            "count": self.count,
            "first_iteration": self.first_iteration,
            "met": self.met,
            "traced": self.traced,
            "repeated": self.repeated,
            "ranks": self.ranks,
            "processes": [{"pid": p.pid, "host": p.host, "rank": p.rank} for p in self.processes],
            "across_ranks": [asdict(row) for row in self.across_ranks],
        }

    @property
    def ranks(self) -> list[int]:
        return sorted({p.rank for p in self.processes if p.rank is not None})


@dataclass(frozen=True, slots=True)
class Exit:
    """The exit status of the command that made the report, and why it is that one."""

    status: int
    because: str  # "clean", "finding", "script" (it failed by itself), "not watched"


@dataclass(slots=True)
class Report:
    """Everything a renderer gets to see."""

    script: str = ""
    mode: str = "adaptive"
    torch: str = ""
    iterations: int = 0
    deep_iterations: int = 0
    attention: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    not_evaluated: list[dict[str, str]] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)
    errors_explained: list[dict[str, Any]] = field(
        default_factory=list
    )  # PyTorch's, where no rule has a finding
    suppressed: list[dict[str, Any]] = field(default_factory=list)  # findings that a comment silenced
    suppression_problems: list[dict[str, Any]] = field(default_factory=list)  # comments that do nothing
    baseline: dict[str, Any] | None = (
        None  # its file, how many findings it hides, which of its entries are gone
    )
    # Not part of the JSON: what the baseline hides, and what could have been found at all.
    known: list[Finding] = field(default_factory=list)
    reached: frozenset[tuple[str, str]] = frozenset()  # files and functions
    evaluated: frozenset[str] = frozenset()  # rules
    not_watched: str = ""  # why torch was there and nothing could be watched; never the same as clean
    script_status: int | None = (
        None  # what plain `python` would have ended with; None where no script was run
    )
    exit: Exit | None = None  # None where there was no command, or a signal ended it
    processes: list[Process] = field(default_factory=list)  # all that were watched, where there were several
    picture: Picture | None = None  # where somebody asked for one; not part of the JSON
    # Of `gradsan lint`: how many files were read, and which could not be (file, line, message).
    files: int | None = None
    unreadable: list[dict[str, Any]] = field(default_factory=list)

    @property
    def watched(self) -> bool:
        """Whether the taps were in, or not needed: a script that never imports torch has nothing to watch."""
        return not self.not_watched

    def worst(self) -> int:
        """Index into SEVERITIES of the worst finding; -1 where there is none."""
        return max((SEVERITIES.index(f.severity) for f in self.findings), default=-1)

    def _causes(self) -> list[int]:
        """A number for each finding: those with the same one have one cause."""
        from gradsan.judge.report.causes import by_cause

        of = {number: cause for cause, group in enumerate(by_cause(self.findings), 1) for number in group}
        return [of[number] for number in range(len(self.findings))]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "gradsan": __version__,
            "torch": self.torch,
            "script": self.script,
            "mode": self.mode,
            "iterations": self.iterations,
            "deep_iterations": self.deep_iterations,
            "attention": self.attention,
            "findings": [
                {**finding.as_dict(), "cause": cause}
                for finding, cause in zip(self.findings, self._causes(), strict=True)
            ],
            "not_evaluated": self.not_evaluated,
            "faults": self.faults,
            "errors_explained": self.errors_explained,
            "suppressed": self.suppressed,
            "suppression_problems": self.suppression_problems,
            "baseline": self.baseline,
            "watched": self.watched,
            "not_watched": self.not_watched or None,
            "script_status": self.script_status,
            "exit": None if self.exit is None else asdict(self.exit),
            "processes": [asdict(process) for process in self.processes],
            **({} if self.files is None else {"files": self.files, "unreadable": self.unreadable}),
        }
