"""The checking process: one request per line in, one verdict per line out."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    import torch

    from gradsan.learn.catalogue import find
    from gradsan.learn.judge import judge

    torch.set_num_threads(1)  # the tensors are tiny: more threads only make the learner's machine busy
    out = sys.stdout
    for line in sys.stdin:
        name, path = json.loads(line)
        print(judge(find(name), Path(path)).to_json(), file=out, flush=True)


if __name__ == "__main__":
    main()
