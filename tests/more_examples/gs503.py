"""More examples of GS503 (non-finite-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The scaler has found it, and is not asked to step.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    for _ in range(12):
        opt.zero_grad()
        scaler.scale((net(torch.randn(8, 3)) - 100.0).pow(2).mean()).backward()
        scaler.unscale_(opt)
        opt.step()  # BUG
        scaler.update()
    """,
    """
    # A backward of one's own that divides infinity by infinity.
    import torch
    class Spike(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x > 0).float()
        @staticmethod
        def backward(ctx, grad):
            e = torch.exp(-400 * ctx.saved_tensors[0])
            return grad * e / (e + 1) ** 2
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = (Spike.apply(net(torch.randn(8, 3))) - 1.0).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Every third batch is lost to zero times infinity, and the script leaves it out without a word.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(12):
        closed = torch.tensor([i % 3 == 2, False, False, False])
        logp = net(torch.randn(8, 3)).masked_fill(closed, float("-inf")).log_softmax(-1)
        each = logp.exp() * logp  # BUG
        loss = torch.where(logp.isinf(), 0.0, each).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if norm.isfinite():
            opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    net = torch.nn.Linear(3, 4)
    logits = net(torch.randn(8, 3)).masked_fill(torch.tensor([True, False, False, False]), float("-inf"))
    dist = torch.distributions.Categorical(logits=logits)
    (-dist.log_prob(torch.ones(8))).mean().backward()
    """,
    """
    # Unscaled and clipped; what has overflowed is skipped.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.Adam(net.parameters(), lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    for _ in range(12):
        opt.zero_grad()
        scaler.scale((net(torch.randn(8, 3)) - 100.0).pow(2).mean()).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
    """,
    """
    # A spike now and then, where the loss itself is not a number: guarded against, and left out.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for i in range(12):
        seen = torch.randn(8, 3) * (1e30 if i % 5 == 4 else 1.0)
        loss = net(seen).pow(2).mean()
        opt.zero_grad()
        if not loss.isfinite():
            continue
        loss.backward()
        opt.step()
    """,
)
