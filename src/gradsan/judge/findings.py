"""Findings and the report: what a run was judged to be, ready for any renderer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gradsan import __version__

if TYPE_CHECKING:
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


@dataclass(frozen=True, slots=True)
class RoleSite:
    """A location and its part in the story: "saved", "mutation", "backward", "loss", "step" …"""

    role: str
    location: Location

    def as_dict(self) -> dict[str, Any]:
        return {"role": self.role, **asdict(self.location)}


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
            "count": self.count,
            "first_iteration": self.first_iteration,
            "met": self.met,
            "traced": self.traced,
            "repeated": self.repeated,
        }


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
    picture: Picture | None = None  # where somebody asked for one; not part of the JSON

    def worst(self) -> int:
        """Index into SEVERITIES of the worst finding; -1 where there is none."""
        return max((SEVERITIES.index(f.severity) for f in self.findings), default=-1)

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
            "findings": [finding.as_dict() for finding in self.findings],
            "not_evaluated": self.not_evaluated,
            "faults": self.faults,
            "errors_explained": self.errors_explained,
            "suppressed": self.suppressed,
            "suppression_problems": self.suppression_problems,
            "baseline": self.baseline,
        }
