"""More examples of GS308 (parameter-in-two-optimizers): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The policy was cloned by an optimizer of its own; the new one was given the critic.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    cloning = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(20):
        s = torch.randn(8, 3)
        cloning.zero_grad()
        torch.nn.functional.cross_entropy(policy(s), s.argmax(-1) % 2).backward()
        cloning.step()
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    policy_opt = torch.optim.SGD(critic.parameters(), lr=0.1)  # BUG
    for _ in range(20):
        s = torch.randn(8, 3)
        critic_opt.zero_grad()
        (critic(s) - s[:, :2]).pow(2).mean().backward()
        critic_opt.step()
        with torch.no_grad():
            values = critic(s)
        policy_opt.zero_grad()
        (-(policy(s).softmax(-1) * values).sum(-1).mean()).backward()
        policy_opt.step()
    """,
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

GOOD: tuple[str, ...] = (
    """
    # One that could train the critic finds nothing yet, and the loss before it is the policy's own.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    spare = torch.optim.SGD(critic.parameters(), lr=0.01)
    policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for update in range(20):
        s = torch.randn(8, 3)
        critic_opt.zero_grad()
        (critic(s) - s[:, :2]).pow(2).mean().backward()
        critic_opt.step()
        for opt in (policy_opt, spare):
            opt.zero_grad()
        (-(policy(s).softmax(-1) * critic(s).detach()).sum(-1).mean()).backward()
        for opt in (spare, policy_opt):
            opt.step()
    """,
)
