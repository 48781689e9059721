"""The checking process: says that torch is loaded, then one request per line in, one verdict per line out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gradsan.learn.catalogue import find
from gradsan.learn.judge import judge

READY = "ready"


def main() -> None:
    out = sys.stdout
    print(READY, file=out, flush=True)
    for line in sys.stdin:
        name, path = json.loads(line)
        print(judge(find(name), Path(path)).to_json(), file=out, flush=True)


if __name__ == "__main__":
    main()
