"""gradsan changes nothing: the same weights, the same random states, and its own faults stay its own."""

from __future__ import annotations

import json

from sandbox import CLEAN, Sandbox

TRAINING = """
import copy, hashlib, random
import numpy as np
import torch
from torch import nn

random.seed(1); np.random.seed(2); torch.manual_seed(3)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
old = nn.Parameter(torch.zeros(3))
for step in range(60):
    s, s2 = torch.randn(16, 4), torch.from_numpy(np.random.randn(16, 4)).float()
    a = torch.distributions.Categorical(logits=q(s)).sample()
    r = torch.tensor([random.random() for _ in range(16)])
    with torch.no_grad():
        y = r + 0.9 * target(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(q.parameters(), 1.0)
    opt.step()
    if step % 10 == 0:
        target.load_state_dict(q.state_dict())

digest = hashlib.sha256()
for tensor in (*q.state_dict().values(), *target.state_dict().values(), torch.get_rng_state()):
    digest.update(tensor.numpy().tobytes())
for state in opt.state_dict()["state"].values():
    digest.update(state["exp_avg_sq"].numpy().tobytes())
digest.update(repr((random.getstate(), np.random.get_state()[1].tolist())).encode())
print(digest.hexdigest())
"""

BREAK = """
import gradsan.observe.graphs.backward as tap
def broken(*args):
    raise OSError("a fault on purpose")
tap.BackwardTap._before = broken
"""


def test_weights_and_random_states_are_the_same_bit_for_bit_in_every_mode(sandbox: Sandbox) -> None:
    sandbox.write("train.py", TRAINING)
    expected = sandbox.python("train.py").stdout
    assert len(expected) == 65
    for mode in ("deep", "light", "adaptive"):
        seen = sandbox.gradsan("run", "--mode", mode, "--trace", "t", "train.py")
        assert (seen.stdout, seen.returncode) == (expected, 0), mode
        assert "gradsan fault" not in seen.stderr, seen.stderr


def test_a_fault_inside_a_tap_is_contained_and_reported(sandbox: Sandbox) -> None:
    sandbox.write("train.py", CLEAN.replace("net =", BREAK + "net =", 1) + "print('trained')")
    seen = sandbox.gradsan("run", "train.py")
    assert (seen.stdout, seen.returncode) == ("trained\n", 0)
    assert "gradsan fault in backward; the script was not affected" in seen.stderr
    assert "OSError: a fault on purpose" in seen.stderr
    said = " ".join(seen.stderr.split())  # the last line is long enough to be wrapped
    assert "a fault of gradsan's own: nothing was judged after it" in said
    assert said.endswith("rules not evaluated, 1 gradsan fault")


def test_a_session_that_cannot_be_opened_costs_the_script_nothing(sandbox: Sandbox) -> None:
    sandbox.write(
        "gone.py", "import gradsan.observe\ngradsan.observe.__path__ = []\nimport torch\nprint('fine')"
    )
    seen = sandbox.gradsan("run", "--format", "json", "gone.py")
    assert (seen.stdout, seen.returncode) == ("fine\n", 3)  # it was not watched, and that is said
    assert [f["tap"] for f in json.loads(seen.stderr)["faults"]] == ["session"]
