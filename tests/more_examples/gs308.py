"""More examples of GS308 (parameter-in-two-optimizers): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A factory makes both: the line that asks for the second one is named.
    import torch
    trunk, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    def optimizer_of(*nets):
        return torch.optim.SGD([p for net in nets for p in net.parameters()], lr=0.1)
    actor_opt = optimizer_of(trunk, pi)
    critic_opt = optimizer_of(trunk, v)  # BUG
    for _ in range(5):
        s = torch.randn(8, 3)
        actor_opt.zero_grad()
        pi(torch.relu(trunk(s))).pow(2).mean().backward()
        actor_opt.step()
        critic_opt.zero_grad()
        (v(torch.relu(trunk(s))) - 1.0).pow(2).mean().backward()
        critic_opt.step()
    """,
)

GOOD: tuple[str, ...] = ()
