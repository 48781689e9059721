"""The example that `make run` shows."""

from __future__ import annotations

import json
from pathlib import Path

from sandbox import Sandbox

EXAMPLE = Path(__file__).parents[2] / "examples" / "leaky_dqn.py"


def test_the_leaky_dqn_shows_bugs_of_several_families_on_their_lines(sandbox: Sandbox) -> None:
    seen = sandbox.gradsan("run", "--format", "json", str(EXAMPLE), "--episodes", "20")
    assert seen.returncode == 1
    assert seen.stdout.count("episode") == 2
    report = json.loads(seen.stderr)
    found = {finding["rule"]: finding["culprit"]["code"] for finding in report["findings"]}
    assert found["GS301"].startswith("targets = rewards + self.gamma")
    assert found["GS401"] == "self.model_optimizer.step()"
    assert found["GS205"].startswith("self.optimizer = torch.optim.Adam([*self.q.trunk.parameters()")
    assert found["GS505"].startswith("nn.utils.clip_grad_norm_(self.target_q")
    assert report["faults"] == []
