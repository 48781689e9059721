"""What other tools cost on the smallest update, in turns with the bare one, in processor time of one process.

    make bench-alternatives

prints the second table of docs/alternatives.md; gradsan itself is measured by `make bench`. Each tool is used as its
documentation shows it: `wandb.watch` logs gradients and parameters at every update, and as rarely as it does by
default; torchlens looks at one forward pass.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import torch
from torch import nn
from workloads import mlp

Update = Callable[[], None]


def update_of(network: nn.Module, extra: Update = lambda: None) -> Update:
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    states, targets = torch.randn(64, 4), torch.randn(64, 2)

    def update() -> None:
        loss = (network(states) - targets).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        extra()

    return update


def anomaly() -> Update:
    update = update_of(mlp(4, 64, 64, 2))

    def watched() -> None:
        with torch.autograd.set_detect_anomaly(True):
            update()

    return watched


def weights_and_biases(**how: int) -> Update:
    import wandb

    network = mlp(4, 64, 64, 2)
    run = wandb.init(mode="offline", dir=tempfile.mkdtemp(), settings=wandb.Settings(silent=True))
    wandb.watch(network, log="all", **how)
    return update_of(network, lambda: run.log({"update": 1}))


def torchlens() -> Update:
    import torchlens

    network, states = mlp(4, 64, 64, 2), torch.randn(64, 4)

    def look() -> None:
        torchlens.trace(network, states)

    return look


def bare_forward() -> Update:
    network, states = mlp(4, 64, 64, 2), torch.randn(64, 4)

    def forward() -> None:
        network(states)

    return forward


PER_TURN = 20
TOOLS: dict[str, tuple[Callable[[], Update], str, int]] = {
    "PyTorch's anomaly mode": (anomaly, "update", PER_TURN),
    "wandb.watch every 1,000 updates, `run.log` in each": (
        lambda: weights_and_biases(log_freq=1000),
        "update",
        PER_TURN,
    ),
    "wandb.watch and `run.log` in every update": (lambda: weights_and_biases(log_freq=1), "update", PER_TURN),
    "torchlens, one forward pass": (torchlens, "forward", 1),
}


def turn(update: Update, times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        update()
    return (time.process_time() - start) / times


def measure(make: Callable[[], Update], base: Update, times: int, rounds: int) -> tuple[float, float, float]:
    tool = make()
    turn(base, times), turn(tool, times)
    ratios = [turn(tool, times) / turn(base, max(times, PER_TURN)) for _ in range(rounds)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return low, middle, high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="a part of the tool's name")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["WANDB_MODE"] = "offline"
    bases = {"update": update_of(mlp(4, 64, 64, 2)), "forward": bare_forward()}
    print("| tool | processor time, bare = 1 (quartiles) |\n|---|---|")
    for name, (make, base, times) in TOOLS.items():
        if arguments.only not in name:
            continue
        with contextlib.suppress(ModuleNotFoundError):
            low, middle, high = measure(make, bases[base], times, arguments.rounds)
            print(f"| {name} | {middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
