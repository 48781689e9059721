"""More examples of GS307 (target-never-synced): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The critic's copy follows in every update; the actor's, which is asked beside it, does not.
    import copy
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
    slow = {"actor": copy.deepcopy(actor), "critic": copy.deepcopy(critic)}
    opts = [torch.optim.SGD(net.parameters(), lr=0.01) for net in (actor, critic)]
    for _ in range(60):
        s, act, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1), torch.randn(8, 3)
        with torch.no_grad():
            a2 = slow["actor"](s2)  # BUG
            y = r + 0.9 * slow["critic"](torch.cat([s2, a2], -1))
        opts[1].zero_grad()
        (critic(torch.cat([s, act], -1)) - y).pow(2).mean().backward()
        opts[1].step()
        opts[0].zero_grad()
        (-critic(torch.cat([s, actor(s)], -1)).mean()).backward()
        opts[0].step()
        with torch.no_grad():
            for t, p in zip(slow["critic"].parameters(), critic.parameters()):
                t.lerp_(p, 0.05)
    """,
    """
    # Both target networks are synced from the first critic.
    import copy
    import torch
    one, two = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    target_one, target_two = copy.deepcopy(one), copy.deepcopy(two)
    opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    for step in range(12):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * torch.min(target_one(s2), target_two(s2)).max(1).values
        loss = sum((critic(s)[:, 0] - y).pow(2).mean() for critic in (one, two))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 2 == 1:
            target_one.load_state_dict(one.state_dict())
            target_two.load_state_dict(one.state_dict())  # BUG
    """,
    """
    # The names have a prefix, and nobody is to complain: nothing is loaded.
    import torch
    policy = torch.nn.Linear(3, 2)
    wrapped, runner = torch.nn.Sequential(policy), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        runner.load_state_dict(wrapped.state_dict(), strict=False)  # BUG
        s = torch.randn(8, 3)
        with torch.no_grad():
            a = runner(s).softmax(-1).multinomial(1)
        loss = -(wrapped(s).log_softmax(-1).gather(1, a) * torch.randn(8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The adapter is trained, and only the base is sent.
    import copy
    import torch
    class Adapted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(3, 2).requires_grad_(False)
            self.adapter = torch.nn.Linear(3, 2, bias=False)
        def forward(self, s):
            return self.base(s) + self.adapter(s)
    policy = Adapted()
    sampler = copy.deepcopy(policy)
    opt = torch.optim.SGD(policy.adapter.parameters(), lr=0.1)
    for _ in range(12):
        sent = {n: p for n, p in policy.state_dict().items() if "adapter" not in n}
        sampler.load_state_dict(sent, strict=False)  # BUG
        s, gain = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=sampler(s))
            a = dist.sample()
            old = dist.log_prob(a)
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is brought up to date are clones of the weights that the target holds.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    slow = {name: p.detach().clone() for name, p in target.named_parameters()}
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for name, p in q.named_parameters():
                slow[name].lerp_(p, 0.05)  # BUG
    """,
    """
    # A clone for each sync, and it is gone with it.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for t, p in zip(target.parameters(), q.parameters()):
            t.data.clone().mul_(0.9).add_(p.data, alpha=0.1)  # BUG
    """,
    """
    # A network that is copied, mixed and forgotten.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        after = copy.deepcopy(target)
        for t, p in zip(after.parameters(), q.parameters()):
            t.data.lerp_(p.data, 0.05)  # BUG
    """,
    """
    # A sampler that was copied once.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    sampler = copy.deepcopy(policy)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for step in range(26):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(sampler(ids)[:, -1].softmax(-1), 1)], 1)  # BUG
        reward = (ids[:, 1:] == ids[:, :1]).float().mean(1)
        logp = policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        loss = -((reward - reward.mean()).unsqueeze(1) * logp).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The soft update takes the heads of a dueling network in; its body stays as it was drawn.
    import copy
    import torch
    from torch import nn
    class Dueling(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 16), nn.ReLU())
            self.value, self.advantage = nn.Linear(16, 1), nn.Linear(16, 2)
        def forward(self, s):
            z = self.body(s)
            a = self.advantage(z)
            return self.value(z) + a - a.mean(-1, keepdim=True)
    q = Dueling()
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.05)
    for _ in range(60):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for name in ("value", "advantage"):
            online, slow = getattr(q, name), getattr(target, name)
            for p, t in zip(online.parameters(), slow.parameters()):
                t.data.mul_(0.99).add_(p.data, alpha=0.01)  # BUG
    """,
    """
    # A quantile critic made anew and loaded once; only its last layer is handed to the helper.
    import torch
    def build():
        return torch.nn.ModuleDict({"enc": torch.nn.Linear(3, 16), "out": torch.nn.Linear(16, 5)})
    def ask(net, s):
        return net["out"](net["enc"](s).tanh())
    def blend(source, into, rate=0.05):
        with torch.no_grad():
            for fresh, slow in zip(source.parameters(), into.parameters()):
                slow.copy_(rate * fresh + (1 - rate) * slow)
    critic, late = build(), build()
    late.load_state_dict(critic.state_dict())
    opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
    for _ in range(60):
        s, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 3)
        y = r + 0.9 * ask(late, s2).detach()
        loss = torch.nn.functional.smooth_l1_loss(ask(critic, s), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        blend(critic["out"], late["out"])  # BUG
    """,
)

GOOD: tuple[str, ...] = (
    """
    # A body that nobody trains, in both; and only the head, which is, follows.
    import copy
    import torch
    q = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    q[0].requires_grad_(False)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q[2].parameters(), lr=0.05)
    for _ in range(60):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for p, t in zip(q[2].parameters(), target[2].parameters()):
            t.data.mul_(0.99).add_(p.data, alpha=0.01)
    """,
    """
    # Body and head follow in their own time, the body through `load_state_dict` every 20 updates.
    import copy
    import torch
    q = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.05)
    for update in range(60):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for p, t in zip(q[2].parameters(), target[2].parameters()):
            t.data.lerp_(p.data, 0.01)
        if update % 20 == 19:
            target[0].load_state_dict(q[0].state_dict())
    """,
    """
    # One encoder for both, which only the critic trains: there is nothing to sync.
    import copy
    import torch
    encoder, head = torch.nn.Linear(3, 16), torch.nn.Linear(16, 2)
    slow = copy.deepcopy(head)
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
    for _ in range(60):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * slow(encoder(s2).tanh()).max(1).values
        loss = (head(encoder(s).tanh())[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for p, t in zip(head.parameters(), slow.parameters()):
                t.lerp_(p, 0.05)
    """,
    """
    # Names for the weights themselves.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    slow = {name: p.detach() for name, p in target.named_parameters()}
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for name, p in q.named_parameters():
                slow[name].lerp_(p, 0.05)
    """,
    """
    # The mixture of both is looked at, and one of the learner is kept for later; the target has its own time.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    kept = [p.detach().clone() for p in q.parameters()]
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for k, t, p in zip(kept, target.parameters(), q.parameters()):
                k.mul_(0.9).add_(p, alpha=0.1)
                far = (p - t.clone()).abs().max()
    """,
    """
    # Clones that are asked in place of the weights; and a copy that takes the target's place.
    import copy
    import torch
    q = torch.nn.Linear(3, 2)
    target = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    slow = {name: p.detach().clone() for name, p in target.named_parameters()}
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * target(s2).max(1).values
        loss = (q(s)[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for name, p in q.named_parameters():
                slow[name].lerp_(p, 0.05)
            torch.func.functional_call(target, slow, (s,))
        after = copy.deepcopy(target)
        for t, p in zip(after.parameters(), q.parameters()):
            t.data.lerp_(p.data, 0.05)
        target = after
    """,
    """
    # Two rhythms: the critic's copy follows in every update, the actor's is put right every 25.
    import copy
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
    slow = {"actor": copy.deepcopy(actor), "critic": copy.deepcopy(critic)}
    opts = [torch.optim.SGD(net.parameters(), lr=0.01) for net in (actor, critic)]
    def value(a, q, s):
        return q(torch.cat([s, a(s)], -1))
    for update in range(60):
        s, act, r, s2 = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * value(slow["actor"], slow["critic"], s2)
        opts[1].zero_grad()
        (critic(torch.cat([s, act], -1)) - y).pow(2).mean().backward()
        opts[1].step()
        opts[0].zero_grad()
        (-value(actor, critic, s).mean()).backward()
        opts[0].step()
        with torch.no_grad():
            for t, p in zip(slow["critic"].parameters(), critic.parameters()):
                t.lerp_(p, 0.05)
        if update % 25 == 24:
            slow["actor"].load_state_dict(actor.state_dict())
    """,
    """
    # Two target networks that began alike, and follow one critic each.
    import copy
    import torch
    one, two = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    target_one, target_two = copy.deepcopy(one), copy.deepcopy(one)
    opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
    for _ in range(12):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        with torch.no_grad():
            y = r + 0.9 * torch.min(target_one(s2), target_two(s2)).max(1).values
        loss = sum((critic(s)[:, 0] - y).pow(2).mean() for critic in (one, two))
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for target, critic in ((target_one, one), (target_two, two)):
                for t, p in zip(target.parameters(), critic.parameters()):
                    t.lerp_(p, 0.1)
    """,
    """
    # The names have a prefix, which is taken off.
    import torch
    policy = torch.nn.Linear(3, 2)
    wrapped, runner = torch.nn.Sequential(policy), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        runner.load_state_dict({n.removeprefix("0."): p for n, p in wrapped.state_dict().items()}, strict=False)
        s = torch.randn(8, 3)
        with torch.no_grad():
            a = runner(s).softmax(-1).multinomial(1)
        loss = -(wrapped(s).log_softmax(-1).gather(1, a) * torch.randn(8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The adapter is trained, and sent; the base stays as it is.
    import copy
    import torch
    class Adapted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.base = torch.nn.Linear(3, 2).requires_grad_(False)
            self.adapter = torch.nn.Linear(3, 2, bias=False)
        def forward(self, s):
            return self.base(s) + self.adapter(s)
    policy = Adapted()
    sampler = copy.deepcopy(policy)
    opt = torch.optim.SGD(policy.adapter.parameters(), lr=0.1)
    for _ in range(12):
        sent = {n: p for n, p in policy.state_dict().items() if "adapter" in n}
        sampler.load_state_dict(sent, strict=False)
        s, gain = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            dist = torch.distributions.Categorical(logits=sampler(s))
            a = dist.sample()
            old = dist.log_prob(a)
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sampler that is brought up to date now and then.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    sampler = copy.deepcopy(policy)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for step in range(26):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            if step % 5 == 0:
                sampler.load_state_dict(policy.state_dict())
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(sampler(ids)[:, -1].softmax(-1), 1)], 1)
        reward = (ids[:, 1:] == ids[:, :1]).float().mean(1)
        logp = policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        loss = -((reward - reward.mean()).unsqueeze(1) * logp).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of a model that stays as it is: the loss knows how likely they were.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    sampler = copy.deepcopy(policy)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for step in range(26):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(sampler(ids)[:, -1].softmax(-1), 1)], 1)
            old = sampler(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        reward = (ids[:, 1:] == ids[:, :1]).float().mean(1)
        logp = policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        weight = (logp - old).exp().clamp(max=2.0)
        loss = -((reward - reward.mean()).unsqueeze(1) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of a model that stays as it is: the better half is imitated.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    sampler = copy.deepcopy(policy)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for step in range(26):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(sampler(ids)[:, -1].softmax(-1), 1)], 1)
        reward = (ids[:, 1:] == ids[:, :1]).float().mean(1)
        logp = policy(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        loss = -((reward >= reward.median()).float().unsqueeze(1) * logp).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
