"""Large programs, bare and under gradsan: how much longer they take, and how much more memory.

python benchmarks/load.py [NAME ...] [--updates N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LOADS = {
    "3,000 parameter tensors": """
        nets = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(1500))
        opt = torch.optim.SGD(nets.parameters(), lr=1e-3)
        for _ in range(20):
            x = torch.randn(2, 4)
            loss = sum(net(x).pow(2).mean() for net in nets)
            opt.zero_grad(); loss.backward(); opt.step()
        """,
    "a graph of 200,000 nodes": """
        w = torch.nn.Parameter(torch.ones(1))
        opt = torch.optim.SGD([w], lr=1e-9)
        for _ in range(3):
            x = w
            for _ in range(100_000):
                x = x * 1.0 + 1e-9
            opt.zero_grad(); x.sum().backward(); opt.step()
        """,
    "64 threads": """
        import threading
        def train():
            net = torch.nn.Linear(4, 4)
            opt = torch.optim.SGD(net.parameters(), lr=1e-3)
            for _ in range(40):
                opt.zero_grad(); net(torch.randn(2, 4)).pow(2).mean().backward(); opt.step()
        threads = [threading.Thread(target=train) for _ in range(64)]
        for t in threads: t.start()
        for t in threads: t.join()
        """,
    "updates": """
        net = torch.nn.Linear(4, 4)
        opt = torch.optim.SGD(net.parameters(), lr=1e-3)
        x = torch.randn(2, 4)
        for _ in range(int(sys.argv[1])):
            opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()
        """,
}
HEAD = "import sys\nimport torch\ntorch.set_num_threads(1)\n"


def run(command: list[str]) -> tuple[float, float, str]:
    """Seconds of processor time, megabytes, and what it wrote to stderr."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        text = errors.read()
    if status:
        sys.exit(f"{command} ended with {status}:\n{text}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--updates", type=int, default=1_000_000)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gradsan = str(Path(sys.executable).with_name("gradsan"))
    print("| load | bare | adaptive | deep |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "load.py"
        for name, body in LOADS.items():
            if given.names and not any(part in name for part in given.names):
                continue
            lines = body.splitlines()
            script.write_text(HEAD + "\n".join(line.removeprefix(" " * 8) for line in lines))
            words, cells = [str(script), str(given.updates)], []
            commands = [[sys.executable]] + [[gradsan, "run", "--mode", m] for m in ("adaptive", "deep")]
            for command in commands:
                if name == "updates" and "deep" in command:
                    cells.append("not measured")
                    continue
                seconds, megabytes, text = run([*command, *words])
                assert "gradsan fault" not in text, text
                cells.append(f"{seconds:.1f} s, {megabytes:.0f} MB")
            shown = f"{given.updates:,} updates" if name == "updates" else name
            print(f"| {shown} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
