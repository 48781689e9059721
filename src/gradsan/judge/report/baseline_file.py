"""The file that a baseline is kept in: one line per finding, sorted, made to be read and compared."""

from __future__ import annotations

import io
import json
import os
import tokenize
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gradsan.judge.lines.source import real_path
from gradsan.judge.report.findings import Finding

VERSION = 1
HEAD = "gradsan-baseline"
INSTALLED = "site-packages"
AGAIN = "write it again with --write-baseline"


class BaselineError(Exception):
    """The message is one sentence for the user."""


@dataclass(frozen=True, order=True, slots=True)
class KnownFinding:
    """What a finding is recognised by. `file` is relative to the folder of the baseline."""

    file: str
    function: str
    rule: str
    code: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def entry_of(finding: Finding, folder: Path) -> KnownFinding:
    where = finding.culprit
    if where is None:
        return KnownFinding("", "", finding.rule, "")
    return KnownFinding(
        below(folder, real_path(where.file)), where.function, finding.rule, code_only(where.code)
    )


def below(folder: Path, file: str) -> str:
    """The same on every machine: relative to the folder, or to where packages are installed."""
    if file.startswith("<"):
        return file
    parts = Path(os.path.realpath(file)).parts
    home = Path(os.path.realpath(folder)).parts
    if INSTALLED in parts:
        return "/".join(parts[parts.index(INSTALLED) :])
    return "/".join(parts[len(home) :] if parts[: len(home)] == home else ["", *parts[1:]])


def code_only(line: str) -> str:
    """Without its comment and its indentation, and with single spaces."""
    code = line.strip()
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                code = code[: token.start[1]]
                break
    except (tokenize.TokenError, SyntaxError):  # a line out of a longer statement
        pass
    return " ".join(code.split())


def contents(entries: Counter[KnownFinding]) -> str:
    lines = []
    for entry, count in sorted(entries.items()):
        more = {"count": count} if count > 1 else {}
        lines.append("    " + json.dumps({**entry.as_dict(), **more}))
    listed = ",\n".join(lines)
    return f'{{\n  "{HEAD}": {VERSION},\n  "findings": [\n{listed}\n  ]\n}}\n'


def read(path: str) -> Counter[KnownFinding]:
    try:
        data = json.loads(Path(path).read_bytes().decode())
    except OSError as error:
        raise BaselineError(f"cannot read the baseline {path!r}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path!r} is no gradsan baseline, or it is damaged: {error}") from error
    if not isinstance(data, dict) or HEAD not in data:
        raise BaselineError(f"{path!r} is no gradsan baseline")
    if data[HEAD] != VERSION:
        raise BaselineError(
            f"the baseline {path!r} is of version {data[HEAD]!r}, and this gradsan reads {VERSION}; {AGAIN}"
        )
    return _entries(path, data.get("findings"))


def _entries(path: str, listed: Any) -> Counter[KnownFinding]:
    found: Counter[KnownFinding] = Counter()
    for number, given in enumerate(listed if isinstance(listed, list) else [None], 1):
        fields = [given.get(key) for key in KnownFinding.__slots__] if isinstance(given, dict) else [None]
        count = given.get("count", 1) if isinstance(given, dict) else 0
        whole = type(count) is int and count > 0
        if not all(isinstance(text, str) for text in fields) or not whole:
            raise BaselineError(f"the baseline {path!r} is damaged at its finding {number}; {AGAIN}")
        found[KnownFinding(*fields)] += count
    return found
