"""More examples of GS305 (growing-graph): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Priorities with their graphs, in updates so large that only a few of them are traced.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    priorities = {}
    for update in range(70):
        error = net(torch.randn(64, 3)).squeeze(1) - 1.0
        opt.zero_grad()
        error.pow(2).mean().backward()
        opt.step()
        for row, one in enumerate(error):
            priorities[update, row] = (one.abs() + 1e-3) ** 0.6  # BUG
    """,
    """
    # The best error so far, measured after every fourth update; another line only reads it.
    import torch
    net, held = torch.nn.Linear(3, 1), torch.randn(8, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best, waited = torch.full((8, 1), float("inf")), 0
    for update in range(40):
        opt.zero_grad()
        (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        opt.step()
        if update % 4 == 3:
            error = (net(held) - 1.0).pow(2)
            waited = 0 if (error < 0.9 * best).any() else waited + 1
            best = torch.minimum(best, error)  # BUG
    """,
    """
    # What a method hands back is kept by whoever calls it.
    import torch
    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
        def forward(self, x, h):
            h = self.cell(x, h)
            return self.head(h), h
    net = Memory()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    state = torch.zeros(1, 4)
    for _ in range(9):
        value, state = net(torch.randn(1, 3), state)  # BUG
        learned, _ = net(torch.randn(8, 3), torch.zeros(8, 4))
        opt.zero_grad()
        (learned - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    # Made by a helper, and put away with something else in the same line.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = []
    def surprise(x):
        return (net(x) - 1.0).pow(2).mean(-1)
    for _ in range(60):
        x = torch.randn(8, 3)
        kept.append((x, 0.5 + surprise(x)))  # BUG
        opt.zero_grad()
        surprise(x).mean().backward()
        opt.step()
    """,
    """
    # Written in place: nothing but the memory itself goes from one update to the next.
    import torch
    cell, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    memory = torch.zeros(8, 4)
    for _ in range(8):
        for _ in range(2):
            memory[:] = cell(torch.randn(8, 3), memory.clone())  # BUG
        loss = (head(cell(torch.randn(8, 3), memory.detach().clone())) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A memory that lets its oldest go: none of what was traced is left when the run ends, but the graphs are as many.
    import torch
    from collections import deque
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    kept = deque(maxlen=60)
    for _ in range(130):
        s, a = torch.randn(8, 3), torch.randint(2, (8,))
        kept.append(torch.distributions.Categorical(logits=net(s)).log_prob(a))  # BUG
        logp = torch.distributions.Categorical(logits=net(s)).log_prob(a)
        weight = (logp - kept[-1]).detach().exp()
        opt.zero_grad()
        (-(weight * logp) * s[:, 0]).mean().backward()
        opt.step()
    """,
    """
    # One rollout serves three updates: only every third iteration leaves something.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    history = []
    for _ in range(26):
        s = torch.randn(8, 3)
        history.append(net(s).mean())  # BUG
        for _ in range(3):
            opt.zero_grad()
            (net(s) - s[:, :1]).pow(2).mean().backward()
            opt.step()
    """,
    """
    # A short run: every episode is kept for the film at its end, with the distributions behind it.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    class Episode:
        def __init__(self):
            self.scores, self.rewards = [], []
    film = []
    for _ in range(24):
        episode = Episode()
        for _ in range(5):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(3)))
            act = dist.sample()
            episode.scores.append(dist.log_prob(act))  # BUG
            episode.rewards.append(float(act))
        opt.zero_grad()
        (-(torch.stack(episode.scores).sum() * sum(episode.rewards))).backward()
        opt.step()
        film.append(episode)
    """,
    """
    # The answers of a critic are kept in a table by update.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.05)
    table = {}
    for update in range(30):
        s = torch.randn(8, 3)
        loss = (critic(s) - s[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        table[update] = loss  # BUG
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A short run whose last epoch is still there when it ends; those before it have gone.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(2):
        losses = []
        for _ in range(20):
            s = torch.randn(8, 3)
            loss = (net(s) - s[:, :1]).pow(2).mean()
            losses.append(loss)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(torch.stack(losses).mean().item())
    """,
    """
    # A memory of twelve that lets its oldest go.
    import collections
    import torch
    net, recent = torch.nn.Linear(3, 1), collections.deque(maxlen=12)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(30):
        s = torch.randn(8, 3)
        loss = (net(s) - s[:, :1]).pow(2).mean()
        recent.append(loss)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The first answers are kept to be compared with at the end: three of them, whatever the run is like.
    import torch
    net, first = torch.nn.Linear(3, 1), []
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for update in range(30):
        s = torch.randn(8, 3)
        value = net(s)
        if update < 3:
            first.append(value)
        opt.zero_grad()
        (value - s[:, :1]).pow(2).mean().backward()
        opt.step()
    """,
    """
    # What `.data` gives gets the graph, and is gone at once.
    import copy
    import torch
    net = torch.nn.Linear(3, 1)
    old = copy.deepcopy(net).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(12):
        s, after = torch.randn(8, 3), torch.randn(8, 3)
        loss = (net(s) - 0.9 * old(after) - s[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for slow, fast in zip(old.parameters(), net.parameters()):
            slow.data.lerp_(fast, 0.05)
    """,
    """
    # In place, it is the same tensor and no longer the same value.
    import torch
    rnn, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    h = torch.zeros(8, 4)
    for _ in range(9):
        h = rnn(torch.randn(8, 3), h)
        loss = (head(h) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        h.detach_()
    """,
    """
    # Carried on for three rounds of four updates, and then cut off.
    import torch
    net, held = torch.nn.Linear(3, 1), torch.randn(8, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best = torch.full((8, 1), float("inf"))
    for update in range(60):
        opt.zero_grad()
        (net(torch.randn(8, 3)) - 1.0).pow(2).mean().backward()
        opt.step()
        if update % 4 == 3:
            best = torch.minimum(best, (net(held) - 1.0).pow(2))
        if update % 12 == 11:
            best = best.detach()
    """,
    """
    # Handed back with its graph, and cut off by whoever keeps it.
    import torch
    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
        def forward(self, x, h):
            h = self.cell(x, h)
            return self.head(h), h
    net = Memory()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    state = torch.zeros(1, 4)
    for _ in range(9):
        value, state = net(torch.randn(1, 3), state)
        state = state.detach()
        learned, _ = net(torch.randn(8, 3), torch.zeros(8, 4))
        opt.zero_grad()
        (learned - 1.0).pow(2).mean().backward()
        opt.step()
    """,
    """
    import torch
    cell, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    memory = torch.zeros(8, 4)
    for _ in range(8):
        h = cell(torch.randn(8, 3), memory.clone())
        loss = (head(h) - 1.0).pow(2).mean()
        memory[:] = h.detach()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A short memory of live values: by the time that anybody looks, all of them are gone.
    import torch
    from collections import deque
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    recent = deque(maxlen=20)
    for _ in range(130):
        s = torch.randn(8, 3)
        loss = (net(s) - s[:, :1]).pow(2).mean()
        recent.append(loss)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Offloading on a CPU hands every output back as it is: those of a graph that nobody sends backward keep themselves.
    import copy
    import torch
    q = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2), torch.nn.Tanh())
    target = copy.deepcopy(q)
    opt = torch.optim.Adam(q.parameters(), lr=1e-2)
    for step in range(130):
        s, s2, r = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8)
        with torch.autograd.graph.save_on_cpu():
            y = (r + 0.9 * target(s2).max(1).values).detach()
            loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            target.load_state_dict(q.state_dict())
    """,
)
