"""Are the bugs of tests/programs/unseen real? PyTorch alone answers; gradsan is not loaded.

    make unseen-check
    python benchmarks/unseen_check.py 2

A bug is real where the program raises and its twin does not, where the gradients that the optimizers consume or
the weights at the end differ from the twin's, or where it keeps more results with their graphs alive. A number
checks the pairs of that round only.
"""

from __future__ import annotations

import contextlib
import gc
import io
import sys
import types
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from unseen_pairs import pairs

MANY = 20  # graphs kept alive by a list that grows, not by a last loss that is still in scope


@dataclass
class Run:
    error: str = ""
    consumed: list[tuple[float | None, ...]] = field(default_factory=list)
    weights: float = 0.0
    alive: int = 0
    nodes: int = 0  # of all the graphs that are alive: one result can keep a long one


def run(path: Path) -> Run:
    result = Run()

    def consume(optimizer: torch.optim.Optimizer, *_: Any) -> None:
        owned = [p for group in optimizer.param_groups for p in group["params"]]
        sums = tuple(None if p.grad is None else p.grad.double().abs().sum().item() for p in owned)
        result.consumed.append(sums)

    hook = register_optimizer_step_pre_hook(consume)
    module = types.ModuleType("__main__")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        except Exception as error:
            result.error = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    hook.remove()
    torch.set_grad_enabled(True)  # one program leaves gradients off: that is its bug
    gc.collect()
    found = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]  # isinstance wakes proxies
    tensors = [x for x in found if x.requires_grad]
    result.alive = sum(not x.is_leaf for x in tensors)
    result.nodes = count_nodes(tensors)
    result.weights = sum(x.detach().double().abs().sum().item() for x in tensors if x.is_leaf)
    return result


def count_nodes(tensors: list[torch.Tensor]) -> int:
    seen: set[Any] = set()
    waiting = [x.grad_fn for x in tensors if x.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting.extend(following for following, _ in node.next_functions)
    return len(seen)


def difference(bug: Run, twin: Run) -> str:
    if bug.error:
        return f"raises {bug.error[:70]}"
    for step, (mine, theirs) in enumerate(zip(bug.consumed, twin.consumed, strict=False)):
        if mine != theirs:
            return f"another gradient at step {step} of {len(twin.consumed)}"
    if bug.alive > twin.alive + MANY:
        return f"{bug.alive} graphs alive, not {twin.alive}"
    if bug.nodes > 10 * twin.nodes + MANY:
        return f"graphs of {bug.nodes} operations alive, not {twin.nodes}"
    if not twin.consumed and bug.weights != twin.weights:
        return "other weights at the end"
    return ""


def main() -> int:
    torch.set_num_threads(1)
    unreal = 0
    rounds = {int(number) for number in sys.argv[1:]}
    chosen = [pair for pair in pairs() if not rounds or pair.round in rounds]
    for pair in chosen:
        bug, twin = run(pair.bug), run(pair.twin)
        said = f"TWIN RAISES {twin.error}" if twin.error else difference(bug, twin) or "NO DIFFERENCE"
        unreal += said.startswith(("TWIN", "NO"))
        print(f"{pair.name}: {said}", flush=True)
    print(f"{unreal} of {len(chosen)} pairs are not what they should be")
    return int(unreal > 0)


if __name__ == "__main__":
    sys.exit(main())
