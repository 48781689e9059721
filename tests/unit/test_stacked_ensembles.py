"""Ensembles whose parameters are stacked and whose members run under `vmap`: named and judged like other networks."""

from __future__ import annotations

import pytest

from harness import marked_lines, run_code

ENSEMBLE = """
import copy
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
members = [nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)) for _ in range(3)]
params, buffers = stack_module_state(members)
base = copy.deepcopy(members[0]).to("meta")
def predict(p, b, x):
    return functional_call(base, (p, b), (x,))
{optimizer}
for _ in range(20):
    x, y = torch.randn(8, 3), torch.randn(8)
    loss = (vmap(predict, (0, 0, None))(params, buffers, x).squeeze(-1) - y).pow(2).mean()
    {update}
"""
OPTIMIZER = "opt = torch.optim.Adam(params.values(), lr=1e-2)"
UPDATE = "opt.zero_grad(); loss.backward(); opt.step()"
BUGS = {
    "GS205": (
        "opt = torch.optim.Adam([p for n, p in params.items() if 'bias' in n], lr=1e-2)  # BUG",
        UPDATE,
    ),
    "GS206": ("opt = torch.optim.Adam(nn.ModuleList(members).parameters(), lr=1e-2)  # BUG", UPDATE),
    "GS401": (OPTIMIZER, "loss.backward(); opt.step()  # BUG"),
    "GS404": (OPTIMIZER, "opt.zero_grad(); opt.step(); loss.backward()  # BUG"),
    "GS405": (OPTIMIZER, "loss.backward(); opt.zero_grad(); opt.step()  # BUG"),
}


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
@pytest.mark.parametrize("code", BUGS)
def test_a_bug_of_a_stacked_ensemble_is_told(code: str, mode: str):
    text = ENSEMBLE.format(optimizer=BUGS[code][0], update=BUGS[code][1])
    report = run_code(text, mode)
    told = {(f.rule, f.culprit.line) for f in report.findings if f.culprit is not None}
    assert told == {(code, line) for line in marked_lines(text)}
    assert any("params[" in subject for f in report.findings for subject in f.subjects)


@pytest.mark.parametrize("mode", ["adaptive", "deep"])
def test_a_right_one_is_silent(mode: str):
    assert not run_code(ENSEMBLE.format(optimizer=OPTIMIZER, update=UPDATE), mode).findings
