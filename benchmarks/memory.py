"""What watching costs beside time: memory over a long run, peak memory, size of the trace, start-up.

make bench-memory                  # 200,000 updates
make bench-memory UPDATES=1000000
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workloads import WORKLOADS

UPDATES = int(os.environ.get("UPDATES", "200000"))
HERE = Path(__file__).parent
ROUNDS = 7  # of the start-up
LONG = """
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
PEAK = """
import resource, sys, torch
sys.path.insert(0, {here!r})
from workloads import WORKLOADS
torch.set_num_threads(1)
update = WORKLOADS[{name!r}]()
for _ in range(300):
    update()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
# As after the first run of an installed package: the bytecode is there.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def lines_of(script: Path, *watching: str) -> list[str]:
    command = [
        sys.executable,
        *(("-m", "gradsan", "run", "--quiet", *watching) if watching else ()),
        str(script),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return result.stdout.splitlines()


def long_run(folder: Path) -> None:
    script, trace = folder / "long.py", folder / "long.trace"
    script.write_text(LONG.format(updates=UPDATES))
    bare = [[int(n) for n in line.split()] for line in lines_of(script)]
    watched = [[int(n) for n in line.split()] for line in lines_of(script, "--trace", str(trace))]
    print("| update | bare, KiB | adaptive, KiB |\n|---|---|---|")
    for (update, plain), (_, ours) in zip(bare, watched, strict=True):
        print(f"| {update:,} | {plain} | {ours} |")
    growth = (watched[-1][1] - watched[0][1]) - (bare[-1][1] - bare[0][1])
    print(f"\ngrowth beyond the bare script between update 1,000 and {UPDATES:,}: {growth} KiB")
    print(f"trace after {UPDATES:,} updates: {trace.stat().st_size / 1e6:.2f} MB\n")


def peaks(folder: Path) -> None:
    print("| workload, 300 updates | peak, bare, MB | peak, adaptive, MB | allowed, MB |\n|---|---|---|---|")
    for name in WORKLOADS:
        script = folder / "peak.py"
        script.write_text(PEAK.format(here=str(HERE), name=name))
        bare, ours = (int(lines_of(script, *mode)[-1]) / 1024 for mode in ((), ("--mode", "adaptive")))
        print(f"| {name} | {bare:.0f} | {ours:.0f} | {1.05 * bare + 50:.0f} |", flush=True)


def start_up(folder: Path) -> None:
    script = folder / "empty.py"
    script.write_text("import torch\n")
    added = []
    for _ in range(ROUNDS + 1):
        times = []
        for mode in ((), ("--mode", "adaptive")):
            began = time.perf_counter()
            lines_of(script, *mode)
            times.append(time.perf_counter() - began)
        added.append(times[1] - times[0])
    print(f"\nstart-up added to a script that imports torch: {statistics.median(added[1:]):.2f} s")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        start_up(Path(folder))
        peaks(Path(folder))
        long_run(Path(folder))


if __name__ == "__main__":
    main()
