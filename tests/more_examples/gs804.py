"""More examples of GS804 (ratio-always-one): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # A quotient of probabilities.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        for _ in range(3):
            with torch.no_grad():
                old = policy(s).gather(1, a)  # BUG
            ratio = policy(s).gather(1, a) / (old + 1e-8)
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A density that was written out, without its constants, and multiplied over the joints.
    import torch
    mean, spread = torch.nn.Linear(4, 2), torch.nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([*mean.parameters(), spread], lr=0.01)
    def density(s, a):
        return (torch.exp(-0.5 * ((a - mean(s)) / spread) ** 2) / spread).prod(dim=1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8)
        for _ in range(3):
            old = density(s, a).detach()  # BUG
            ratio = density(s, a) / old
            loss = -torch.min(ratio * advantage, torch.clamp(ratio, 0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Each row is learned from once, but the policy has moved since it drew them all.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(4):
        s = torch.randn(12, 3)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(s)).sample()
            advantage = (a == s.argmax(1)).float() - 0.5
        for rows in torch.randperm(12).split(4):
            new = score(s[rows], a[rows])
            old = new.detach()  # BUG
            ratio = (new - old).exp()
            weight = advantage[rows]
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Answers of a generation, cut into slices; each takes its own present scores for the old ones.
    import torch
    embed, head = torch.nn.Embedding(6, 8), torch.nn.Linear(8, 6)
    opt = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=0.01)
    def scores_of(tokens):
        logits = head(torch.tanh(embed(tokens[:, :-1])))
        return logits.log_softmax(-1).gather(2, tokens[:, 1:].unsqueeze(2)).squeeze(2)
    @torch.no_grad()
    def generate():
        tokens = torch.zeros(8, 1, dtype=torch.long)
        for _ in range(4):
            chances = head(torch.tanh(embed(tokens[:, -1]))).softmax(-1)
            tokens = torch.cat([tokens, torch.multinomial(chances, 1)], 1)
        return tokens, tokens.float().mean(1, keepdim=True) - 2.0
    for _ in range(4):
        tokens, advantage = generate()
        for part, weight in zip(tokens.chunk(4), advantage.chunk(4)):
            with torch.no_grad():
                old = scores_of(part)  # BUG
            ratio = torch.exp(scores_of(part) - old)
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.25) * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
GOOD: tuple[str, ...] = (
    """
    # Probabilities that were kept; nothing is clipped around one but the ratio.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        with torch.no_grad():
            old = policy(s).gather(1, a)
            scale = critic(s).abs().mean() + 1.0
        for _ in range(3):
            ratio = policy(s).gather(1, a) / old
            value = (critic(s).exp() / scale).clamp(0.1, 9.0)
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean() + value.pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # `p / p.detach()` is a way to write a plain policy gradient.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        for _ in range(3):
            chosen = policy(s).gather(1, a)
            loss = -(chosen / chosen.detach() * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Scores of the time when the choices were drawn.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(4):
        s = torch.randn(12, 3)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(s)).sample()
            advantage = (a == s.argmax(1)).float() - 0.5
            known = score(s, a)
        for rows in torch.randperm(12).split(4):
            new = score(s[rows], a[rows])
            old = known[rows]
            ratio = (new - old).exp()
            weight = advantage[rows]
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Not clipped: a plain policy gradient.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(4):
        s = torch.randn(12, 3)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(s)).sample()
            advantage = (a == s.argmax(1)).float() - 0.5
        for rows in torch.randperm(12).split(4):
            new = score(s[rows], a[rows])
            old = new.detach()
            ratio = (new - old).exp()
            weight = advantage[rows]
            loss = -(ratio * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # All parts make one step.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(4):
        s = torch.randn(12, 3)
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(s)).sample()
            advantage = (a == s.argmax(1)).float() - 0.5
        opt.zero_grad()
        for rows in torch.randperm(12).split(4):
            new = score(s[rows], a[rows])
            old = new.detach()
            ratio = (new - old).exp()
            weight = advantage[rows]
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            (loss / 3).backward()
        opt.step()
    """,
    """
    # As above, with choices that nobody drew.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(4):
        s = torch.randn(12, 3)
        with torch.no_grad():
            a = torch.randint(4, (12,))
            advantage = (a == s.argmax(1)).float() - 0.5
        for rows in torch.randperm(12).split(4):
            new = score(s[rows], a[rows])
            old = new.detach()
            ratio = (new - old).exp()
            weight = advantage[rows]
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
