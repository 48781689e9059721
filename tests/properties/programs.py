"""Random training programs, of which it is known by construction whether and where they are wrong."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

MARK = "  # BUG"


class Program(NamedTuple):
    code: str
    rule: str  # "" where the program is right
    mode: str

    @property
    def blame(self) -> set[int]:
        return {n for n, line in enumerate(self.code.splitlines(), 1) if line.endswith(MARK)}


# What is planted, and whether light mode can see it.
BUGS = {
    "": False,
    "GS401": True,  # zero_grad forgotten
    "GS301": False,  # the target is not detached
    "GS202": False,  # the body is cut off
    "GS205": False,  # the head belongs to no optimizer
    "GS405": True,  # zero_grad between backward and step
    "GS504": True,  # clipped before backward
    "GS601": False,  # [B] against [B, 1]
    "GS101": False,  # written in place though backward needs it
}
OPTIMIZERS = (
    "torch.optim.SGD({}, lr=0.01)",
    "torch.optim.SGD({}, lr=0.01, momentum=0.9)",
    "torch.optim.Adam({}, lr=0.003)",
    "torch.optim.AdamW({}, lr=0.003, foreach=True)",
    "torch.optim.RMSprop({}, lr=0.001)",
)
LAYERS = (
    "nn.Linear(8, 8), nn.Tanh()",
    "nn.Linear(8, 8), nn.ELU()",
    "nn.LayerNorm(8)",
    "nn.Linear(8, 8), nn.Dropout(0.1)",
    "nn.Linear(8, 8), nn.Softplus()",
)
LOSSES = (
    "nn.functional.mse_loss(pred, y)",
    "nn.functional.smooth_l1_loss(pred, y)",
    "nn.functional.huber_loss(pred, y, delta=0.5)",
    "(pred - y).pow(2).mean()",
    "((y - pred) ** 2).sum() / 6",
)
CLIPS = ("nn.utils.clip_grad_norm_(params, 1.0)", "nn.utils.clip_grad_value_(params, 0.5)")
TARGETS = {
    "detach": "    next_value = value(target, s2).detach()",
    "no_grad": "    with torch.no_grad():\n        next_value = value(target, s2)",
    "online": "    with torch.no_grad():\n        next_value = value(net, s2)",
}
SYNCS = (
    "    target.load_state_dict(net.state_dict())",
    "    with torch.no_grad():\n        for p, t in zip(net.parameters(), target.parameters()):\n"
    "            t.lerp_(p, 0.1)",
)


@st.composite
def programs(draw: st.DrawFn, bug: str) -> Program:
    mode = draw(st.sampled_from(["deep", "deep", "adaptive", "light"]))
    hidden = draw(st.lists(st.sampled_from(LAYERS), max_size=2))
    target, accumulate = draw(st.sampled_from(sorted(TARGETS))), draw(st.integers(1, 3))
    clip = draw(st.sampled_from(["", *CLIPS]))
    if bug == "GS504":  # while gradients are being accumulated, there may be some to clip before backward
        clip, accumulate = CLIPS[0], 1  # by value it raises where there is nothing to clip
    zero_first = draw(st.booleans())
    zero = draw(st.sampled_from(["opt.zero_grad()", "net.zero_grad()", "opt.zero_grad(set_to_none=False)"]))
    if bug in ("GS405", "GS504"):  # zeros that stay in place count as gradients
        zero = "opt.zero_grad()"
    owned = "net[0].parameters()" if bug == "GS205" else "net.parameters()"
    lines = [
        "import copy",
        "import torch",
        "from torch import nn",
        f"torch.manual_seed({draw(st.integers(0, 999))})",
        f"body = nn.Sequential({', '.join(['nn.Linear(3, 8), nn.Tanh()', *hidden])})",
        "net = nn.Sequential(body, nn.Linear(8, 2))",
        *(["target = copy.deepcopy(net)"] if target != "online" else []),
        f"opt = {draw(st.sampled_from(OPTIMIZERS)).format(owned)}" + _mark(bug, "GS205"),
        "params = [p for group in opt.param_groups for p in group['params']]",
        "def value(module, s):",
        "    return module(s).max(1).values",
        f"for step in range({draw(st.integers(6, 9))}):",
    ]
    if zero_first and bug not in ("GS401", "GS405"):
        lines.append(f"    {zero}")
    inner = [f"for _ in range({accumulate}):"] if accumulate > 1 else []
    block = _loss(draw, bug, target, accumulate)
    if clip and bug == "GS504":
        block.insert(-1, f"    {clip}{MARK}")
    lines += [f"    {line}" for line in inner]
    lines += [("    " if inner else "") + line for part in block for line in part.split("\n")]
    if clip and bug != "GS504":
        lines.append(f"    {clip}")
    if bug == "GS405":
        lines.append(f"    {zero}{MARK}")
    lines.append("    opt.step()" + _mark(bug, "GS401"))
    if not zero_first and bug not in ("GS401", "GS405"):
        lines.append(f"    {zero}")
    if target != "online":
        lines += draw(st.sampled_from(SYNCS)).split("\n")
    return Program("\n".join(lines), bug, mode)


def _loss(draw: st.DrawFn, bug: str, target: str, accumulate: int) -> list[str]:
    """The lines from the batch to backward, one step of indentation deep."""
    block = ["    s, s2, r = torch.randn(6, 3), torch.randn(6, 3), torch.randn(6)"]
    if bug == "GS301":
        block.append(f"    y = r + 0.9 * value(net, s2){MARK}")
    else:
        block += [TARGETS[target], "    y = r + 0.9 * next_value"]
    if bug == "GS202":
        block.append(f"    h = body(s).detach(){MARK}")
    else:
        block.append("    h = body(s)")
    if bug == "GS101":
        block += ["    h = torch.tanh(h)", f"    h.mul_(0.9){MARK}"]
    index = "torch.randint(0, 2, (6, 1))"
    shape = "" if bug == "GS601" else ".squeeze(1)"
    block.append(f"    pred = net[1](h).gather(1, {index}){shape}")
    scale = f" / {accumulate}" if accumulate > 1 and draw(st.booleans()) else ""
    loss = LOSSES[3] if bug == "GS601" else draw(st.sampled_from(LOSSES))
    block.append(f"    loss = {loss}{scale}" + _mark(bug, "GS601"))
    return [*block, "    loss.backward()"]


def _mark(bug: str, rule: str) -> str:
    return MARK if bug == rule else ""
