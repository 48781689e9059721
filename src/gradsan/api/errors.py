"""What gradsan raises, and only where the user asked it to."""

from __future__ import annotations

from gradsan.judge.report.findings import SEVERITIES, Finding, Location


class GradientError(RuntimeError):
    """A gradient went wrong. `finding` says where, why and how to mend it.

    It is a RuntimeError, as PyTorch's own autograd errors are: code that catches those catches this."""

    def __init__(self, message: str, finding: Finding | None = None) -> None:
        super().__init__(message)
        self.finding = finding


class GradientContractError(GradientError):
    """`check` found a loss that does not reach what it must, or reaches what it must not.

    `path` is the way from the loss to the parameter that should have been avoided: one step per autograd
    node, each with its source line where that is known."""

    path: tuple[tuple[str, Location | None], ...] = ()


class FrozenTensorError(GradientError):
    """Something wrote in place into a tensor that `freeze` has made read-only."""


class GuardError(GradientError):
    """Under `guard("raise")`, something wrote in place into memory that backward needs."""


def of_finding(finding: Finding) -> GradientError:
    where = f"{place(finding.culprit)}: " if finding.culprit is not None else ""
    text = f"{finding.rule} {finding.name}: {where}{finding.message}\n  fix: {finding.fix}"
    return GradientError(text, finding)


def place(where: Location) -> str:
    return where.place


def is_at_least(finding: Finding, severity: str) -> bool:
    return SEVERITIES.index(finding.severity) >= SEVERITIES.index(severity)
