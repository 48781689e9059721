"""What watching two ranks costs: bare torchrun and gradsan in turns, by the time that the training itself takes.

    make bench-distributed                                    # some minutes on two idle cores
    make bench-distributed DISTRIBUTED="--updates 2000 --rounds 5"

Each turn is a job of two ranks of its own (gloo, one thread each), started as people start it. Starting Python and
torch is left out: rank 0 times its updates and prints the seconds. A figure is the median ratio of neighbouring turns.
Also measured: what 64 workers that never import torch cost to start, and how much memory each of them has.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRAIN = """
import sys, time, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(),
                          torch.nn.Linear(64, 4))
model = DistributedDataParallel(net)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
def update():
    x = torch.randn(256, 8)
    loss = (model(x) - x[:, :4]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
update()
began = time.perf_counter()
for _ in range(int(sys.argv[1])):
    update()
if dist.get_rank() == 0:
    print("seconds", time.perf_counter() - began, flush=True)
dist.destroy_process_group()
"""
WORKERS = """
import multiprocessing, sys, time
def idle(_):
    # Not `ru_maxrss`: that begins with what the parent had before `exec`.
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
if __name__ == "__main__":
    began = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(int(sys.argv[1])) as pool:
        memory = pool.map(idle, range(int(sys.argv[1])), chunksize=1)
    print("seconds", time.perf_counter() - began, "memory", sum(memory) / len(memory) / 1024, flush=True)
"""
BIN = Path(sys.executable).parent
JOB = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]


def measured(command: list[str], folder: str) -> list[float]:
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    seen = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    line = next((line for line in seen.stdout.splitlines() if line.startswith("seconds")), "")
    if not line:
        raise SystemExit(f"{command} failed:\n{seen.stderr}")
    return [float(word) for word in line.split() if word[0].isdigit()]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--updates", type=int, default=5_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--workers", type=int, default=64)
    given = options.parse_args()
    python, gradsan = str(BIN / "python"), [str(BIN / "gradsan"), "run", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(TRAIN, encoding="utf-8")
        Path(folder, "workers.py").write_text(WORKERS, encoding="utf-8")
        ratios, began = [], time.monotonic()
        for _ in range(given.rounds if given.updates else 0):
            bare = measured([python, *JOB, "train.py", str(given.updates)], folder)[0]
            watched = measured([*gradsan, *JOB, "train.py", str(given.updates)], folder)[0]
            ratios.append(watched / bare)
            print(
                f"two ranks: bare {bare:.2f} s, adaptive {watched:.2f} s, ratio {watched / bare:.3f}",
                flush=True,
            )
        if ratios:
            print(f"two ranks, {given.updates:,} updates: median ratio {statistics.median(ratios):.3f}")
        pairs = []
        for _ in range(given.rounds if given.workers else 0):
            bare_pool = measured([python, "workers.py", str(given.workers)], folder)
            pool = measured([*gradsan, "workers.py", str(given.workers)], folder)
            pairs.append((pool[0] / bare_pool[0], pool[1] - bare_pool[1]))
        if pairs:
            start, memory = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(f"{given.workers} idle workers: median ratio {start:.3f} to start, {memory:+.2f} MB each")
        print(f"measured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
