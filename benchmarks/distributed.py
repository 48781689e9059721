"""What many processes cost: two ranks under bare torchrun and under gradsan, and idle environment workers.

    make bench-distributed [DISTRIBUTED="--updates 4000 --blocks 40 --rounds 5"]

The two jobs run at the same time and train in turns, block by block: what else the machine does hits both alike. A
block is measured in processor time of both ranks, the threads that exchange included. The first block holds the deep
iterations at the start and is told apart. The bare job is measured against a second bare one, too: that is the noise.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TRAIN = """
import os, sys, time, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
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
name = f"{sys.argv[1]}-{dist.get_rank()}"
update()
with open(f"go-{name}") as go, open(f"told-{name}", "w", buffering=1) as told:
    for line in go:
        began = time.process_time()
        for _ in range(int(line)):
            update()
        told.write(f"{time.process_time() - began}\\n")
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
        pool.close()
        pool.join()
    import resource
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("seconds", used.ru_utime + used.ru_stime, "memory", sum(memory) / len(memory) / 1024, flush=True)
"""
BIN = Path(sys.executable).parent
RANKS = 2
JOB = ["-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
PYTHON, GRADSAN = [str(BIN / "python")], [str(BIN / "gradsan"), "run", "--quiet"]
KINDS = {"bare": PYTHON, "watched": GRADSAN, "bare again": PYTHON}


class Job:
    """Two ranks that train a block whenever they are told to."""

    def __init__(self, kind: str, folder: str, number: int) -> None:
        name = kind.replace(" ", "-")
        self._pipes = [
            (Path(folder, f"go-{name}-{r}"), Path(folder, f"told-{name}-{r}")) for r in range(RANKS)
        ]
        for pipes in self._pipes:
            for pipe in pipes:
                os.mkfifo(pipe)
        port = ["--master-port", str(29_600 + number)]
        env = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        command = [*KINDS[kind], *JOB, *port, "train.py", name]
        self._process = subprocess.Popen(command, cwd=folder, env=env)
        self._open = [(go.open("w", buffering=1), told.open()) for go, told in self._pipes]

    def block(self, updates: int) -> float:
        for go, _ in self._open:
            go.write(f"{updates}\n")
        return sum(float(told.readline()) for _, told in self._open)

    def end(self) -> None:
        for go, told in self._open:
            go.close()
            told.close()
        if self._process.wait() != 0:
            raise SystemExit(f"a job ended with status {self._process.returncode}")


@contextlib.contextmanager
def jobs(folder: str) -> Iterator[dict[str, Job]]:
    running = {kind: Job(kind, folder, number) for number, kind in enumerate(KINDS)}
    yield running
    for job in running.values():
        job.end()


def measure_ranks(folder: str, updates: int, blocks: int) -> None:
    Path(folder, "train.py").write_text(TRAIN, encoding="utf-8")
    with jobs(folder) as running:
        seconds = [
            {kind: job.block(updates // blocks) for kind, job in running.items()} for _ in range(blocks)
        ]
    for kind in ("watched", "bare again"):
        ratios = [block[kind] / block["bare"] for block in seconds]
        low, middle, high = statistics.quantiles(ratios[1:], n=4)
        total = sum(block[kind] for block in seconds) / sum(block["bare"] for block in seconds)
        print(
            f"two ranks, {updates:,} updates, {kind} against bare: {middle:.3f} (quartiles {low:.3f}, {high:.3f}) "
            f"after the first {updates // blocks} updates, {ratios[0]:.2f} in those, {total:.3f} in all",
            flush=True,
        )


def measure_workers(folder: str, workers: int, rounds: int) -> None:
    Path(folder, "workers.py").write_text(WORKERS, encoding="utf-8")
    pairs = []
    for _ in range(rounds):
        (bare, small), (watched, large) = (
            measured([*command, "workers.py", str(workers)], folder) for command in (PYTHON, GRADSAN)
        )
        pairs.append((watched / bare, large - small, bare))
    start, memory, seconds = (statistics.median(column) for column in zip(*pairs, strict=True))
    spread = ", ".join(f"{ratio:.3f}" for ratio, *_ in pairs)
    print(
        f"{workers} idle workers: {start:.3f} of bare to start ({spread}; {seconds:.1f} s of processor time), "
        f"{memory:+.2f} MB each"
    )


def measured(command: list[str], folder: str) -> list[float]:
    seen = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    line = next((line for line in seen.stdout.splitlines() if line.startswith("seconds")), "")
    if not line:
        raise SystemExit(f"{command} failed:\n{seen.stderr}")
    return [float(word) for word in line.split() if word[0].isdigit()]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--updates", type=int, default=4_000)
    options.add_argument("--blocks", type=int, default=40)
    options.add_argument("--workers", type=int, default=64)
    options.add_argument("--rounds", type=int, default=5)
    given, began = options.parse_args(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if given.updates:
            measure_ranks(folder, given.updates, given.blocks)
        if given.workers and given.rounds:
            measure_workers(folder, given.workers, given.rounds)
    print(f"measured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
