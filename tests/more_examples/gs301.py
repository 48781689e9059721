"""More examples of GS301 (target-carries-gradient): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The values of the states after which an episode goes on are added at their places, with their graph.
    import torch
    import torch.nn.functional as F
    q = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    for _ in range(5):
        s, after, action, reward = torch.randn(8, 4), torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8)
        going_on = torch.tensor([0, 1, 2, 4, 5, 7])
        best = q(after[going_on]).max(dim=1).values
        target = reward.index_add(0, going_on, 0.97 * best)  # BUG
        loss = F.mse_loss(q(s).gather(1, action).squeeze(1), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same by `scatter_add`, and the square is written out.
    import torch
    critic = torch.nn.Linear(4, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.05)
    for _ in range(5):
        s, after, reward = torch.randn(8, 4), torch.randn(5, 4), torch.randn(8)
        where = torch.tensor([0, 2, 3, 4, 6])
        returns = reward.scatter_add(0, where, 0.9 * critic(after).squeeze(-1))  # BUG
        loss = (returns - critic(s).squeeze(-1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The actor climbs the same sums by right; the caller that fits a critic hands live values in.
    import torch
    actor, critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)

    def returns(rewards, values):
        total, out = values[-1], []
        for r in reversed(rewards.unbind()):
            total = r + 0.9 * total
            out.append(total)
        return torch.stack(out[::-1])

    def fit(states, rewards):
        values = critic(states).squeeze(-1)
        goals = returns(rewards, values)  # BUG
        return (values[:-1] - goals).pow(2).mean()

    for _ in range(6):
        states = [torch.randn(8, 4)]
        for _ in range(3):
            states.append(torch.tanh(states[-1] + actor(states[-1])))
        states = torch.stack(states)
        rewards = states[1:].norm(dim=-1)
        objective = returns(rewards, critic(states).squeeze(-1)).mean()
        actor_opt.zero_grad()
        (-objective).backward()
        actor_opt.step()
        loss = fit(states.detach(), rewards.detach())
        critic_opt.zero_grad()
        loss.backward()
        critic_opt.step()
    """,
    """
    # One step ahead, in a method.
    import torch
    class Dream:
        def __init__(self):
            self.actor, self.critic = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
            self.actor_opt = torch.optim.SGD(self.actor.parameters(), lr=0.01)
            self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=0.01)
        def worth(self, reward, state):
            return reward + 0.9 * self.critic(state).squeeze(-1)
        def learn(self, s):
            s2 = torch.tanh(s + self.actor(s))
            self.actor_opt.zero_grad()
            (-self.worth(-s2.pow(2).sum(-1), s2).mean()).backward()
            self.actor_opt.step()
            goal = self.worth(-s2.detach().pow(2).sum(-1), s2.detach())  # BUG
            loss = (self.critic(s).squeeze(-1) - goal).pow(2).mean()
            self.critic_opt.zero_grad()
            loss.backward()
            self.critic_opt.step()
    dream = Dream()
    for _ in range(6):
        dream.learn(torch.randn(8, 4))
    """,
    """
    # The traces of a return are made of the live policy; all values are constants.
    import torch
    policy, q, slow = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD([*policy.parameters(), *q.parameters()], lr=0.1)
    def corrected(reward, ahead, trace):
        target = ahead[-1]
        found = [target]
        for t in (2, 1, 0):
            target = reward[t] + 0.9 * (ahead[t + 1] + (target - ahead[t + 1]) * trace[t + 1])
            found.insert(0, target)
        return torch.stack(found)
    for _ in range(6):
        s, a, r, old = torch.randn(4, 8, 3), torch.randint(2, (4, 8, 1)), torch.randn(4, 8, 1), -torch.rand(4, 8, 1)
        log_prob = policy(s).log_softmax(-1).gather(-1, a)
        with torch.no_grad():
            ahead = slow(s).gather(-1, a)
        trace = (log_prob - old).exp().clamp(max=1.0)  # BUG
        loss = (q(s).gather(-1, a) - corrected(r, ahead, trace)).pow(2).mean() - (log_prob * r).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a model imagines is climbed by the actor, and fitted by the critic.
    import torch
    actor, model, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 3), torch.nn.Linear(3, 1)
    reward = torch.nn.Linear(3, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    def fit(opt, loss):
        params = opt.param_groups[0]["params"]
        for p, g in zip(params, torch.autograd.grad(loss, params, retain_graph=True)):
            p.grad = g
        opt.step()
    for _ in range(6):
        s = torch.randn(8, 3)
        s2 = model(torch.cat([s, actor(s).tanh()], -1))
        returns = reward(s2) + 0.9 * critic(s2)
        error = critic(s) - returns  # BUG
        actor_loss, critic_loss = -returns.mean(), error.pow(2).mean()
        fit(actor_opt, actor_loss)
        fit(critic_opt, critic_loss)
    """,
    """
    # A categorical target that one-hot rows lay on the support again, and a loss of PyTorch's own.
    import torch
    net = torch.nn.Linear(3, 2 * 5)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    z = torch.linspace(-1.0, 1.0, 5)
    for _ in range(6):
        s, s2, a, r = torch.randn(8, 3), torch.randn(8, 3), torch.randint(2, (8,)), torch.rand(8, 1)
        p = net(s2).view(8, 2, 5)[:, 0].softmax(-1)  # BUG
        place = (((r + 0.9 * z).clamp(-1, 1) + 1) * 2).round().long()
        m = (torch.nn.functional.one_hot(place, 5) * p.unsqueeze(-1)).sum(1)
        loss = torch.nn.functional.cross_entropy(net(s).view(8, 2, 5)[torch.arange(8), a], m)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Rewards that are plain numbers, as most environments give them; the last value is live.
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.01)
    for _ in range(6):
        values = [v(torch.randn(3)).squeeze() for _ in range(4)]
        running, returns = v(torch.randn(3)).squeeze(), []
        for reward in (1.0, 0.0, 1.0, 0.5):
            running = reward + 0.9 * running  # BUG
            returns.insert(0, running)
        loss = (torch.stack(returns) - torch.stack(values)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    value, critic = torch.nn.Linear(3, 1), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*value.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(5):
        s, a, r, log_prob = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1), torch.randn(8, 1)
        q_loss = (critic(torch.cat([s, a], 1)) - r).pow(2).mean()
        best = critic(torch.cat([s, a.tanh()], 1))
        backup = best - 0.2 * log_prob  # BUG
        value_loss = (value(s) - backup).pow(2).mean()
        opt.zero_grad()
        (q_loss + value_loss).backward()
        opt.step()
    """,
    """
    # Generalised advantages, fitted as they are.
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.1)
    for _ in range(3):
        values, last = v(torch.randn(5, 8, 3)).squeeze(-1), v(torch.randn(8, 3)).squeeze(-1)
        rewards, masks, gae, found = torch.randn(5, 8), (torch.rand(5, 8) > 0.2).float(), torch.zeros(8), []
        for t in reversed(range(5)):
            following = values[t + 1] if t < 4 else last
            delta = rewards[t] + 0.9 * masks[t] * following - values[t]  # BUG
            gae = delta + 0.9 * 0.95 * masks[t] * gae
            found.append(gae)
        loss = torch.stack(found).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Quantiles: axes are added by an index, and the error is compared with zeros.
    import copy
    import torch
    net = torch.nn.Linear(4, 2 * 6)
    old = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    rows, taus = torch.arange(16), (torch.arange(6) + 0.5) / 6
    for _ in range(6):
        s, a, r, s2 = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16), torch.randn(16, 4)
        best = old(s2).view(16, 2, 6).mean(-1).argmax(1)
        goal = r[:, None] + 0.9 * net(s2).view(16, 2, 6)[rows, best]  # BUG
        error = goal[:, None, :] - net(s).view(16, 2, 6)[rows, a][:, :, None]
        side = (taus[None, :, None] - (error.detach() < 0).float()).abs()
        huber = torch.nn.functional.smooth_l1_loss(error, torch.zeros_like(error), reduction="none")
        loss = (side * huber).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        old.load_state_dict(net.state_dict())
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Values are added at their places, without their graph; a prediction is put together from two heads in this way.
    import torch
    import torch.nn.functional as F
    body, first, second = torch.nn.Linear(4, 16), torch.nn.Linear(16, 1), torch.nn.Linear(16, 1)
    opt = torch.optim.SGD([*body.parameters(), *first.parameters(), *second.parameters()], lr=0.05)

    def predict(s, rows):
        z = torch.tanh(body(s))
        return first(z).squeeze(-1).index_add(0, rows, 0.5 * second(z[rows]).squeeze(-1))

    for _ in range(5):
        s, after, reward, rows = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8), torch.tensor([1, 2, 5])
        going_on = torch.tensor([0, 1, 2, 4, 5, 7])
        with torch.no_grad():
            following = predict(after, rows)
        target = reward.index_add(0, going_on, 0.9 * following[going_on])
        loss = F.mse_loss(predict(s, rows), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Messages between nodes: a sum at places, in a network that predicts what data say.
    import torch
    message, update = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*message.parameters(), *update.parameters()], lr=0.05)
    for _ in range(5):
        nodes, said = torch.randn(6, 3), torch.randn(6)
        start, end = torch.randint(6, (10,)), torch.randint(6, (10,))
        here = update(nodes).squeeze(-1)
        around = said.index_add(0, end, 0.9 * update(torch.tanh(message(nodes[start]))).squeeze(-1).detach())
        loss = (here.index_add(0, end, 0.1 * update(message(nodes[start])).squeeze(-1)) - around).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    v, a = torch.nn.Linear(3, 1), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD([*v.parameters(), *a.parameters()], lr=0.1)
    for _ in range(5):
        s, action, target = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        advantage = a(s)
        q = v(s) + advantage - advantage.mean(1, keepdim=True)
        loss = (q.gather(1, action).squeeze(1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    policy = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        chosen, rejected = torch.randn(8, 3), torch.randn(8, 3)
        ref_c, ref_r = torch.randn(8, 1), torch.randn(8, 1)
        margin = (policy(chosen) - ref_c) - (policy(rejected) - ref_r)
        loss = -torch.nn.functional.logsigmoid(0.1 * margin).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The ratio of PPO: the deviation stands on the side of the old log-probability, and is no value.
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.1)
    for _ in range(5):
        s, a, old, advantage = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8), torch.randn(8)
        scaled = (a - mean(s)) * torch.exp(-log_std.clamp(-5, 2))
        log_prob = (-0.5 * scaled * scaled - log_std.clamp(-5, 2)).sum(1)
        ratio = torch.exp(log_prob - old)
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A value and an advantage of two heads, which make one prediction (NAF).
    import torch
    body, value, mu = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*body.parameters(), *value.parameters(), *mu.parameters()], lr=0.05)
    for _ in range(6):
        s, a, y = torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1)
        h = torch.tanh(body(s))
        q = value(h) - 0.5 * (a - mu(h)).pow(2)
        loss = torch.nn.functional.smooth_l1_loss(q, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two views of one state that are to agree, both live: nothing has moved the one's probabilities.
    import torch
    net = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        one, other = net(s + 0.1 * torch.randn(8, 3)), net(s + 0.1 * torch.randn(8, 3))
        loss = -(one.softmax(-1) * other.log_softmax(-1)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Plain numbers that move and scale one of two heads of the same pass, and a target that is a constant.
    import torch
    body, one, two = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([p for m in (body, one, two) for p in m.parameters()], lr=0.01)
    for _ in range(6):
        h = body(torch.randn(8, 3)).relu()
        with torch.no_grad():
            target = 1.0 + 0.9 * one(body(torch.randn(8, 3)).relu())
        loss = (1.0 + 0.9 * one(h) - two(h)).pow(2).mean() + (one(h) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with a target network that nobody trains.
    import copy
    import torch
    net = torch.nn.Linear(4, 2 * 6)
    old = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    rows, taus = torch.arange(16), (torch.arange(6) + 0.5) / 6
    for _ in range(6):
        s, a, r, s2 = torch.randn(16, 4), torch.randint(2, (16,)), torch.randn(16), torch.randn(16, 4)
        best = old(s2).view(16, 2, 6).mean(-1).argmax(1)
        goal = (r[:, None] + 0.9 * old(s2).view(16, 2, 6)[rows, best]).detach()
        error = goal[:, None, :] - net(s).view(16, 2, 6)[rows, a][:, :, None]
        side = (taus[None, :, None] - (error.detach() < 0).float()).abs()
        huber = torch.nn.functional.smooth_l1_loss(error, torch.zeros_like(error), reduction="none")
        loss = (side * huber).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        old.load_state_dict(net.state_dict())
    """,
)
