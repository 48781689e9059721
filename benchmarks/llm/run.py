"""TRL's trainers, transformers' and a loop with accelerate, bare and under gradsan: the same weights, and no finding.

make llm
make llm LLM="grpo dpo"      # those whose name holds one of these
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from forked import Ran, bare, warm_up, watched

CASES = (
    "sft", "sft lora reentrant", "sft lora checkpointed accumulated", "sft accumulated bf16", "sft compiled",
    "dpo", "dpo lora", "dpo accumulated checkpointed", "dpo lora reentrant accumulated bf16", "dpo bf16",
    "reward", "reward lora accumulated", "reward reentrant bf16", "reward lora checkpointed",
    "grpo", "grpo accumulated", "grpo lora checkpointed", "grpo lora reentrant accumulated", "grpo bf16", "grpo reused",
    "rloo", "rloo lora accumulated", "rloo reentrant", "rloo bf16 checkpointed",
    "trainer", "trainer lora reentrant", "trainer accumulated bf16", "trainer checkpointed", "trainer compiled",
    "accelerate", "accelerate accumulated", "accelerate lora bf16", "tensordict",
)  # fmt: skip
MODES = ("adaptive", "deep")


def findings(report: Path) -> tuple[list[str], int]:
    told = json.loads(report.read_text(encoding="utf-8"))
    found = [(f["rule"], f["culprit"] or {}) for f in told["findings"]]
    return [f"{rule} {Path(c.get('file', '?')).name}:{c.get('line')}" for rule, c in found], len(
        told["faults"]
    )


def main() -> int:
    wrong = 0
    chosen = [c for c in CASES if not sys.argv[1:] or any(part in c for part in sys.argv[1:])]
    warm_up()
    print("| program | mode | same weights | findings | faults |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        for case in chosen:
            plain = bare(case)
            for mode in MODES:
                seen: Ran = watched(case, mode, report)
                found, faults = findings(report)
                wrong += seen.weights != plain.weights or bool(found) or bool(faults)
                same = "yes" if seen.weights == plain.weights else "**no**"
                print(f"| {case} | {mode} | {same} | {'; '.join(found) or 'none'} | {faults} |", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
