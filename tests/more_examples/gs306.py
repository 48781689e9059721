"""More examples of GS306 (target-network-aliased): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch

    class Agent:
        def __init__(self):
            self.actor, self.critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
            self.slow_actor, self.slow_critic = torch.nn.Linear(3, 2), self.critic  # BUG
            self.opt = torch.optim.SGD([*self.actor.parameters(), *self.critic.parameters()], lr=0.1)

        def soften(self):
            with torch.no_grad():
                for net, slow in ((self.actor, self.slow_actor), (self.critic, self.slow_critic)):
                    for p, s in zip(net.parameters(), slow.parameters()):
                        s.add_(0.01 * (p - s))

    agent = Agent()
    for _ in range(6):
        s, after = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            target = 1.0 + 0.9 * agent.slow_critic(after) + agent.slow_actor(after).sum(-1, keepdim=True)
        loss = (agent.critic(s) - target).pow(2).mean() + agent.actor(s).pow(2).mean()
        agent.opt.zero_grad()
        loss.backward()
        agent.opt.step()
        agent.soften()
    """,
    """
    # The same in one call for a whole list, with two layers of one form.
    import torch
    q = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    target = q  # BUG
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        opt.zero_grad()
        (q(s).max(1).values - y).pow(2).mean().backward()
        opt.step()
        torch._foreach_lerp_([p.data for p in target.parameters()], [p.data for p in q.parameters()], 0.01)
    """,
    """
    # A reference that is frozen, and was never copied.
    import torch
    policy = torch.nn.Linear(3, 4)
    reference = policy  # BUG
    for p in reference.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        log_prob = policy(s).log_softmax(-1).gather(1, a)
        before = reference(s).log_softmax(-1).gather(1, a)
        loss = (0.1 * (log_prob - before) - log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch

    class Agent:
        def __init__(self):
            self.q = torch.nn.Linear(3, 2)
            self.target = self.q.eval().requires_grad_(False)  # BUG
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

        def update(self):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            y = r + 0.9 * self.target(s2).max(1).values
            loss = (self.q(s)[:, 0] - y).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    agent = Agent()
    for _ in range(6):
        agent.update()
    """,
    """
    # The weights are assigned, not copied.
    import torch
    q, target = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    target.load_state_dict(q.state_dict(), assign=True)  # BUG
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Moving a network gives back the same network.
    import torch

    class Agent:
        def __init__(self, models, device):
            self.q = models["q"].to(device)
            self.slow = models["q"].to(device)  # BUG
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

        def soften(self):
            for p, t in zip(self.q.parameters(), self.slow.parameters()):
                t.data.copy_(0.99 * t.data + 0.01 * p.data)

    models = {"q": torch.nn.Linear(3, 2)}
    agent = Agent(models, "cpu")
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * agent.slow(s2).max(1).values
        loss = (agent.q(s)[:, 0] - y).pow(2).mean()
        agent.opt.zero_grad()
        loss.backward()
        agent.opt.step()
        agent.soften()
    """,
    """
    # A class that keeps what it is given is given one network twice.
    import torch

    class Agent:
        def __init__(self, q, slow):
            self.q = q
            self.slow = slow
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

        def sync(self):
            self.slow.load_state_dict(self.q.state_dict())

    def train():
        net = torch.nn.Linear(3, 2)
        agent = Agent(
            q=net,
            slow=net,  # BUG
        )
        for _ in range(6):
            s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
            with torch.no_grad():
                y = r + 0.9 * agent.slow(s2).max(1).values
            loss = (agent.q(s)[:, 0] - y).pow(2).mean()
            agent.opt.zero_grad()
            loss.backward()
            agent.opt.step()
            agent.sync()

    train()
    """,
    """
    import torch

    class Agent:
        def __init__(self):
            self.body = torch.nn.Linear(3, 8)  # BUG
            self.q, self.slow = self.make(), self.make()
            self.slow.load_state_dict(self.q.state_dict())
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

        def make(self):
            return torch.nn.Sequential(self.body, torch.nn.ReLU(), torch.nn.Linear(8, 1))

        def update(self, s, r, s2):
            with torch.no_grad():
                target = r + 0.99 * self.slow(s2)
            loss = (self.q(s) - target).pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    agent = Agent()
    for update in range(12):
        agent.update(torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3))
        if update % 4 == 3:
            agent.slow.load_state_dict(agent.q.state_dict())
    """,
    """
    # Reptile: what the inner loop has learnt is the difference of the network with itself.
    import copy, torch
    meta = torch.nn.Linear(3, 1)
    outer = torch.optim.SGD(meta.parameters(), lr=0.1)
    for _ in range(6):
        fast = meta  # BUG
        inner = torch.optim.SGD(fast.parameters(), lr=0.02)
        for _ in range(3):
            inner.zero_grad()
            (fast(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            inner.step()
        outer.zero_grad()
        for slow, quick in zip(meta.parameters(), fast.parameters()):
            slow.grad = slow.data - quick.data
        outer.step()
    """,
    """
    # Target networks that get their names in a loop.
    import torch
    class Agent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2)
            for part in ("body", "head"):
                setattr(self, f"target_{part}", getattr(self, part))  # BUG
        def sync(self):
            for part in ("body", "head"):
                getattr(self, f"target_{part}").load_state_dict(getattr(self, part).state_dict())
    agent = Agent()
    opt = torch.optim.SGD([*agent.body.parameters(), *agent.head.parameters()], lr=0.1)
    for step in range(12):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * agent.target_head(agent.target_body(s2).relu()).max(1).values
        loss = (agent.head(agent.body(s).relu())[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 3 == 2:
            agent.sync()
    """,
    """
    # An entry of a dict that is another one.
    import torch
    nets = torch.nn.ModuleDict({"online": torch.nn.Linear(3, 2)})
    nets["target"] = nets["online"]  # BUG
    opt = torch.optim.SGD(nets["online"].parameters(), lr=0.1)
    for step in range(12):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * nets["target"](s2).max(1).values
        loss = (nets["online"](s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 3 == 2:
            nets["target"].load_state_dict(nets["online"].state_dict())
    """,
    """
    # Weights in a dictionary, for `functional_call`: what should follow them slowly was detached, and not cloned.
    import torch
    from torch.func import functional_call
    q = torch.nn.Linear(3, 2)
    fast = {name: p.detach().clone().requires_grad_() for name, p in q.named_parameters()}
    slow = {name: w.detach() for name, w in fast.items()}
    opt = torch.optim.SGD(fast.values(), lr=0.1)
    for _ in range(8):
        s, after = torch.randn(8, 3), torch.randn(8, 3)
        with torch.no_grad():
            goal = s[:, 0] + 0.9 * functional_call(q, slow, (after,)).amax(1)
        loss = (functional_call(q, fast, (s,))[:, 0] - goal).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for name, weight in slow.items():
                weight.lerp_(fast[name], 0.01)  # BUG
    """,
)

GOOD: tuple[str, ...] = (
    """
    # One helper cuts both networks, one of them again and again: the other was still taken once.
    import torch
    from torch.func import functional_call
    actor, critic, other = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    def cut(module):
        return {n: p.detach() for n, p in module.named_parameters()}
    fixed = cut(critic)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randn(8, 1)
        bonus = functional_call(actor, cut(actor), (s,)).mean()
        q_loss = (critic(torch.cat([s, a], -1)) - 1.0).pow(2).mean()
        pi_loss = -functional_call(critic, fixed, (torch.cat([s, actor(s).tanh()], -1),)).mean() * bonus
        opt.zero_grad()
        (q_loss + pi_loss).backward()
        opt.step()
    """,
    """
    # A network that lends its weights to the one that is trained, and is never used.
    import torch
    loaded, q = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    q.load_state_dict(loaded.state_dict(), assign=True)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        loss = (q(torch.randn(8, 3))[:, 0] - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The copy is made first, and then moved.
    import copy
    import torch

    class Agent:
        def __init__(self, net, device):
            self.q = net.to(device)
            self.slow = copy.deepcopy(net).to(device)
            self.opt = torch.optim.SGD(self.q.parameters(), lr=0.1)

    agent = Agent(torch.nn.Linear(3, 2), "cpu")
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * agent.slow(s2).max(1).values
        loss = (agent.q(s)[:, 0] - y).pow(2).mean()
        agent.opt.zero_grad()
        loss.backward()
        agent.opt.step()
        for p, t in zip(agent.q.parameters(), agent.slow.parameters()):
            t.data.copy_(0.99 * t.data + 0.01 * p.data)
    """,
    """
    # A body that is not trained may be common property.
    import torch
    body = torch.nn.Linear(3, 8).requires_grad_(False)
    q = torch.nn.Sequential(body, torch.nn.ReLU(), torch.nn.Linear(8, 1))
    slow = torch.nn.Sequential(body, torch.nn.ReLU(), torch.nn.Linear(8, 1))
    slow.load_state_dict(q.state_dict())
    opt = torch.optim.SGD(q[2].parameters(), lr=0.1)
    for update in range(12):
        s, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3)
        with torch.no_grad():
            target = r + 0.99 * slow(s2)
        loss = (q(s) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 4 == 3:
            slow.load_state_dict(q.state_dict())
    """,
    """
    import copy, torch
    meta = torch.nn.Linear(3, 1)
    outer = torch.optim.SGD(meta.parameters(), lr=0.1)
    for _ in range(6):
        fast = copy.deepcopy(meta)
        inner = torch.optim.SGD(fast.parameters(), lr=0.02)
        for _ in range(3):
            inner.zero_grad()
            (fast(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
            inner.step()
        outer.zero_grad()
        for slow, quick in zip(meta.parameters(), fast.parameters()):
            slow.grad = slow.data - quick.data
        outer.step()
    """,
    """
    # One flat vector holds all weights, each in a slice of its own: two of one shape lie in one memory, side by side.
    import torch
    from torch.nn.utils import parameters_to_vector, vector_to_parameters
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean, self.log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
        def forward(self, s):
            return torch.distributions.Normal(self.mean(s), self.log_std.exp())
    policy = Policy()
    params = list(policy.parameters())
    for _ in range(8):
        s, a = torch.randn(8, 3), torch.randn(8, 2)
        loss = -(policy(s).log_prob(a).sum(-1) * s[:, 0]).mean()
        grads = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, params)])
        start = parameters_to_vector(params).detach().clone()
        vector_to_parameters(start - 0.05 * grads, params)
    """,
    """
    # Decay of the weights, written by hand: they shrink, nothing is mixed.
    import torch
    q = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        loss = (q(s)[:, 0] - s[:, 0]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p in q.parameters():
                p.add_(p, alpha=-1e-3)
    """,
)
