"""More examples of GS505 (clip-misses-parameters): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The actor is clipped twice, the critic not at all.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    actor_opt, critic_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic))
    for _ in range(6):
        s = torch.randn(8, 3)
        actor_opt.zero_grad()
        critic_opt.zero_grad()
        actor(s).pow(2).mean().backward()
        (critic(s) - 1.0).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
        torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)  # BUG
        actor_opt.step()
        critic_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Clipped by value and by norm, and for each of two steps anew; the critic is not to be clipped.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    actor_opt, critic_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic))
    for _ in range(6):
        s = torch.randn(8, 3)
        actor_opt.zero_grad()
        critic_opt.zero_grad()
        actor(s).pow(2).mean().backward()
        (critic(s) - 1.0).pow(2).mean().backward()
        torch.nn.utils.clip_grad_value_(actor.parameters(), 0.5)
        torch.nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
        actor_opt.step()
        critic_opt.step()
    """,
)
