"""More examples of GS506 (clip-without-effect): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch
    MAX_NORM = float("inf")
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=MAX_NORM)  # BUG
        opt.step()
    """,
    """
    import torch
    def update(net, opt, max_norm=float("inf")):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm)  # BUG
        opt.step()
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        update(net, opt)
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        (critic(torch.randn(8, 3)) - 9.0).pow(2).mean().backward()
        for p in critic.parameters():
            grad = p.grad
            norm = grad.norm()
            if norm > 0.1:
                grad = grad * (0.1 / norm)  # BUG
        opt.step()
    """,
    """
    # The conflict of two tasks is taken out of a name.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        one, two = (net(torch.randn(8, 3)) - 1.0).pow(2).mean(0)
        other = torch.autograd.grad(two, list(net.parameters()), retain_graph=True)
        opt.zero_grad()
        (one + two).backward()
        for p, g in zip(net.parameters(), other):
            projected = p.grad - (p.grad * g).sum() / g.pow(2).sum() * g  # BUG
        opt.step()
    """,
    """
    # Descent by hand that moves the loop's variable.
    import torch
    net = torch.nn.Linear(3, 1)
    def descend(rate):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        grads = torch.autograd.grad(loss, list(net.parameters()))
        for p, g in zip(net.parameters(), grads):
            p = p - rate * g  # BUG
    for _ in range(5):
        descend(0.1)
    """,
    """
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        (net(torch.randn(8, 3)) - 1.0).pow(2).sum().backward()
        for p in net.parameters():
            p.grad.div(8)  # BUG
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A limit that comes only after a warm-up.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    limits = [float("inf")] * 4 + [1.0] * 4
    for limit in limits:
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), limit)
        opt.step()
    """,
    """
    # The usual way to measure the norm, with the limit from a setting.
    import torch
    config = {}
    max_norm = config.get("max_norm", float("inf"))
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm)
        opt.step()
    """,
    """
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        (critic(torch.randn(8, 3)) - 9.0).pow(2).mean().backward()
        for p in critic.parameters():
            grad = p.grad
            norm = grad.norm()
            if norm > 0.1:
                grad.mul_(0.1 / norm)
        opt.step()
    """,
    """
    # A scaled copy is kept for a look at it after the step.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        opt.zero_grad()
        (critic(torch.randn(8, 3)) - 9.0).pow(2).mean().backward()
        kept = critic.weight.grad / 8
        opt.step()
        print(kept.norm().item())
    """,
    """
    # An inner loop that makes weights of its own; a running trace that the next round reads.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    trace = torch.zeros(1, 3)
    for _ in range(5):
        x = torch.randn(8, 3)
        weight = net.weight
        for _ in range(2):
            inner = (torch.nn.functional.linear(x, weight, net.bias) - 1.0).pow(2).mean()
            (g,) = torch.autograd.grad(inner, [weight], create_graph=True)
            weight = weight - 0.1 * g
        opt.zero_grad()
        (torch.nn.functional.linear(x, weight, net.bias) - 1.0).pow(2).mean().backward()
        trace = 0.9 * trace + net.weight.grad
        opt.step()
    print(trace)
    """,
    """
    # Put back into a list, and from there into the gradients.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(5):
        loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        halves = []
        for g in torch.autograd.grad(loss, list(net.parameters())):
            g = g * 0.5
            halves.append(g)
        for p, half in zip(net.parameters(), halves):
            p.grad = half
        opt.step()
    """,
)
