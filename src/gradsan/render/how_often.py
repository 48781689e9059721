"""How often a finding was met, in words: what was looked at, and what is known to be the same."""

from __future__ import annotations

from gradsan.judge.report.findings import Finding


def how_often(finding: Finding) -> str:
    if finding.static:
        return "seen without running"
    first, met, traced = finding.first_iteration, finding.met, finding.traced
    if not traced:  # made elsewhere, without these counts
        return (
            f"once, in iteration {first:,}"
            if finding.count == 1
            else f"{finding.count:,}×, from iteration {first:,}"
        )
    if met <= 1 and not finding.repeated:  # not "once": some rules speak of a thing only once
        return (
            f"in iteration {first:,}" if finding.count == 1 else f"{finding.count:,}× in iteration {first:,}"
        )
    share = f"{met:,} of {traced:,}" if met < traced else "all " * (traced > 1) + f"{traced:,}"
    said = f"in {share} traced iteration{'s' * (traced > 1)}"
    said += f", from iteration {first:,}" if first > 1 else ""
    return said + (f"; same graph in {finding.repeated:,} more" if finding.repeated else "")
