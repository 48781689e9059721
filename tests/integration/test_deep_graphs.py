"""PyTorch frees a node that Python has looked at by recursion: a long chain of them would end the process."""

from __future__ import annotations

from sandbox import Sandbox

LONG = """
    import torch
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=1e-9)
    for _ in range(2):
        x = weight
        for _ in range(60_000):
            x = x + 1e-9
        optimizer.zero_grad()
        x.sum().backward()
        optimizer.step()
    print("done")
"""


def test_a_graph_of_any_depth_is_freed_and_the_rest_is_said(sandbox: Sandbox) -> None:
    done = sandbox.gradsan("run", sandbox.write("long.py", LONG))
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "15,000 operations in a row" in " ".join(done.stderr.split())
