"""Memory and trace size over a long run: is it flat, and how large does the trace get?

make bench-memory
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

UPDATES = int(os.environ.get("UPDATES", "200000"))
SCRIPT = """
import os, torch
torch.set_num_threads(1)
net = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
s, y = torch.randn(8, 4), torch.randn(8, 2)
page = os.sysconf("SC_PAGE_SIZE")
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * page // 1024
for update in range(1, {updates} + 1):
    loss = (net(s) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if update in (1000, {updates} // 4, {updates} // 2, {updates}):
        print(update, rss(), flush=True)
"""


def run(command: list[str]) -> list[tuple[int, int]]:
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return [(int(a), int(b)) for a, b in (line.split() for line in result.stdout.splitlines())]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script, trace = Path(folder, "long.py"), Path(folder, "long.trace")
        script.write_text(SCRIPT.format(updates=UPDATES))
        bare = run([sys.executable, str(script)])
        watched = run([sys.executable, "-m", "gradsan", "run", "--quiet", "--trace", str(trace), str(script)])
        size = trace.stat().st_size
    print("| update | bare, KiB | adaptive, KiB |\n|---|---|---|")
    for (update, plain), (_, ours) in zip(bare, watched, strict=True):
        print(f"| {update} | {plain} | {ours} |")
    print(f"trace after {UPDATES} updates: {size / 1e6:.2f} MB")
    growth = (watched[-1][1] - watched[0][1]) - (bare[-1][1] - bare[0][1])
    print(f"growth beyond the bare script between update 1,000 and {UPDATES}: {growth} KiB")


if __name__ == "__main__":
    main()
