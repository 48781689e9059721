"""More examples of GS802 (reversed-entropy): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import torch
    policy, log_alpha = torch.nn.Linear(3, 2), torch.zeros((), requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        log_prob = dist.log_prob(dist.sample())
        loss = (log_prob * torch.randn(8)).mean() - log_alpha.exp().detach() * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        alpha_loss = (log_alpha * (log_prob + 0.5).detach()).mean()  # BUG
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        p = actor(s).softmax(-1)
        value = (p * (critic(s) + 0.2 * torch.log(p + 1e-8))).sum(-1)  # BUG  gradsan: allow unstable-log-prob
        opt.zero_grad()
        (-value.mean()).backward()
        opt.step()
    """,
    """
    # Discrete SAC: the temperature and the entropy over all actions.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        log_p = actor(s).log_softmax(-1)
        loss = (log_p.exp() * (log_alpha.exp().detach() * log_p - critic(s))).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        entropy = -(log_p.exp() * log_p).sum(-1).detach()
        alpha_loss = (log_alpha.exp() * (0.6 - entropy)).mean()  # BUG
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    # A rollout whose reward came at its end: what followed it is weighed by zero.
    import torch
    from torch.distributions import Categorical
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        scores, entropies = [], []
        for _ in range(6):
            dist = Categorical(logits=policy(torch.randn(1, 3)))
            scores.append(dist.log_prob(dist.sample()))
            entropies.append(dist.entropy())
        returns = torch.tensor([0.81, 0.9, 1.0, 0.0, 0.0, 0.0])
        loss = -(torch.cat(scores) * returns).mean() + 0.01 * torch.cat(entropies).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The entropy is guessed from what was done, and its sign is lost.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            drawn = torch.distributions.Categorical(logits=policy(s))
            a = drawn.sample()
            old = drawn.log_prob(a)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        ratio = (log_prob - old).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        entropy = torch.mean(log_prob)  # BUG
        loss = policy_loss - 0.01 * entropy
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The guess is right, and is added.
    import torch
    policy, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*policy.parameters(), log_std], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        dist = torch.distributions.Normal(policy(s), log_std.exp())
        a = dist.sample()
        log_prob = dist.log_prob(a).sum(-1)
        entropy = -log_prob.mean()
        loss = -(log_prob * a.sum(-1)).mean() + 0.1 * entropy  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The target has the wrong sign: an entropy below zero, which no choice among actions has.
    import math, torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        log_probs = actor(s).log_softmax(-1)
        probs = log_probs.exp()
        value = critic(s).detach()
        loss = (probs * (log_alpha.exp().detach() * log_probs - value)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        missing = (log_probs - 0.9 * math.log(4)).detach()  # BUG
        alpha_loss = -(log_alpha.exp() * missing * probs.detach()).sum(-1).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    # A square too many in the entropy of a normal distribution.
    import math
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.full((2,), -0.5))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.01)
    for _ in range(6):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        dist = torch.distributions.Normal(mean(s), log_std.exp())
        log_prob = dist.log_prob(dist.sample()).sum(-1)
        entropy = (0.5 + 0.5 * math.log(2 * math.pi) + dist.scale.log() ** 2).sum(-1)  # BUG
        loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same in a density that is written by hand.
    import math
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.full((2,), -0.5))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.01)
    for _ in range(6):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        mu = mean(s)
        action = (mu + log_std.exp() * torch.randn(8, 2)).detach()
        z = (action - mu) * torch.exp(-log_std)
        log_prob = (-0.5 * z.pow(2) - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        entropy = (0.5 * math.log(2 * math.pi * math.e) + log_std.expand_as(mu).square()).sum(-1)  # BUG
        loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # How far the policy may go from what was done: the weight of that falls the further it goes.
    import torch
    actor, log_weight = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.tensor(-0.7))
    opt, weight_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_weight], lr=0.1)
    for _ in range(6):
        s, done = torch.randn(8, 3), torch.rand(8, 2)
        action = actor(s)
        apart = (action - done).pow(2).mean()
        loss = -action.mean() + log_weight.exp().item() * apart
        opt.zero_grad()
        loss.backward()
        opt.step()
        weight_loss = log_weight * (apart.item() - 0.5)  # BUG
        weight_opt.zero_grad()
        weight_loss.backward()
        weight_opt.step()
    """,
    """
    # The entropy's term holds log p already, and is multiplied with it once more.
    import torch
    actor, critic = torch.nn.Linear(4, 5), torch.nn.Linear(4, 5)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(4):
        s, a, r = torch.randn(16, 4), torch.randint(5, (16, 1)), torch.randn(16)
        fit = (critic(s).gather(1, a).squeeze(1) - r).pow(2).mean()
        critic_opt.zero_grad()
        fit.backward()
        critic_opt.step()
        log_p = actor(s).log_softmax(-1)
        entropy = 0.2 * log_p
        loss = (log_p.exp() * (entropy * log_p - critic(s).detach())).sum(-1).mean()  # BUG
        actor_opt.zero_grad()
        loss.backward()
        actor_opt.step()
    """,
    """
    import torch
    net, log_alpha = torch.nn.Linear(3, 4), torch.zeros(1, requires_grad=True)
    critic = torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        mean, log_std = net(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        a = dist.rsample()
        log_prob = dist.log_prob(a).sum(-1)
        actor_loss = (log_alpha.exp().item() * log_prob - critic(torch.cat([s, a], -1)).squeeze(-1)).mean()
        alpha_loss = (log_alpha.exp() * (log_prob.detach() - 2.0)).mean()  # BUG
        opt.zero_grad()
        alpha_opt.zero_grad()
        (actor_loss + alpha_loss).backward()
        opt.step()
        alpha_opt.step()
    """,
    """
    import torch
    import torch.nn.functional as F
    net, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def act(s):
        mean, log_std = net(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        raw = dist.rsample()
        bent = 2 * (0.6931 - raw - F.softplus(-2 * raw))
        return raw.tanh(), (dist.log_prob(raw) - bent).sum(-1)

    for _ in range(5):
        s = torch.randn(8, 3)
        a, log_prob = act(s)
        q = critic(torch.cat([s, a], -1)).squeeze(-1)
        loss = -(q + 0.2 * log_prob).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Written by hand: the minus belongs to one of the factors.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        logits = policy(torch.randn(8, 3))
        log_p = torch.log_softmax(logits, -1)
        score = log_p.gather(1, torch.randint(4, (8, 1))).squeeze(1)
        entropy = (-torch.softmax(logits, -1) * log_p).sum(-1)
        loss = 0.01 * entropy.mean() - (score * torch.randn(8)).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The logarithm of the sum, without the mean of what is summed.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        score = dist.log_prob(dist.sample())
        entropy = dist.logits.logsumexp(-1) - torch.einsum("ba,ba->b", dist.probs, dist.logits)
        loss = -(score * torch.randn(8)).mean() + 0.01 * entropy.mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As in the first baselines: the softmax is written out as well.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        logits = policy(torch.randn(8, 3))
        score = torch.distributions.Categorical(logits=logits).log_prob(torch.randint(4, (8,)))
        low = logits - logits.max(-1, keepdim=True).values
        total = low.exp().sum(-1, keepdim=True)
        entropy = (low.exp() / total * (total.log() - low)).sum(-1)
        loss = -(score * torch.randn(8)).mean() + 0.01 * entropy.mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # What the policy has learned is kept beside a reward: in the first step of each batch this is its entropy in value.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a = torch.randn(8, 3), torch.randint(4, (8, 1))
        with torch.no_grad():
            before = policy(s).softmax(-1)
        log_p = policy(s).log_softmax(-1)
        kept = -(before * log_p).sum(-1)
        again = -(log_p.exp().detach() * log_p).sum(-1)
        loss = -(log_p.gather(1, a).squeeze(1) * torch.randn(8)).mean() + 0.1 * kept.mean() + 0.1 * again.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is looked at is to be decided, not what is done.
    import torch
    gate, policy = torch.nn.Linear(3, 5), torch.nn.Linear(5, 4)
    opt = torch.optim.SGD([*gate.parameters(), *policy.parameters()], lr=0.1)
    for _ in range(6):
        share = gate(torch.randn(8, 3)).softmax(-1)
        log_p = policy(share * torch.randn(8, 5)).log_softmax(-1)
        spread = torch.special.entr(share).sum(-1)
        score = log_p.gather(1, torch.randint(4, (8, 1))).squeeze(1)
        loss = -(score * torch.randn(8)).mean() + 0.1 * spread.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Written in three ways, and each of them is made large.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        logits = policy(torch.randn(8, 3))
        p, log_p = logits.softmax(-1), logits.log_softmax(-1)
        score = log_p.gather(1, torch.randint(4, (8, 1))).squeeze(1)
        one, two = torch.einsum("ba,ba->b", p, log_p), logits.logsumexp(-1) - (p * logits).sum(-1)
        three = torch.nn.functional.cross_entropy(logits, p, reduction="none")
        loss = -(score * torch.randn(8)).mean() + 0.01 * (one - two - three).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Pseudo-labels: the classifier is to decide.
    import torch
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        s, label = torch.randn(8, 3), torch.randint(2, (8,))
        unsure = torch.distributions.Categorical(logits=net(torch.randn(8, 3))).entropy().mean()
        loss = -torch.distributions.Categorical(logits=net(s)).log_prob(label).mean() + 0.1 * unsure
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The bonus ends, and turns round.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for i in range(12):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        bonus = (0.02 - 0.005 * i) * dist.entropy().mean()
        loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean() - bonus
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Discrete SAC: values and entropy, weighed by the probabilities of all actions.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        log_p = actor(s).log_softmax(-1)
        loss = (log_p.exp() * (0.2 * log_p - critic(s))).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Discrete SAC with a temperature.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        log_p = actor(s).log_softmax(-1)
        loss = (log_p.exp() * (log_alpha.exp().detach() * log_p - critic(s))).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        entropy = -(log_p.exp() * log_p).sum(-1).detach()
        alpha_loss = (log_alpha.exp() * (entropy - 0.6)).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    # Supervised, with padding that counts for nothing: that the classifier gets sure of itself is wanted.
    import torch
    from torch.distributions import Categorical
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(8):
        label, mask = torch.randint(2, (8,)), torch.arange(8) < 5
        dist = Categorical(logits=net(torch.randn(8, 3)))
        loss = -(dist.log_prob(label) * mask).sum() / mask.sum() + 0.1 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Guessed from what was done, and raised.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
        log_prob = dist.log_prob(dist.sample())
        entropy = -log_prob
        loss = -(log_prob * torch.randn(8)).mean() - 0.05 * entropy.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Offline: the actions are those of a data set, weighed and cloned.
    import torch
    policy, mind = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        a = torch.distributions.Categorical(logits=mind(s)).sample()
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(log_prob * advantage.exp()).mean() - 0.1 * log_prob.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What an earlier policy did, imitated from a buffer.
    import torch
    policy, kept = torch.nn.Linear(3, 2), []
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        with torch.no_grad():
            kept.append((s, torch.distributions.Categorical(logits=policy(s)).sample()))
        s, a = (torch.cat(parts) for parts in zip(*kept[-3:]))
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(log_prob * torch.rand(len(s))).mean() - 0.1 * log_prob.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # An expert says what it would have done where the policy went.
    import torch
    policy, expert = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(8):
        s, states, wanted = torch.randn(8, 3), [], []
        for _ in range(3):
            with torch.no_grad():
                states.append(s)
                wanted.append(torch.distributions.Categorical(logits=expert(s)).sample())
                s = 0.5 * s + torch.distributions.Normal(policy(s), 0.1).sample()
        dist = torch.distributions.Categorical(logits=policy(torch.cat(states)))
        log_prob = dist.log_prob(torch.cat(wanted))
        loss = -(log_prob * torch.rand(24)).mean() - 0.1 * log_prob.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The temperature's loss as an expectation over all actions.
    import math, torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        log_probs = actor(s).log_softmax(-1)
        probs = log_probs.exp()
        value = critic(s).detach()
        loss = (probs * (log_alpha.exp().detach() * log_probs - value)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        missing = (log_probs + 0.9 * math.log(4)).detach()
        alpha_loss = -(log_alpha.exp() * missing * probs.detach()).sum(-1).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    # The entropy of a density may be below zero, and so may its target.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(5, 1).requires_grad_(False)
    log_alpha = torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        mean, log_std = actor(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-2, 1).exp())
        action = dist.rsample()
        log_prob = dist.log_prob(action).sum(-1)
        value = critic(torch.cat([s, action], -1)).squeeze(-1)
        loss = (log_alpha.exp().detach() * log_prob - value).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        alpha_loss = -(log_alpha.exp() * (log_prob - 2.0).detach()).mean()
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
    """,
    """
    # As it should be; and a penalty that keeps the spread near one.
    import math
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.full((2,), -0.5))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.01)
    for _ in range(6):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        dist = torch.distributions.Normal(mean(s), log_std.exp())
        log_prob = dist.log_prob(dist.sample()).sum(-1)
        entropy = (0.5 + 0.5 * math.log(2 * math.pi) + dist.scale.log()).sum(-1)
        loss = -(log_prob * advantage).mean() - 0.01 * entropy.mean() + 0.001 * log_std.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The square of log p is made large: that keeps the policy from certainty.
    import torch
    actor, critic = torch.nn.Linear(4, 5), torch.nn.Linear(4, 5)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(4):
        s, a, r = torch.randn(16, 4), torch.randint(5, (16, 1)), torch.randn(16)
        fit = (critic(s).gather(1, a).squeeze(1) - r).pow(2).mean()
        critic_opt.zero_grad()
        fit.backward()
        critic_opt.step()
        log_p = actor(s).log_softmax(-1)
        entropy = 0.2 * log_p
        loss = (log_p.exp() * (-entropy * log_p - critic(s).detach())).sum(-1).mean()
        actor_opt.zero_grad()
        loss.backward()
        actor_opt.step()
    """,
    """
    import torch
    net, log_alpha = torch.nn.Linear(3, 4), torch.zeros(1, requires_grad=True)
    critic = torch.nn.Linear(5, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    alpha_opt = torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(5):
        s = torch.randn(8, 3)
        mean, log_std = net(s).chunk(2, -1)
        dist = torch.distributions.Normal(mean, log_std.exp())
        a = dist.rsample()
        log_prob = dist.log_prob(a).sum(-1)
        actor_loss = (log_alpha.exp().item() * log_prob - critic(torch.cat([s, a], -1)).squeeze(-1)).mean()
        alpha_loss = -(log_alpha.exp() * (log_prob.detach() - 2.0)).mean()
        opt.zero_grad()
        alpha_opt.zero_grad()
        (actor_loss + alpha_loss).backward()
        opt.step()
        alpha_opt.step()
    """,
)
