"""A fused loss of a mixture of experts gives the token loss and the router's balance; its backward uses the gradient
of the first only. (After TRL issue 7009.)"""

import torch
from torch import nn

torch.manual_seed(0)
EXPERTS = 4


class FusedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, errors, gates):
        load = gates.mean(0)
        ctx.save_for_backward(errors, gates, load)
        return errors.pow(2).mean(), EXPERTS * load.pow(2).sum()

    @staticmethod
    def backward(ctx, d_loss, d_balance):
        errors, _gates, _load = ctx.saved_tensors
        return d_loss * 2 * errors / errors.numel(), None  # BUG GS211


router = nn.Linear(8, EXPERTS)
experts = nn.ModuleList(nn.Linear(8, 1) for _ in range(EXPERTS))
optimizer = torch.optim.AdamW([*router.parameters(), *experts.parameters()], lr=1e-3)
for _ in range(12):
    states, returns = torch.randn(32, 8), torch.randn(32)
    gates = router(states).softmax(-1)
    values = (gates * torch.cat([expert(states) for expert in experts], 1)).sum(1)
    loss, balance = FusedLoss.apply(values - returns, gates)
    total = loss + 0.1 * balance
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
