"""What watching costs: processor time of `train` under gradsan over that of the bare run, in turns.

make llm-cost
make llm-cost LLM="'grpo steps=500'" ROUNDS=3
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from forked import bare, warm_up, watched

CASES = ("sft steps=500", "sft lora reentrant steps=500", "grpo steps=500", "sft compiled steps=500")
MODES = ("adaptive",)


def main() -> None:
    rounds = int(os.environ.get("ROUNDS", "3"))
    warm_up()
    print("| program | mode | bare, s | watched, s | ratio | bare against bare |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in sys.argv[1:] or CASES:
            for mode in MODES:
                runs = [
                    (bare(case).cpu, watched(case, mode, Path(folder) / "report.json").cpu)
                    for _ in range(rounds)
                ]
                plain, seen = (statistics.median(times) for times in zip(*runs, strict=True))
                spread = max(r[0] for r in runs) / min(r[0] for r in runs)
                row = f"{plain:.2f} | {seen:.2f} | {seen / plain:.3f} | {spread:.3f}"
                print(f"| {case} | {mode} | {row} |", flush=True)


if __name__ == "__main__":
    main()
