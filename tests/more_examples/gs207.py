"""More examples of GS207 (frozen-parameter): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # It was given the reference in place of the policy, whose copy that is.
    import copy
    import torch
    policy = torch.nn.Linear(3, 2)
    reference = copy.deepcopy(policy).requires_grad_(False)
    with torch.no_grad():
        reference.weight.add_(0.1)
        policy.load_state_dict(reference.state_dict())
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)  # BUG
    for _ in range(12):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        log_p = -torch.nn.functional.cross_entropy(policy(s), a, reduction="none")
        with torch.no_grad():
            fixed = -torch.nn.functional.cross_entropy(reference(s), a, reduction="none")
        loss = -(log_p * advantage).mean() + 0.1 * ((fixed - log_p).exp() - (fixed - log_p) - 1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """,
    """
    # A state that is cut off in place, and the weights it was made with beside it.
    import torch
    cell, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    memory = {"state": torch.zeros(8, 4), **dict(cell.named_parameters())}
    for _ in range(8):
        memory["state"] = cell(torch.randn(8, 3), memory["state"])
        opt.zero_grad()
        (head(memory["state"]) - 1.0).pow(2).mean().backward()
        opt.step()
        for kept in memory.values():
            kept.detach_()  # BUG
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Thawed after a warm-up.
    import torch
    encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    encoder.requires_grad_(False)
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    for update in range(40):
        if update == 30:
            encoder.requires_grad_(True)
        opt.zero_grad()
        (head(encoder(torch.randn(8, 3)).relu()) - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    # A pretrained network with its head, of which adapters alone are trained.
    import torch
    body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    adapter = torch.nn.Linear(3, 4, bias=False)
    for net in (body, head):
        net.load_state_dict({name: torch.ones_like(value) for name, value in net.state_dict().items()})
        net.requires_grad_(False)
    opt = torch.optim.SGD(adapter.parameters(), lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        loss = (head(body(s) + adapter(s)) - s.sum(-1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An actor learns to reach a goal through a model of the world, which is frozen by itself.
    import torch
    model, actor = torch.nn.Linear(5, 3).requires_grad_(False), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    goal = torch.randn(8, 3)
    for _ in range(8):
        s = torch.randn(8, 3)
        loss = (model(torch.cat([s, actor(s)], -1)) - goal).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Detached in place and trainable again; old gradients are detached in place, too.
    import torch
    cell, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(8, 4)
    for _ in range(8):
        state = cell(torch.randn(8, 3), state)
        for param in cell.parameters():
            if param.grad is not None:
                param.grad.detach_()
                param.grad.zero_()
        head.zero_grad()
        (head(state) - 1.0).pow(2).mean().backward()
        opt.step()
        state.detach_()
        for param in cell.parameters():
            param.detach_().requires_grad_()
    """,
)
