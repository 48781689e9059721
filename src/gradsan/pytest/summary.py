"""What all tests together have to say about comments and the baseline, also where they ran in other processes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from gradsan.pytest import locks
from gradsan.pytest.defaults import baseline_of

if TYPE_CHECKING:
    from gradsan.judge.report.baseline import Baseline
    from gradsan.judge.report.findings import Report

Fields = list[str]  # those of an entry of the baseline
IDLE = "silenced-nothing"


def facts(report: Report, baseline: Baseline | None) -> dict[str, Any]:
    """Of one test; lists and strings only, so that it can be sent."""
    places = [(p, f"{p['file']}:{p['line']}: {p['message']}") for p in report.suppression_problems]
    used = [(s["comment"], s) for s in report.suppressed]
    found: dict[str, Any] = {
        "mistaken": [text for p, text in places if p["kind"] != IDLE],
        "idle": [text for p, text in places if p["kind"] == IDLE],
        "used": [f"{at['file']}:{at['line']}: `{s['name']}`" for at, s in used],
        "silenced": [f"{s['rule']} {s['culprit'] and list(s['culprit'].values())}" for _, s in used],
        "known": [],
        "gone": [],
        "present": [],
    }
    if baseline is not None:
        found["known"] = [_fields(baseline.entry(f).as_dict()) for f in report.known]
        found["present"] = found["known"] + [_fields(baseline.entry(f).as_dict()) for f in report.findings]
        found["gone"] = [_fields(entry) for entry in (report.baseline or {}).get("gone", [])]
    return found


def _fields(entry: dict[str, str]) -> Fields:
    return list(entry.values())


class Collector:
    """Gets the reports of all tests, in the process that pytest was called in."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._all: dict[str, set[Any]] = {}
        self._present: Counter[tuple[str, ...]] = Counter()
        self._watched = False
        self.locked = ""  # what was written of the lock, in words

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told: dict[str, Any] | None = getattr(report, "gradsan", None)
        if told is None:
            return
        self._watched = True
        for key, values in told.items():
            self._all.setdefault(key, set()).update(tuple(v) if isinstance(v, list) else v for v in values)
        self._present |= Counter(tuple(entry) for entry in told["present"])

    def lines(self) -> list[str]:
        everything = {key: sorted(values) for key, values in self._all.items()}
        used = self._all.get("used", set())
        idle = [text for text in everything.get("idle", []) if not text.startswith(tuple(used) or ("\0",))]
        lines = [f"comment {text}" for text in [*everything.get("mistaken", []), *idle]]
        lines += [f"baseline {_sentence(entry)} did not occur" for entry in self._gone()]
        if silenced := everything.get("silenced"):
            lines.append(f"{_several(len(silenced))} silenced by comments")
        if known := everything.get("known"):
            lines.append(f"{_several(len(known))} known from the baseline")
        if self.locked:
            lines.append(self.locked)
        return lines

    def _gone(self) -> list[tuple[str, ...]]:
        return sorted(self._all.get("gone", set()) - self._all.get("known", set()))

    def pytest_sessionfinish(self) -> None:
        target = self._config.getoption("--gradsan-write-baseline")
        if not self._watched or hasattr(self._config, "workerinput"):
            return
        if target:
            self._write(target)
        if self._config.getoption("--gradsan-write-lock"):
            self.locked = locks.write(self._config, sorted(self._all.get("lock", set())))

    def _write(self, target: str) -> None:
        from gradsan.judge.report.baseline_file import KnownFinding, contents
        from gradsan.render.output import OutputError, OutputFile

        present = Counter({KnownFinding(*fields): count for fields, count in self._present.items()})
        old = baseline_of(self._config)
        try:
            file = OutputFile(target)
            if old is not None and old.path.resolve() == file.path:
                gone = {KnownFinding(*fields) for fields in self._gone()}
                present |= Counter({e: n for e, n in old.entries.items() if e not in gone})
            file.write(contents(present))
        except OutputError as error:
            raise pytest.UsageError(str(error)) from None


def _sentence(entry: tuple[str, ...]) -> str:
    file, function, rule, code = entry
    return f"{rule} {file} in {function}: `{code}`"


def _several(number: int) -> str:
    return "1 finding is" if number == 1 else f"{number} findings are"
