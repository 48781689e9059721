"""For every row of the table of PyTorch's errors, programs that really raise it.

`# BUG` marks the line that must be named: the culprit of the finding, or where the explanation points.
`# RAISES` marks the line that raised, where that is another one; it is told, too.
"""

from __future__ import annotations

from typing import NamedTuple

LEAF = "import copy\nimport numpy as np\nimport torch\nx = torch.ones(4, requires_grad=True)\n"
FUNCTION = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *rest):
        {forward}
        return 2 * x
    @staticmethod
    def backward(ctx, g):
        {backward}
"""
ONE_PROCESS = """
import os, tempfile
import torch.distributed as dist
if dist.is_initialized():
    dist.destroy_process_group()
folder = tempfile.TemporaryDirectory()
dist.init_process_group("gloo", init_method="file://" + os.path.join(folder.name, "meet"), rank=0, world_size=1)
"""


class Program(NamedTuple):
    kind: str
    rule: str  # "" where the error is explained without one
    code: str


def function(backward: str, use: str, forward: str = "pass") -> str:
    return FUNCTION.format(forward=forward, backward=backward) + use


CHECKPOINTED = """
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
calls = []
def layer(x):  # BUG
    calls.append(x)
    return {}
with set_checkpoint_early_stop({}):
    y = checkpoint(layer, x, use_reentrant=False)
y.sum().backward()  # RAISES
"""

PROGRAMS = [
    # -- a write that autograd cannot follow
    Program("saved-tensor-changed", "GS101", "y = x.exp()\ny.add_(1)  # BUG\ny.sum().backward()  # RAISES"),
    Program("leaf-mutated", "GS103", "x.add_(1)  # BUG"),
    Program("leaf-mutated", "GS103", "x[0] = 1.0  # BUG"),
    Program("one-of-several-views", "GS101", "a, b = (x * 2).chunk(2)\na.add_(1)  # BUG"),
    Program("one-of-several-views", "GS101", "a, b = (x * 2).split(2)\nb[0] = 0.0  # BUG"),
    Program("one-of-several-views", "GS101", "for row in (x * 2).unbind(0):\n    row.clamp_(max=1)  # BUG"),
    Program("one-of-several-views", "GS101", "for row in x * 2:\n    row += 1  # BUG"),
    Program(
        "view-of-function",
        "GS101",
        """
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g
y = Same.apply(x * 2)
y.add_(1)  # BUG
""",
    ),
    Program(
        "view-without-gradient",
        "GS101",
        "y = x * 2\nwith torch.no_grad():\n    part = y[:2]\npart.add_(1)  # BUG",
    ),
    Program(
        "view-without-gradient",
        "GS101",
        "y = torch.ones(4)\nwith torch.inference_mode():\n    part = y[:2]\npart.mul_(x[:2])  # BUG",
    ),
    Program("out-argument", "", "torch.add(x, 1, out=torch.empty(4))  # BUG"),
    Program("detached-in-place", "", "a, b = (x * 2).chunk(2)\na.detach_()  # BUG"),
    Program("saved-tensor-detached", "", "y = x.exp()\nz = y * y\ny.detach_()\nz.sum().backward()  # BUG"),
    # -- tensors that leave the graph
    Program("graph-tensor-copied", "GS105", "copy.deepcopy(x * 2)  # BUG"),
    Program(
        "graph-tensor-copied",
        "GS105",
        "import io\nimport torch.multiprocessing\nfrom multiprocessing.reduction import ForkingPickler\n"
        "ForkingPickler(io.BytesIO()).dump(x * 2)  # BUG",
    ),
    Program(
        "inference-tensor",
        "GS202",
        "with torch.inference_mode():  # BUG\n    y = torch.ones(4)\nloss = (x * y).sum()  # RAISES",
    ),
    Program(
        "inference-tensor",
        "GS202",
        """
net = torch.nn.Linear(4, 2)
@torch.inference_mode()  # BUG
def target_of(s):
    return net(s)
@torch.inference_mode()
def act(s):
    return s + 1
def loss_of(value, target):
    return value * target  # RAISES
state = torch.ones(3, 4)
act(state)
loss_of(net(state), target_of(state)).sum().backward()
""",
    ),
    Program(
        "inference-tensor",
        "GS202",
        "with torch.inference_mode():  # BUG\n    y = torch.ones(4)\ny.add_(1)  # RAISES",
    ),
    Program(
        "inference-tensor",
        "GS202",
        "with torch.inference_mode():  # BUG\n    y = torch.ones(4)\npart = y[:2]\npart.requires_grad_()  # RAISES",
    ),
    Program("numpy-of-graph-tensor", "", "y = (x * 2).numpy()  # BUG"),
    Program("numpy-of-graph-tensor", "", "y = np.mean([x, x])  # BUG"),
    # -- the flag requires_grad
    Program("flag-of-result", "", "y = x * 2\ny.requires_grad_(False)  # BUG"),
    Program("flag-of-result", "", "y = x * 2\ny.requires_grad = False  # BUG"),
    Program("integer-requires-grad", "", "y = torch.tensor([1, 2], requires_grad=True)  # BUG"),
    Program("integer-requires-grad", "", "y = torch.ones(2).long().requires_grad_()  # BUG"),
    Program("integer-requires-grad", "", "y = torch.nn.Parameter(torch.tensor([1, 2]))  # BUG"),
    Program("hook-without-gradient", "", "y = x.detach()\ny.retain_grad()  # BUG"),
    Program("hook-without-gradient", "", "y = x.detach()\ny.register_hook(print)  # BUG"),
    Program("hook-on-result", "", "(x * 2).register_post_accumulate_grad_hook(print)  # BUG"),
    Program("foreign-gradient", "", "x.grad = torch.ones(2)  # BUG"),
    Program("foreign-gradient", "", "x.grad = 3  # BUG"),
    Program("data-of-other-type", "", "x.data = torch.ones(4).long()  # BUG"),
    # -- optimizers
    Program("result-optimized", "", "opt = torch.optim.SGD([x * 2], lr=0.1)  # BUG"),
    Program("nothing-to-optimize", "", "opt = torch.optim.SGD([], lr=0.1)  # BUG"),
    Program("parameter-replaced", "", "net = torch.nn.Linear(2, 2)\nnet.weight = net.weight * 2  # BUG"),
    Program(
        "parameter-replaced", "", "net = torch.nn.Linear(2, 2)\nnet.register_parameter('w', x * 2)  # BUG"
    ),
    Program(
        "non-finite-norm",
        "",
        "x.grad = torch.full((4,), float('nan'))\n"
        "torch.nn.utils.clip_grad_norm_(x, 1.0, error_if_nonfinite=True)  # BUG",
    ),
    Program(
        "nothing-to-unscale",
        "",
        "opt, scaler = torch.optim.SGD([x], lr=0.1), torch.amp.GradScaler('cpu')\n"
        "scaler.scale(x.sum())\nscaler.step(opt)  # BUG",
    ),
    Program(
        "nothing-to-unscale",
        "GS404",
        "opt, scaler = torch.optim.SGD([x], lr=0.1), torch.amp.GradScaler('cpu')\n"
        "scaler.scale(x.sum()).backward  # BUG\nscaler.step(opt)  # RAISES",
    ),
    Program(
        "nothing-to-unscale",
        "GS206",
        "y = x.detach().clone().requires_grad_()\n"
        "opt, scaler = torch.optim.SGD([y], lr=0.1), torch.amp.GradScaler('cpu')  # BUG\n"
        "scaler.scale(x.sum()).backward()\nscaler.step(opt)  # RAISES",
    ),
    Program(
        "nothing-to-unscale",
        "GS206",
        "import copy\nnet = torch.nn.Linear(4, 1)\n"
        "opt = torch.optim.Adam(copy.deepcopy(net).parameters(), lr=0.1, fused=True)  # BUG\n"
        "scaler = torch.amp.GradScaler('cpu')\n"
        "scaler.scale(net(torch.randn(2, 4)).sum()).backward()\nscaler.step(opt)\nscaler.update()  # RAISES",
    ),
    Program(
        "unscaled-twice",
        "",
        "opt, scaler = torch.optim.SGD([x], lr=0.1), torch.amp.GradScaler('cpu')\n"
        "scaler.scale(x.sum()).backward()\nscaler.unscale_(opt)\nscaler.unscale_(opt)  # BUG",
    ),
    Program(
        "unscaled-twice",
        "",
        "opt, scaler = torch.optim.SGD([x], lr=0.1), torch.amp.GradScaler('cpu')\n"
        "scaler.scale(x.sum()).backward()\nscaler.step(opt)\nscaler.unscale_(opt)  # BUG",
    ),
    # -- what backward and autograd.grad are given
    Program("no-graph", "GS201", "loss = x.detach().sum()  # BUG\nloss.backward()  # RAISES"),
    Program("no-graph", "GS201", "y = x.detach().sum()  # BUG\ntorch.autograd.grad(y, x)  # RAISES"),
    Program("graph-freed", "GS402", "loss = x.exp().sum()\nloss.backward()\nloss.backward()  # BUG"),
    Program(
        "graph-freed",
        "GS402",
        """
from functools import partial
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
kept = partial(create_selective_checkpoint_contexts, [torch.ops.aten.dot.default])
loss = checkpoint(lambda x: (x.exp() @ x).sin(), x, use_reentrant=False, context_fn=kept)
loss.backward(retain_graph=True)
loss.backward()  # BUG
""",
    ),
    Program("not-scalar", "GS403", "loss = x * 2  # BUG\nloss.backward()  # RAISES"),
    Program("not-scalar", "GS403", "y = x * 2  # BUG\ntorch.autograd.grad(y, x)  # RAISES"),
    Program("complex-loss", "", "loss = (x * 1j).sum()\nloss.backward()  # BUG"),
    Program("gradient-of-other-shape", "", "loss = x * 2\nloss.backward(torch.ones(3))  # BUG"),
    Program(
        "input-unused",
        "GS202",
        """
w = torch.ones(4, requires_grad=True)
with torch.no_grad():  # BUG
    y = x * 2
torch.autograd.grad((y * w).sum(), [x, w])  # RAISES
""",
    ),
    Program("input-unused", "", "y = (x * 2).sum()\npart = x[:2]\ntorch.autograd.grad(y, part)  # BUG"),
    Program(
        "input-without-gradient",
        "GS201",
        "s = torch.ones(4)  # BUG\ntorch.autograd.grad((x * s).sum(), s)  # RAISES",
    ),
    Program("no-inputs", "", "x.sum().backward(inputs=[])  # BUG"),
    Program("no-inputs", "", "torch.autograd.grad(x.sum(), [])  # BUG"),
    Program(
        "inside-transform",
        "",
        "def f(w):\n    loss = w.sum()\n    loss.backward()  # BUG\n    return loss\ntorch.func.grad(f)(x.detach())",
    ),
    Program("transform-not-scalar", "", "torch.func.grad(lambda w: w * 2)(x.detach())  # BUG"),
    Program("not-differentiable", "", "torch.igamma(x, torch.ones(4)).sum().backward()  # BUG"),
    Program(
        "not-differentiable",
        "",
        """
q = torch.randn(1, 1, 4, 4, requires_grad=True)
y = torch.nn.functional.scaled_dot_product_attention(q, q, q)
(g,) = torch.autograd.grad(y.sum(), q, create_graph=True)
g.sum().backward()  # BUG
""",
    ),
    Program(
        "anomaly",
        "GS503",
        """
with torch.autograd.detect_anomaly():
    z = torch.zeros(2, requires_grad=True)
    y = z.sqrt()  # BUG
    (y * 0).sum().backward()  # RAISES
""",
    ),
    # -- custom functions and hooks
    Program(
        "function-gradient-count",
        "GS211",
        function("return g  # BUG", "Double.apply(x, x).sum().backward()  # RAISES"),
    ),
    Program(
        "function-gradient-of-constant",
        "GS211",
        function("return g, g  # BUG", "Double.apply(x, 3.0).sum().backward()  # RAISES"),
    ),
    Program(
        "function-gradient-shape",
        "GS211",
        function("return g[:2]  # BUG", "Double.apply(x).sum().backward()  # RAISES"),
    ),
    Program(
        "function-gradient-type",
        "GS211",
        function("return 3  # BUG", "Double.apply(x).sum().backward()  # RAISES"),
    ),
    Program(
        "function-without-backward",
        "GS211",
        """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # BUG
        return 2 * x
Double.apply(x).sum().backward()  # RAISES
""",
    ),
    Program(
        "function-without-backward",
        "GS211",
        """
class Scaled(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x, factor):
        return x * factor
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]
    @staticmethod
    def backwards(ctx, grad):  # BUG
        return ctx.factor * grad, None
class Shifted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1
    @staticmethod
    def backward(ctx, grad):
        return grad
loss = Shifted.apply(Scaled.apply(x, 2.0)).sum()
torch.autograd.grad(loss, x)  # RAISES
""",
    ),
    Program(
        "function-without-backward",
        "GS211",
        """
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()
    def _backward(ctx, grad):  # BUG
        return grad
class Gate(torch.nn.Module):
    def forward(self, x):
        return Step.apply(x)
Gate()(x).sum().backward()  # RAISES
""",
    ),
    Program(
        "function-saves-constant",
        "",
        function("return g", "Double.apply(x)  # BUG", "ctx.save_for_backward(3.0)"),
    ),
    Program("function-not-static", "", function("return g", "Double()(x)  # BUG")),
    Program(
        "function-twice",
        "",
        """
from torch.autograd.function import once_differentiable
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]
(g,) = torch.autograd.grad((Square.apply(x * 1) * x).sum(), x, create_graph=True)
g.sum().backward()  # BUG
""",
    ),
    Program(
        "hook-changed-gradient", "", "y = x * 2\ny.register_hook(lambda g: g[:2])\ny.sum().backward()  # BUG"
    ),
    Program(
        "hook-changed-gradient", "", "y = x * 2\ny.register_hook(lambda g: 3)\ny.sum().backward()  # BUG"
    ),
    # -- checkpointing
    Program("checkpoint-differs", "", CHECKPOINTED.format("x.exp() if calls[1:] else x.exp().sin()", True)),
    Program("checkpoint-differs", "", CHECKPOINTED.format("x[:2].exp() if calls[1:] else x.exp()", True)),
    Program("checkpoint-differs", "", CHECKPOINTED.format("x.exp().sin() if calls[1:] else x.exp()", False)),
    Program(
        "checkpoint-unpacked-twice",
        "",
        """
from torch.utils.checkpoint import checkpoint
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors)
        return g * ctx.saved_tensors[0]  # BUG
checkpoint(Exp.apply, x, use_reentrant=False).sum().backward()  # RAISES
""",
    ),
    Program(
        "checkpoint-reentrant",
        "",
        """
from torch.utils.checkpoint import checkpoint
y = checkpoint(torch.exp, x, use_reentrant=True).sum()
torch.autograd.grad(y, x)  # BUG
""",
    ),
    Program(
        "checkpoint-without-gradient",
        "",
        """
from torch.utils.checkpoint import checkpoint
def layer(x):  # BUG
    return x.detach() * 2
checkpoint(layer, x, use_reentrant=True).sum().backward()  # RAISES
""",
    ),
    # -- distributed
    Program(
        "reduction-unfinished",
        "GS702",
        ONE_PROCESS
        + """
class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    def forward(self, x):
        return self.used(x)
net = torch.nn.parallel.DistributedDataParallel(Two())
for _ in range(2):
    net(torch.ones(3, 4)).sum().backward()  # BUG
""",
    ),
    Program(
        "marked-ready-twice",
        "",
        ONE_PROCESS
        + """
from torch.utils.checkpoint import checkpoint
class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, x):
        for _ in range(2):
            x = checkpoint(self.layer, x, use_reentrant=True)
        return x
net = torch.nn.parallel.DistributedDataParallel(Shared(), find_unused_parameters=True)
net(x[None]).sum().backward()  # BUG
""",
    ),
]
