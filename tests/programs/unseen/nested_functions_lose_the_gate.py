"""A gated unit made of one Function inside another: the outer backward hands on only one of the two
gradients that the inner gives it.

Class: custom functions
"""

import torch
from torch import nn

torch.manual_seed(257)


class Gate(torch.autograd.Function):
    """content * sigmoid(gate)"""

    @staticmethod
    def forward(ctx, content, gate):
        ctx.save_for_backward(content, gate)
        return content * torch.sigmoid(gate)

    @staticmethod
    def backward(ctx, grad):
        content, gate = ctx.saved_tensors
        s = torch.sigmoid(gate)
        return grad * s, grad * content * s * (1 - s)


class GatedUnit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, content, gate):
        with torch.enable_grad():
            inputs = [content.detach().requires_grad_(), gate.detach().requires_grad_()]
            out = Gate.apply(torch.tanh(inputs[0]), inputs[1])
        ctx.inner = (inputs, out)
        return out.detach()

    @staticmethod
    def backward(ctx, grad):
        inputs, out = ctx.inner
        grads = torch.autograd.grad(out, inputs, grad)
        return grads[0], None  # BUG GS211


class Value(nn.Module):
    def __init__(self):
        super().__init__()
        self.content, self.gate = nn.Linear(4, 24), nn.Linear(4, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, obs):
        return self.out(GatedUnit.apply(self.content(obs), self.gate(obs))).squeeze(-1)


value = Value()
optimizer = torch.optim.Adam(value.parameters(), lr=5e-3)
for update in range(150):
    obs = torch.randn(32, 4)
    loss = (value(obs) - torch.tanh(obs[:, 0]) * torch.sigmoid(3 * obs[:, 1])).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss", loss.item())
