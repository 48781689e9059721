"""What watching costs: processor time of `train` under gradsan over that of the bare run, in turns of a fraction of a
second. The last column is a second bare run over the first, in the same turns: the noise.

make llm-cost
make llm-cost LLM="'grpo steps=500'" ROUNDS=3
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from forked import in_turns, warm_up

CASES = ("sft steps=500", "sft lora reentrant steps=500", "grpo steps=500", "sft compiled steps=500")


def main() -> None:
    rounds = int(os.environ.get("ROUNDS", "3"))
    warm_up()
    print(
        "| program | bare, s | watched, s | ratio (each round) | bare against bare |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for case in sys.argv[1:] or CASES:
            runs = [in_turns(case, "adaptive", Path(folder) / "report.json") for _ in range(rounds)]
            print(row(case, [(one.cpu, seen.cpu, two.cpu) for one, seen, two in runs]), flush=True)


def row(case: str, times: list[tuple[float, float, float]]) -> str:
    """The two bare runs of a round measure the same thing: watching is held against their mean."""
    bare = [(one + two) / 2 for one, _, two in times]
    ratios = [seen / plain for plain, (_, seen, _) in zip(bare, times, strict=True)]
    noise = [two / one for one, _, two in times]
    each = " ".join(f"{ratio:.3f}" for ratio in ratios)
    plain, watched = statistics.median(bare), statistics.median(seen for _, seen, _ in times)
    return (
        f"| {case} | {plain:.2f} | {watched:.2f} | **{statistics.median(ratios):.3f}** ({each}) | "
        f"{statistics.median(noise):.3f} ({min(noise):.3f}…{max(noise):.3f}) |"
    )


if __name__ == "__main__":
    main()
