"""Whatever gradsan wraps can be called in every way that PyTorch allows: by position and by keyword."""

from __future__ import annotations

import pytest

from harness import run_code

PROGRAM = """
import copy
import torch
net, target = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([{"params": [net.weight]}], lr=0.1)
opt.add_param_group(param_group={"params": [net.bias]})
bound = torch.nn.Parameter(data=torch.zeros(1), requires_grad=False)
target.requires_grad_(requires_grad=False)
for _ in range(40):
    with torch.set_grad_enabled(mode=False):
        y = 1.0 + 0.9 * target(torch.randn(8, 3))
    loss = (net(torch.randn(8, 3)) - y).pow(2).mean()
    opt.zero_grad(set_to_none=True)
    net.zero_grad(set_to_none=True)
    CALL
    opt.step(closure=None)
    target.load_state_dict(state_dict=net.state_dict(), strict=True)
"""
CALLS = {
    "norm": "loss.backward(gradient=None); torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)",
    "norm, all": "loss.backward(); torch.nn.utils.clip_grad_norm_(parameters=net.parameters(), max_norm=1.0)",
    "norm, by position": "loss.backward(); torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, 2.0, True)",
    "value": "loss.backward(); torch.nn.utils.clip_grad_value_(net.parameters(), clip_value=1.0, foreach=True)",
    "value, all": "loss.backward(); torch.nn.utils.clip_grad_value_(clip_value=1.0, parameters=net.parameters())",
    "backward": "torch.autograd.backward(tensors=loss, grad_tensors=None)",
    "grad": "net.weight.grad, net.bias.grad = torch.autograd.grad(outputs=loss, inputs=[net.weight, net.bias])",
}


@pytest.mark.parametrize("mode", ["deep", "adaptive", "light"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_by_keyword_is_an_ordinary_call(call: str, mode: str) -> None:
    report = run_code(PROGRAM.replace("CALL", call), mode)
    assert not report.faults, report.faults[0]["traceback"]
    assert not report.findings, [(f.rule, f.message) for f in report.findings]


def test_a_limit_given_by_keyword_is_seen() -> None:
    call = CALLS["norm"].replace("1.0", "-1.0")
    report = run_code(PROGRAM.replace("CALL", call))
    assert [f.rule for f in report.findings] == ["GS506"]


def test_a_call_without_its_limit_raises_what_pytorch_raises() -> None:
    with pytest.raises(TypeError, match="max_norm"):
        run_code(PROGRAM.replace("CALL", "torch.nn.utils.clip_grad_norm_(net.parameters())"))
