"""Who said what is to be done, where a helper runs the function that it is given: `tree_map(torch.detach, outputs)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsan.judge.lines.source import words_at
from gradsan.record.events import NOWHERE, Op, Site

if TYPE_CHECKING:
    from gradsan.judge.history import History

CALLED = {"detach", "item", "tolist", "numpy", "argmax", "round", "sign"}  # as the script writes them, too


def named_by_caller(history: History, op: Op) -> Site:
    """The innermost caller whose line names the operation that the line itself does not name."""
    if op.name not in CALLED:
        return NOWHERE
    for up, site in enumerate((op.site, *history.chains.get(op.chain, ()))):
        seen = history.sites.get(site)
        if seen is not None and op.name in words_at(seen.file, seen.line):
            return site if up else NOWHERE
    return NOWHERE
