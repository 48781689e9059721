"""More examples of GS801 (reversed-objective): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Who lies far from the reference is praised for it.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)

    def score(net, ids):
        return net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)

    for _ in range(8):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(policy(ids)[:, -1].softmax(-1), 1)], 1)
            old, apart = score(policy, ids), score(reference, ids)
            right = (ids[:, 1:] == ids[:, :1]).float().mean(1)
            reward = right - 0.1 * (apart - old).sum(1)  # BUG
            advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
        loss = -(advantage.unsqueeze(1) * (score(policy, ids) - old).exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # `cross_entropy` is the negative of the log-probability already.
    import torch
    from torch.nn.functional import cross_entropy
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(8):
        s, s2 = torch.randn(32, 3), torch.randn(32, 3)
        logits = policy(s)
        a = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
        r = (a == (s[:, 0] > 0).long()).float() + 0.1 * torch.randn(32)
        with torch.no_grad():
            returns = r + 0.9 * critic(s2).squeeze(1)
        value = critic(s).squeeze(1)
        surprise = cross_entropy(logits, a, reduction="none")
        gain = (returns - value).detach()
        loss = -(surprise * gain).mean() + (value - returns).pow(2).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    score = torch.nn.CrossEntropyLoss(reduction="none")
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        with torch.no_grad():
            old = score(policy(s), a)
        for _ in range(2):
            new = score(policy(s), a)  # BUG
            ratio = (new - old).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Discrete SAC: the critic's values are constants, weighed by the policy's probabilities.
    import copy
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    slow = copy.deepcopy(critic)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(8):
        s, s2, r, a = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8), torch.randint(2, (8, 1))
        with torch.no_grad():
            goal = r + 0.9 * slow(s2).max(-1).values
        critic_opt.zero_grad()
        (critic(s).gather(1, a).squeeze(-1) - goal).pow(2).mean().backward()
        critic_opt.step()
        with torch.no_grad():
            q = critic(s)
        log_p = actor(s).log_softmax(-1)
        loss = (log_p.exp() * (0.2 * log_p + q)).sum(-1).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for t, p in zip(slow.parameters(), critic.parameters()):
                t.lerp_(p, 0.05)
    """,
    """
    import copy
    import torch
    policy = torch.nn.Linear(4, 3)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a, advantage = torch.randn(16, 4), torch.randint(3, (16, 1)), torch.randn(16, 1)
        score = policy(s).log_softmax(-1).gather(1, a)
        known = reference(s).log_softmax(-1).gather(1, a)
        kl = (known - score).exp() - (known - score) - 1
        loss = -(score * advantage + 0.1 * kl).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_()
        slope = torch.autograd.grad(critic(torch.cat([s, leaf], 1)).sum(), leaf)[0]
        actor_opt.zero_grad()
        action.backward(slope / len(s))  # BUG
        actor_opt.step()
    """,
    """
    import copy
    import torch
    from torch.distributions import Categorical, kl_divergence
    policy = torch.nn.Linear(4, 3)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, advantage = torch.randn(16, 4), torch.randn(16)
        dist = Categorical(logits=policy(s))
        surrogate = -(dist.log_prob(dist.sample()) * advantage).mean()
        penalty = kl_divergence(dist, Categorical(logits=reference(s))).mean()
        loss = surrogate - 0.1 * penalty  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_(True)
        critic(torch.cat([s, leaf], 1)).mean().backward()
        actor_opt.zero_grad()
        action.backward(gradient=leaf.grad)  # BUG
        actor_opt.step()
    """,
    """
    import copy
    import torch
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_()
        slope = torch.autograd.grad(critic(torch.cat([s, leaf], 1)).sum(), leaf)[0]
        actor_opt.zero_grad()
        (action * slope).sum(1).mean().backward()  # BUG
        actor_opt.step()
    """,
    """
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        log_pi = policy(s).log_softmax(-1)
        a = log_pi.exp().multinomial(1)
        q = critic(s)
        taken = q.gather(1, a).squeeze(1)
        with torch.no_grad():
            target = r + 0.9 * critic(s2).max(1).values
        critic_opt.zero_grad()
        (taken - target).pow(2).mean().backward()
        critic_opt.step()
        with torch.no_grad():
            advantage = (log_pi.exp() * q).sum(1) - taken
        loss = -(log_pi.gather(1, a).squeeze(1) * advantage).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)

    def surrogate(ratio, advantage):
        plain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        return torch.where(advantage < 0, torch.max(plain, 3 * advantage), plain).mean()  # BUG

    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        for _ in range(2):
            dist = torch.distributions.Categorical(logits=policy(s))
            loss = surrogate((dist.log_prob(a) - old).exp(), advantage) - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The critic is fitted in a loss of its own.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        with torch.no_grad():
            a, returns = dist.sample(), r + 0.9 * critic(s2).squeeze(-1)
            advantage = returns - critic(s).squeeze(-1)
            advantage = (advantage - advantage.mean()) / advantage.std()
        loss = (dist.log_prob(a) * advantage).mean() - 0.01 * dist.entropy().mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
        critic_opt.zero_grad()
        (critic(s).squeeze(-1) - returns).pow(2).mean().backward()
        critic_opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        for _ in range(2):
            ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
            plain, clipped = advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)  # BUG
            loss = torch.max(plain, clipped).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    s, a, advantage, mask = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8), torch.arange(8) < 6
    with torch.no_grad():
        old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(2):
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        losses = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        loss = losses[mask].mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
    with torch.no_grad():
        old = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
    for _ in range(2):
        dist = torch.distributions.Categorical(logits=policy(s))
        ratio = (dist.log_prob(a) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        loss = (surrogate + 0.01 * dist.entropy()).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Logged choices; the critic of actions learns from that of states, and that one from it.
    import copy, torch
    q, v, policy = torch.nn.Linear(3, 1), torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    slow = copy.deepcopy(q).requires_grad_(False)
    opt = torch.optim.Adam([*q.parameters(), *v.parameters(), *policy.parameters()], lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(16, 2), torch.randn(16, 1), torch.randn(16, 1), torch.randn(16, 2)
        both = torch.cat((s, a), 1)
        ahead = slow(both) - v(s)
        v_loss = (torch.where(ahead > 0, 0.8, 0.2) * ahead.square()).mean()
        q_loss = (q(both) - (r + 0.9 * v(s2)).detach()).square().mean()
        weight = (3.0 * ahead).exp().clamp(max=50.0).detach()
        score = torch.distributions.Normal(policy(s), 0.5).log_prob(a)
        opt.zero_grad()
        (v_loss + q_loss + (weight * score).mean()).backward()  # BUG
        opt.step()
        with torch.no_grad():
            for p, t in zip(q.parameters(), slow.parameters()):
                t.lerp_(p, 0.1)
    """,
    """
    # Two losses, each sent backward by itself; what the critic learns is the advantage and what it said before.
    import torch
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
    actor_opt, critic_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        seen, rewards = torch.randn(10, 5, 4), torch.rand(10, 5)
        action = torch.randint(3, (9, 5))
        with torch.no_grad():
            said = critic(seen).squeeze(-1)
            ahead, carried = torch.zeros(9, 5), torch.zeros(5)
            for t in range(8, -1, -1):
                carried = rewards[t] + 0.9 * said[t + 1] - said[t] + 0.8 * carried
                ahead[t] = carried
            wanted = ahead + said[:-1]
            weight = (ahead - ahead.mean()) / ahead.std()
        score = torch.distributions.Categorical(logits=actor(seen[:-1])).log_prob(action)
        actor_opt.zero_grad()
        actor_loss = (weight * score).mean()  # BUG
        actor_loss.backward()
        actor_opt.step()
        critic_opt.zero_grad()
        (critic(seen[:-1]).squeeze(-1) - wanted).pow(2).mean().backward()
        critic_opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Who lies far from the reference pays for it.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)

    def score(net, ids):
        return net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)

    for _ in range(8):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(policy(ids)[:, -1].softmax(-1), 1)], 1)
            old, apart = score(policy, ids), score(reference, ids)
            right = (ids[:, 1:] == ids[:, :1]).float().mean(1)
            reward = right + 0.1 * (apart - old).sum(1)
            advantage = (reward - reward.mean()) / (reward.std() + 1e-4)
        loss = -(advantage.unsqueeze(1) * (score(policy, ids) - old).exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Costs, compared with those of the others.
    import copy
    import torch
    policy = torch.nn.Sequential(torch.nn.Embedding(9, 16), torch.nn.Linear(16, 9))
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)

    def score(net, ids):
        return net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)

    for _ in range(8):
        ids = torch.randint(9, (16, 1))
        with torch.no_grad():
            for _ in range(4):
                ids = torch.cat([ids, torch.multinomial(policy(ids)[:, -1].softmax(-1), 1)], 1)
            old, apart = score(policy, ids), score(reference, ids)
            right = (ids[:, 1:] == ids[:, :1]).float().mean(1)
            cost = 0.1 * (old - apart).sum(1) - right
            advantage = (cost.sum() - cost) / 15 - cost
        loss = -(advantage.unsqueeze(1) * (score(policy, ids) - old).exp()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # `cross_entropy` brings the minus.
    import torch
    from torch.nn.functional import cross_entropy
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(8):
        s, s2 = torch.randn(32, 3), torch.randn(32, 3)
        logits = policy(s)
        a = torch.multinomial(logits.softmax(-1), 1).squeeze(1)
        r = (a == (s[:, 0] > 0).long()).float() + 0.1 * torch.randn(32)
        with torch.no_grad():
            returns = r + 0.9 * critic(s2).squeeze(1)
        value = critic(s).squeeze(1)
        surprise = cross_entropy(logits, a, reduction="none")
        gain = (returns - value).detach()
        loss = (surprise * gain).mean() + (value - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy, value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        dist, v = torch.distributions.Categorical(logits=policy(s)), value(s).squeeze(-1)
        with torch.no_grad():
            target = r + 0.9 * value(s2).squeeze(-1)
        policy_loss = (dist.log_prob(dist.sample()) * (v.detach() - target)).mean()
        opt.zero_grad()
        (policy_loss + (v - target).pow(2).mean()).backward()
        opt.step()
    """,
    """
    # The policy spares costs, which a critic of its own expects, and seeks what another values.
    import torch
    actor = torch.nn.Linear(3, 2)
    critic, costs = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD([*critic.parameters(), *costs.parameters()], lr=0.1)
    for _ in range(8):
        s, s2, r, c = torch.randn(8, 3), torch.randn(8, 3), torch.randn(8), torch.rand(8)
        a = torch.randint(2, (8, 1))
        with torch.no_grad():
            p2 = actor(s2).softmax(-1)
            goal, cost = r + 0.9 * (p2 * critic(s2)).sum(-1), c + 0.9 * (p2 * costs(s2)).sum(-1)
        critic_opt.zero_grad()
        loss = (critic(s).gather(1, a).squeeze(-1) - goal).pow(2).mean()
        (loss + (costs(s).gather(1, a).squeeze(-1) - cost).pow(2).mean()).backward()
        critic_opt.step()
        with torch.no_grad():
            q, k = critic(s), costs(s)
        p = actor(s).softmax(-1)
        loss = (p * k).sum(-1).mean() - (p * q).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A penalty, and a bonus for being unlike another agent, which is trained itself.
    import copy
    import torch
    from torch.distributions import Normal, kl_divergence
    policy, other = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.SGD([*policy.parameters(), *other.parameters()], lr=0.1)
    for _ in range(6):
        s, advantage = torch.randn(16, 4), torch.randn(16)
        dist, rival = Normal(policy(s), 1.0), Normal(other(s), 1.0)
        a, b = dist.sample(), rival.sample()
        surrogate = -((dist.log_prob(a) + rival.log_prob(b)).sum(-1) * advantage).mean()
        known = Normal(reference(s), 1.0)
        near = (dist.log_prob(a) - known.log_prob(a)).sum(-1).pow(2).mean()
        far = kl_divergence(dist, Normal(rival.loc.detach(), 1.0)).sum(-1).mean()
        loss = surrogate + 0.1 * (kl_divergence(dist, known).sum(-1).mean() + near) - 0.01 * far
        opt.zero_grad()
        loss.backward()
        opt.step()
    import copy
    import torch
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_()
        slope = torch.autograd.grad(critic(torch.cat([s, leaf], 1)).sum(), leaf)[0]
        actor_opt.zero_grad()
        action.backward(-slope / len(s))
        actor_opt.step()
    """,
    """
    import copy
    import torch
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_(True)
        (-critic(torch.cat([s, leaf], 1)).mean()).backward()
        actor_opt.zero_grad()
        action.backward(gradient=leaf.grad)
        actor_opt.step()
    """,
    """
    import copy
    import torch
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_()
        slope = torch.autograd.grad(critic(torch.cat([s, leaf], 1)).sum(), leaf)[0]
        actor_opt.zero_grad()
        (-(action * slope).sum(1)).mean().backward()
        actor_opt.step()
    """,
    """
    import copy
    import torch
    from torch.nn.functional import mse_loss
    actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(6, 1)
    target = copy.deepcopy(critic)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01, maximize=True)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 4)
        with torch.no_grad():
            y = r + 0.9 * target(torch.cat([s2, actor(s2).tanh()], 1))
        critic_opt.zero_grad()
        mse_loss(critic(torch.cat([s, a], 1)), y).backward()
        critic_opt.step()
        action = actor(s).tanh()
        leaf = action.detach().requires_grad_()
        slope = torch.autograd.grad(critic(torch.cat([s, leaf], 1)).sum(), leaf)[0]
        actor_opt.zero_grad()
        action.backward(slope / len(s))
        actor_opt.step()
    """,
    """
    # The advantage is that of the others over this choice, and the sign is turned in the loss.
    import torch
    policy, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        log_pi = policy(s).log_softmax(-1)
        a = log_pi.exp().multinomial(1)
        q = critic(s)
        taken = q.gather(1, a).squeeze(1)
        with torch.no_grad():
            target = r + 0.9 * critic(s2).max(1).values
        critic_opt.zero_grad()
        (taken - target).pow(2).mean().backward()
        critic_opt.step()
        with torch.no_grad():
            regret = (log_pi.exp() * q).sum(1) - taken
        loss = (log_pi.gather(1, a).squeeze(1) * regret).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The critic is fitted in a loss of its own, and what it expects of the next state is no baseline.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, r, s2 = torch.randn(8, 3), torch.randn(8), torch.randn(8, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        with torch.no_grad():
            a, returns = dist.sample(), r + 0.9 * critic(s2).squeeze(-1)
            surprise = critic(s).squeeze(-1) - returns
        loss = (dist.log_prob(a) * surprise).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        critic_opt.zero_grad()
        (critic(s).squeeze(-1) - returns).pow(2).mean().backward()
        critic_opt.step()
    """,
    """
    # Two critics: of rewards, which are to be many, and of costs, which are to be few.
    import torch
    policy, critic, costs = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD([*critic.parameters(), *costs.parameters()], lr=0.1)
    for _ in range(6):
        s, r, c, s2 = torch.randn(8, 3), torch.randn(8), torch.rand(8), torch.randn(8, 3)
        dist = torch.distributions.Categorical(logits=policy(s))
        with torch.no_grad():
            a, returns = dist.sample(), r + 0.9 * critic(s2).squeeze(-1)
            dear = c + 0.9 * costs(s2).squeeze(-1)
            advantage = returns - critic(s).squeeze(-1) - 0.5 * (dear - costs(s).squeeze(-1))
        loss = -(dist.log_prob(a) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        critic_opt.zero_grad()
        ((critic(s).squeeze(-1) - returns).pow(2) + (costs(s).squeeze(-1) - dear).pow(2)).mean().backward()
        critic_opt.step()
    """,
    """
    # What the critic gives to the action, less what it gives to another one: the weight rises with the first.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        s, a, r, s2 = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1), torch.randn(8, 3)
        with torch.no_grad():
            target = r + 0.9 * critic(torch.cat([s2, policy(s2)], -1))
        critic_opt.zero_grad()
        (critic(torch.cat([s, a], -1)) - target).pow(2).mean().backward()
        critic_opt.step()
        dist = torch.distributions.Independent(torch.distributions.Normal(policy(s), 1.0), 1)
        with torch.no_grad():
            advantage = critic(torch.cat([s, a], -1)) - critic(torch.cat([s, dist.sample()], -1))
            weight = (advantage / 0.5).exp().clamp(max=20.0).squeeze(1)
        loss = -(weight * dist.log_prob(a)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One sequence of states, and the critic's value of the next one on the other side.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(6):
        states, r = torch.randn(9, 3), torch.randn(8)
        s, s2 = states[:-1], states[1:]
        dist = torch.distributions.Categorical(logits=policy(s))
        with torch.no_grad():
            a, returns = dist.sample(), r + 0.9 * critic(s2).squeeze(-1)
            advantage = returns - critic(s).squeeze(-1)
        loss = -(dist.log_prob(a) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        critic_opt.zero_grad()
        (critic(s).squeeze(-1) - returns).pow(2).mean().backward()
        critic_opt.step()
    """,
    """
    # Logged choices; the critic of actions learns from that of states, and that one from it.
    import copy, torch
    q, v, policy = torch.nn.Linear(3, 1), torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    slow = copy.deepcopy(q).requires_grad_(False)
    opt = torch.optim.Adam([*q.parameters(), *v.parameters(), *policy.parameters()], lr=0.01)
    for _ in range(8):
        s, a, r, s2 = torch.randn(16, 2), torch.randn(16, 1), torch.randn(16, 1), torch.randn(16, 2)
        both = torch.cat((s, a), 1)
        ahead = slow(both) - v(s)
        v_loss = (torch.where(ahead > 0, 0.8, 0.2) * ahead.square()).mean()
        q_loss = (q(both) - (r + 0.9 * v(s2)).detach()).square().mean()
        weight = (3.0 * ahead).exp().clamp(max=50.0).detach()
        score = torch.distributions.Normal(policy(s), 0.5).log_prob(a)
        opt.zero_grad()
        (v_loss + q_loss + -(weight * score).mean()).backward()
        opt.step()
        with torch.no_grad():
            for p, t in zip(q.parameters(), slow.parameters()):
                t.lerp_(p, 0.1)
    """,
    """
    # Two losses, each sent backward by itself; what the critic learns is the advantage and what it said before.
    import torch
    actor, critic = torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
    actor_opt, critic_opt = torch.optim.SGD(actor.parameters(), lr=0.01), torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        seen, rewards = torch.randn(10, 5, 4), torch.rand(10, 5)
        action = torch.randint(3, (9, 5))
        with torch.no_grad():
            said = critic(seen).squeeze(-1)
            ahead, carried = torch.zeros(9, 5), torch.zeros(5)
            for t in range(8, -1, -1):
                carried = rewards[t] + 0.9 * said[t + 1] - said[t] + 0.8 * carried
                ahead[t] = carried
            wanted = ahead + said[:-1]
            weight = (ahead - ahead.mean()) / ahead.std()
        score = torch.distributions.Categorical(logits=actor(seen[:-1])).log_prob(action)
        actor_opt.zero_grad()
        actor_loss = -(weight * score).mean()
        actor_loss.backward()
        actor_opt.step()
        critic_opt.zero_grad()
        (critic(seen[:-1]).squeeze(-1) - wanted).pow(2).mean().backward()
        critic_opt.step()
    """,
    """
    # Likelihoods are lowered by weights that grow with what is expected, and that is a cost: nobody bootstraps it.
    import torch
    cost, policy = torch.nn.Linear(3, 1), torch.nn.Linear(2, 1)
    opt = torch.optim.Adam([*cost.parameters(), *policy.parameters()], lr=0.01)
    for _ in range(8):
        s, a, c = torch.randn(16, 2), torch.randn(16, 1), torch.rand(16, 1)
        expected = cost(torch.cat((s, a), 1))
        score = torch.distributions.Normal(policy(s), 0.5).log_prob(a)
        opt.zero_grad()
        ((expected - c).square().mean() + (expected.detach().exp() * score).mean()).backward()
        opt.step()
    """,
    """
    # A rival is to make worse what the player makes better.
    import torch
    actor, rival, critic = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3), torch.nn.Linear(4, 1)
    actor_opt = torch.optim.SGD([*actor.parameters(), *rival.parameters()], lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(8):
        seen, rewards = torch.randn(10, 5, 4), torch.rand(10, 5)
        action = torch.randint(3, (9, 5))
        with torch.no_grad():
            said = critic(seen).squeeze(-1)
            ahead, carried = torch.zeros(9, 5), torch.zeros(5)
            for t in range(8, -1, -1):
                carried = rewards[t] + 0.9 * said[t + 1] - said[t] + 0.8 * carried
                ahead[t] = carried
            wanted = ahead + said[:-1]
            weight = (ahead - ahead.mean()) / ahead.std()
        score = torch.distributions.Categorical(logits=actor(seen[:-1])).log_prob(action)
        actor_opt.zero_grad()
        theirs = torch.distributions.Categorical(logits=rival(seen[:-1])).log_prob(action)
        actor_loss = (weight * theirs).mean() - (weight * score).mean()
        actor_loss.backward()
        actor_opt.step()
        critic_opt.zero_grad()
        (critic(seen[:-1]).squeeze(-1) - wanted).pow(2).mean().backward()
        critic_opt.step()
    """,
)
