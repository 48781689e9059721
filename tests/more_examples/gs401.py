"""More examples of GS401 (stale-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        for p in net.parameters():
            estimate = torch.randn_like(p)  # of an evolution strategy
            p.grad = estimate if p.grad is None else p.grad + estimate  # BUG
        opt.step()
    """,
    """
    # Named, and not called.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def update(loss):
        opt.zero_grad  # BUG
        loss.backward()
        opt.step()
    for _ in range(4):
        update((net(torch.randn(8, 3)) - 1.0).pow(2).mean())
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        for p in net.parameters():
            if p.grad is not None:
                p.grad.data.zero_()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    net, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
    for _ in range(6):
        for p in net.parameters():
            if p.grad is None:
                p.grad = torch.zeros_like(p)
            p.grad.zero_()
            for _ in range(3):
                p.grad += torch.randn_like(p)
        for p in other.parameters():
            p.grad = torch.randn_like(p) if p.grad is None else 0.9 * p.grad + torch.randn_like(p)
        opt.step()
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for p in net.parameters():
        p.grad = torch.zeros_like(p)
    for _ in range(6):
        torch._foreach_zero_([p.grad for p in net.parameters()])
        for p in net.parameters():
            p.grad.add_(torch.randn_like(p))
        opt.step()
    """,
)
