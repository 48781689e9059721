"""TRL's trainers bare and under gradsan: the same weights, and no finding.

make llm
make llm LLM="grpo dpo"      # those whose name holds one of these
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CASES = (
    "sft", "sft lora reentrant", "sft accumulated bf16", "dpo", "dpo lora", "dpo accumulated checkpointed", "reward",
    "reward lora accumulated", "grpo", "grpo accumulated", "grpo lora checkpointed", "rloo", "rloo lora accumulated",
)  # fmt: skip
MODES = ("adaptive", "deep")


def weights(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE)
    lines = [line for line in done.stdout.splitlines() if line.startswith("weights")]
    if not lines:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return lines[-1]


def watched(case: str, mode: str, report: Path) -> tuple[str, list[str], int]:
    gradsan = str(Path(sys.executable).with_name("gradsan"))
    options = ["run", "--mode", mode, "--fail-on", "never", "--include", "trl", "--format", "json"]
    seen = weights([gradsan, *options, "--output", str(report), "program.py", *case.split()])
    told = json.loads(report.read_text(encoding="utf-8"))
    places = [
        f"{f['rule']} {(f['culprit'] or {}).get('file')}:{(f['culprit'] or {}).get('line')}"
        for f in told["findings"]
    ]
    return seen, places, len(told["faults"])


def main() -> int:
    wrong = 0
    chosen = [c for c in CASES if not sys.argv[1:] or any(part in c for part in sys.argv[1:])]
    print("| program | mode | same weights | findings | faults |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            bare = weights([sys.executable, "-W", "ignore", "program.py", *case.split()])
            for mode in MODES:
                seen, findings, faults = watched(case, mode, Path(folder) / "report.json")
                wrong += seen != bare or bool(findings) or bool(faults)
                same = "yes" if seen == bare else "**no**"
                print(
                    f"| {case} | {mode} | {same} | {'; '.join(findings) or 'none'} | {faults} |", flush=True
                )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
