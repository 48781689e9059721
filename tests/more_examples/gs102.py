"""More examples of GS102 (stepped-before-backward): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = ()

GOOD: tuple[str, ...] = (
    """
    # A step calls a closure; the weights that were looked at before it are those of the first call.
    import torch
    net = torch.nn.Linear(4, 1)
    opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=3)
    for _ in range(6):
        x, y = torch.randn(32, 4), torch.randn(32, 1)

        def closure():
            opt.zero_grad()
            loss = (net(x) - y).pow(2).mean()
            loss.backward()
            return loss

        opt.step(closure)
        with torch.no_grad():
            error = (net(x) - y).pow(2).mean()
    """,
)
