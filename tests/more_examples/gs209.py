"""More examples of GS209 (cancelling-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The returns are made of the values, live: the error is the advantage, whatever the critic says.
    import torch
    import torch.nn.functional as F
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(5):
        s, a, rewards = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        values = critic(s).squeeze(-1)
        advantages, after = [], 0.0
        for reward, value in zip(reversed(rewards.tolist()), reversed(values.tolist())):
            advantages.insert(0, reward + 0.9 * after - value)
            after = value
        advantages = torch.tensor(advantages)
        returns = advantages + values  # BUG
        log_probs = policy(s).log_softmax(-1).gather(1, a).squeeze(1)
        loss = F.mse_loss(values, returns) - (log_probs * advantages).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The weight of the critic is its own size, live (TD3+BC).
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randn(8, 1)
        action = torch.tanh(actor(s))
        q = critic(torch.cat([s, action], 1))
        weight = 2.5 / q.abs().mean()  # BUG
        loss = -weight * q.mean() + (action - a).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The encoder learns from its commitment to the codes, and nothing from the decoder.
    import torch
    encoder, decoder, codes = torch.nn.Linear(3, 2), torch.nn.Linear(2, 3), torch.nn.Embedding(8, 2)
    parameters = [*encoder.parameters(), *decoder.parameters(), *codes.parameters()]
    opt = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        z = encoder(s)
        code = codes(torch.cdist(z, codes.weight).argmin(1))
        commitment = (z - code.detach()).pow(2).mean() + (code - z.detach()).pow(2).mean()
        through = z + (code - z)  # BUG
        loss = (decoder(through) - s).pow(2).mean() + commitment
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pi, self.value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        def forward(self, s):
            return torch.distributions.Categorical(logits=self.pi(s)), self.value(s).squeeze(1)
    policy = Policy()
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        batches = [(torch.randn(8, 3), torch.randn(8)) for _ in range(2)]
        olds = [policy(s)[0] for s, _ in batches]  # BUG
        opt.zero_grad()
        for (s, returns), old in zip(batches, olds):
            new, value = policy(s)
            loss = (value - returns).pow(2).mean() + torch.distributions.kl_divergence(old, new).mean()
            loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(s, a):
        return policy(s).log_softmax(-1).gather(1, a)
    for _ in range(4):
        s, a, advantage = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        for rows in torch.randperm(8).split(4):
            old = score(s, a)  # BUG
            ratio = (score(s[rows], a[rows]) - old[rows]).exp()
            loss = -torch.min(ratio * advantage[rows], ratio.clamp(0.8, 1.2) * advantage[rows]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The same name on both sides: this is the line where `detach()` belongs.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        new = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = (new - new).exp()  # BUG
        loss = -(ratio * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sample that was written by hand, scored around the mean that it was drawn around.
    import torch
    from torch.distributions import Normal
    mean = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(5):
        s, gain = torch.randn(8, 3), torch.randn(8)
        centre = mean(s)
        action = centre + 0.3 * torch.randn_like(centre)  # BUG
        log_prob = Normal(centre, 0.3).log_prob(action).sum(-1)
        loss = -(log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two names for one log-probability, told apart by a helper.
    import torch

    def surrogate(new, old, gain):
        ratio = (new - old).exp()
        return -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()

    class Learner:
        def __init__(self):
            self.policy = torch.nn.Linear(3, 4)
            self.opt = torch.optim.SGD(self.policy.parameters(), lr=0.1)

        def update(self, s, a, gain):
            log_prob = torch.distributions.Categorical(logits=self.policy(s)).log_prob(a)
            before = log_prob  # BUG
            loss = surrogate(log_prob, before, gain)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    learner = Learner()
    for _ in range(5):
        learner.update(torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8))
    """,
    """
    # The divergence from a second pass; the first is the one that the other term trains.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8, 1)
        log_probs = policy(s).log_softmax(-1)
        before = policy(s)  # BUG
        kl = (before.softmax(-1) * (before.log_softmax(-1) - log_probs)).sum(-1)
        loss = -(log_probs.gather(1, a) * gain).mean() + 0.5 * kl.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The density of a normal distribution is a sum of its own, scaled in one part.
    import torch
    actor, other = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *other.parameters()], lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        log_prob = torch.distributions.Normal(actor(s), 1.0).log_prob(torch.randn(8, 1))
        policy_loss = -((log_prob - log_prob).exp() * torch.randn(8, 1)).mean()  # BUG
        loss = torch.stack([policy_loss, other(s).pow(2).mean()]).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A quotient of probabilities with both sides live.
    import torch
    policy = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        old = policy(s).gather(1, a)  # BUG
        ratio = policy(s).gather(1, a) / old
        loss = -(ratio * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The one expert that was chosen, normalised by itself: nothing teaches the gate.
    import torch
    gate, experts = torch.nn.Linear(3, 4), torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(4))
    opt = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(2, (16, 1)), torch.randn(16, 1)
        odds = gate(s).exp()
        best, which = odds.max(dim=1, keepdim=True)
        share = best / best.sum(dim=1, keepdim=True)  # BUG
        logits = torch.stack([e(s) for e in experts], 1)[torch.arange(16), which[:, 0]]
        loss = -((share * logits).log_softmax(1).gather(1, a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import torch
    import torch.nn.functional as F
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        values, advantages = critic(torch.randn(8, 3)).squeeze(-1), torch.randn(8)
        returns = advantages + values.detach()
        loss = F.mse_loss(values, returns)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is left of a step when its beginning is taken off; both ends learn from another loss.
    import torch
    import torch.nn.functional as F
    encoder, move, head = torch.nn.Linear(3, 2), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*encoder.parameters(), *move.parameters(), *head.parameters()], lr=0.1)
    for _ in range(5):
        s, y = torch.randn(8, 3), torch.randn(8, 1)
        z = encoder(s)
        after = z + move(z)
        loss = 0.1 * F.mse_loss(after, z) + F.mse_loss(head(after), y) + F.mse_loss(head(z), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The weight of the critic is its own size, as a number (TD3+BC).
    import torch
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randn(8, 1)
        action = torch.tanh(actor(s))
        q = critic(torch.cat([s, action], 1))
        weight = 2.5 / q.abs().mean().detach()
        loss = -weight * q.mean() + (action - a).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A direction is compared with another: normalising it is the point.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(6):
        x = net(torch.randn(3))
        loss = -((x / x.norm()) * torch.ones(4)).sum() + (x - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    encoder, decoder, codes = torch.nn.Linear(3, 2), torch.nn.Linear(2, 3), torch.nn.Embedding(8, 2)
    parameters = [*encoder.parameters(), *decoder.parameters(), *codes.parameters()]
    opt = torch.optim.SGD(parameters, lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        z = encoder(s)
        code = codes(torch.cdist(z, codes.weight).argmin(1))
        commitment = (z - code.detach()).pow(2).mean() + (code - z.detach()).pow(2).mean()
        through = z + (code - z).detach()
        loss = (decoder(through) - s).pow(2).mean() + commitment
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two passes over different things.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(5):
        s = torch.randn(9, 3)
        smooth = (critic(s[1:]) - critic(s[:-1])).pow(2).mean()
        loss = (critic(s) - s[:, :1]).pow(2).mean() + 0.1 * smooth
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The noise of an action, taken from it again: the mean cancels, and is trained by the critic.
    import torch
    mean, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        centre = mean(s)
        loss = (centre + 0.1 * torch.randn(8, 2) - centre).pow(2).mean() - critic(torch.cat([s, centre], -1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Preferences: both differences from the reference are zero before the first step.
    import copy, torch
    policy = torch.nn.Linear(4, 5)
    reference = copy.deepcopy(policy)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def score(net, s, a):
        return net(s).log_softmax(-1).gather(1, a).squeeze(1)
    for _ in range(3):
        good, bad = torch.randn(8, 4), torch.randn(8, 4)
        a, b = torch.randint(5, (8, 1)), torch.randint(5, (8, 1))
        with torch.no_grad():
            fixed, fixed2 = score(reference, good, a), score(reference, bad, b)
        margin = (score(policy, good, a) - fixed) - (score(policy, bad, b) - fixed2)
        loss = -torch.nn.functional.logsigmoid(margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The sample is data: only the mean is live in its score.
    import torch
    from torch.distributions import Normal
    mean = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(mean.parameters(), lr=0.1)
    for _ in range(5):
        s, gain = torch.randn(8, 3), torch.randn(8)
        centre = mean(s)
        action = (centre + 0.3 * torch.randn_like(centre)).detach()
        loss = -(Normal(centre, 0.3).log_prob(action).sum(-1) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A natural step: the divergence from a copy that was made without gradients, of a policy with gradients.
    import torch
    from torch.distributions import Normal, kl_divergence
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    params = [*mean.parameters(), log_std]
    def policy(s):
        return Normal(mean(s), log_std.exp())
    for _ in range(5):
        s, gain = torch.randn(8, 3), torch.randn(8)
        now = policy(s)
        with torch.no_grad():
            action = now.sample()
            before = Normal(now.mean.clone(), now.stddev.clone())
        score = (policy(s).log_prob(action).sum(-1) * gain).mean()
        step = [g.detach() for g in torch.autograd.grad(score, params)]
        apart = kl_divergence(before, policy(s)).sum(-1).mean()
        slopes = torch.autograd.grad(apart, params, create_graph=True)
        along = sum((slope * g).sum() for slope, g in zip(slopes, step))
        curved = torch.autograd.grad(along, params)
        with torch.no_grad():
            for p, g, h in zip(params, step, curved):
                p.add_(0.1 * g / (1.0 + h.norm()))
    """,
    """
    # The old probabilities are powers taken without gradients; what they are powers of has gradients.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8, 1)
        first = policy(s).log_softmax(-1).gather(1, a)
        with torch.no_grad():
            old = first.exp()
        again = policy(s).log_softmax(-1).gather(1, a).exp()
        loss = -(again / old * gain).mean() - 0.1 * first.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The gate has a loss of its own, so that all experts are asked.
    import torch
    gate, experts = torch.nn.Linear(3, 4), torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(4))
    opt = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(2, (16, 1)), torch.randn(16, 1)
        odds = gate(s).exp()
        best, which = odds.max(dim=1, keepdim=True)
        share = best / best.sum(dim=1, keepdim=True)
        logits = torch.stack([e(s) for e in experts], 1)[torch.arange(16), which[:, 0]]
        even = (odds / odds.sum(1, keepdim=True)).mean(0).pow(2).sum()
        loss = -((share * logits).log_softmax(1).gather(1, a) * gain).mean() + 0.1 * even
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Normalised over all experts, not over the one that was chosen.
    import torch
    gate, experts = torch.nn.Linear(3, 4), torch.nn.ModuleList(torch.nn.Linear(3, 2) for _ in range(4))
    opt = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
    for _ in range(5):
        s, a, gain = torch.randn(16, 3), torch.randint(2, (16, 1)), torch.randn(16, 1)
        odds = gate(s).exp()
        best, which = odds.max(dim=1, keepdim=True)
        share = best / odds.sum(dim=1, keepdim=True)
        logits = torch.stack([e(s) for e in experts], 1)[torch.arange(16), which[:, 0]]
        loss = -((share * logits).log_softmax(1).gather(1, a) * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
