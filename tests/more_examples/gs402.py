"""More examples of GS402 (backward-twice): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # What every round of the loop takes along was made before it began.
    import torch
    class Learner:
        def __init__(self):
            self.actor, self.critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
            self.opt = torch.optim.SGD([*self.actor.parameters(), *self.critic.parameters()], lr=0.1)
        def collect(self):
            s = torch.randn(12, 3)
            dist = torch.distributions.Categorical(logits=self.actor(s))
            action = dist.sample()
            return s, action, dist.log_prob(action)
        def learn(self):
            s, action, old = self.collect()  # BUG
            self.opt.zero_grad()
            for rows in torch.arange(12).split(4):
                new = torch.distributions.Categorical(logits=self.actor(s[rows])).log_prob(action[rows])
                ((new - old[rows]).exp() * s[rows, 0]).mean().backward()
            self.opt.step()
    learner = Learner()
    for _ in range(3):
        learner.learn()
    """,
    """
    # The values come out of the critic before the loop; they are only added to and laid out afterwards.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    def learn(s, advantages):
        values = critic(s)  # BUG
        goals = advantages + values
        rows = [x.flatten(0, 1) for x in (s, goals)]
        for _ in range(2):
            for part in torch.randperm(12).split(4):
                obs, goal = (x[part] for x in rows)
                loss = (critic(obs) - goal).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
    learn(torch.randn(4, 3, 3), torch.randn(4, 3, 1))
    """,
    """
    # The actor has stepped upon its log-probability; to the temperature it is a number.
    import torch
    class Temperature:
        def __init__(self):
            self.log = torch.zeros((), requires_grad=True)
            self.opt = torch.optim.SGD([self.log], lr=0.1)
        def update(self, entropy):
            loss = self.log * (entropy - 0.5).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
    actor, temperature = torch.nn.Linear(3, 2), Temperature()
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    def score(s):
        dist = torch.distributions.Normal(actor(s), 1.0)
        action = dist.rsample()
        return action, dist.log_prob(s[:, :2]).sum(-1)
    for _ in range(3):
        s = torch.randn(8, 3)
        action, log_prob = score(s)
        loss = (0.1 * log_prob + (action - s[:, :2]).pow(2).sum(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        temperature.update(-log_prob)  # BUG
    """,
    """
    # A recurrent replay keeps the states as they came; sequences start from them.
    import random
    import torch
    cell, head = torch.nn.GRUCell(4, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
    memory, hidden = [], torch.zeros(1, 8)
    for step in range(12):
        obs = torch.randn(1, 4)
        memory.append((obs, hidden))  # BUG
        hidden = cell(obs, hidden.detach())
        if step >= 4:
            loss = 0.0
            for start in random.sample(range(len(memory) - 2), 3):
                state = memory[start][1]
                for seen, _ in memory[start : start + 2]:
                    state = cell(seen, state)
                    loss = loss + head(state).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Kept as it was, and carried on under its own name: that name is the one to change.
    import torch
    cell = torch.nn.GRUCell(4, 8)
    opt = torch.optim.SGD(cell.parameters(), lr=0.1)
    seen, hidden = [], torch.zeros(1, 8)
    for step in range(3):
        hidden = cell(torch.randn(1, 4), hidden)  # BUG
        seen.append(hidden)
        loss = hidden.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Priorities are kept with the graph of the error that they were made of.
    import torch
    q = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    priorities = torch.ones(16)
    for _ in range(3):
        index = torch.multinomial(priorities.detach(), 8)
        error = q(torch.randn(8, 3)).squeeze(-1) - torch.randn(8)
        loss = (priorities[index] * error.pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        priorities[index] = error.abs() + 1e-3  # BUG
    """,
    """
    import torch
    class Replay:
        def __init__(self):
            self.rows, self.priorities = torch.randn(8, 3), [torch.ones(()) for _ in range(8)]
        def weights(self):
            return torch.stack(self.priorities) / torch.stack(self.priorities).sum()
        def update(self, errors):
            for i, error in enumerate(errors):
                self.priorities[i] = error.abs() + 1e-5  # BUG
    q, replay = torch.nn.Linear(3, 1), Replay()
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    for _ in range(3):
        error = q(replay.rows).squeeze(1) - torch.randn(8)
        loss = (replay.weights() * error.pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        replay.update(error)
    """,
    """
    # The other loss is sent backward again, after its own step.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    actor_opt, critic_opt = (torch.optim.SGD(n.parameters(), lr=0.1) for n in (actor, critic))
    s, r = torch.randn(8, 3), torch.randn(8)
    for _ in range(3):
        value_loss = (critic(s).squeeze(-1) - r).pow(2).mean()
        policy_loss = -(torch.log_softmax(actor(s), -1)[:, 0] * r).mean()
        actor_opt.zero_grad()
        policy_loss.backward()
        actor_opt.step()
        critic_opt.zero_grad()
        policy_loss.backward()  # BUG
        critic_opt.step()
    """,
    """
    # To the temperature, the log-probability is a number.
    import torch
    policy, log_alpha = torch.nn.Linear(3, 2), torch.zeros(1, requires_grad=True)
    opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
    for _ in range(3):
        log_prob = policy(torch.randn(8, 3)).log_softmax(1)[:, 0]
        alpha_loss = -(log_alpha * (log_prob + 2.0)).mean()  # BUG
        alpha_opt.zero_grad()
        alpha_loss.backward()
        alpha_opt.step()
        loss = (log_alpha.exp().detach() * log_prob).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A buffer is given what was scored while sampling, and hands it out again.
    import torch

    class Memory:
        def __init__(self):
            self.kept = []
        def remember(self, score, reward):
            self.kept.append((score, reward))  # BUG

    policy, memory = torch.nn.Linear(3, 2), Memory()
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(3):
        for s in torch.randn(4, 3):
            dist = torch.distributions.Categorical(logits=policy(s))
            log_prob = dist.log_prob(dist.sample())
            memory.remember(log_prob, torch.randn(()))
        loss = -torch.stack([score * reward for score, reward in memory.kept]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The list is emptied under a name that the function alone knows.
    import torch

    class Learner:
        def __init__(self):
            self.policy, self.scores = torch.nn.Linear(3, 2), []
            self.opt = torch.optim.SGD(self.policy.parameters(), lr=0.1)

        def act(self, s):
            dist = torch.distributions.Categorical(logits=self.policy(s))
            self.scores.append(dist.log_prob(dist.sample()))

        def update(self):
            loss = -(torch.stack(self.scores) * torch.randn(len(self.scores))).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            scores = []  # BUG

    learner = Learner()
    for _ in range(3):
        for s in torch.randn(4, 3):
            learner.act(s)
        learner.update()
    """,
    """
    # Nobody looks closely at a loop that comes late: its features are made once for all rounds.
    import torch
    encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
    def learn(features, returns):
        loss = (head(features.tanh()).squeeze(-1) - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    for _ in range(40):
        learn(encoder(torch.randn(8, 3)), torch.randn(8))
    for _ in range(2):
        returns = torch.randn(8)
        features = encoder(torch.randn(8, 3))  # BUG
        for _ in range(2):
            learn(features, returns)
    """,
    """
    # The same of a state that a later loop hands on from round to round.
    import torch
    rnn = torch.nn.GRUCell(3, 4)
    opt = torch.optim.SGD(rnn.parameters(), lr=0.1)
    for _ in range(40):
        opt.zero_grad()
        rnn(torch.randn(8, 3), torch.zeros(8, 4)).pow(2).mean().backward()
        opt.step()
    h = torch.zeros(8, 4)
    for _ in range(3):
        h = rnn(torch.randn(8, 3), h)  # BUG
        loss = h.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The loss of the phase before, under its old name.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(40):
        loss = net(torch.randn(8, 3)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    for _ in range(3):
        new_loss = (net(torch.randn(8, 3)) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()  # BUG
        opt.step()
    """,
    """
    # What every epoch of the policy takes along was made before them, and nothing in there learns from it.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for _ in range(3):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8, 1)), torch.randn(8)
        values = critic(s).squeeze(-1)
        advantage = torch.tanh(ret - values)  # BUG
        advantage = advantage.unsqueeze(-1)
        for _ in range(2):
            loss = -(torch.log_softmax(policy(s), -1).gather(1, a) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            critic_loss = (critic(s).squeeze(-1) - ret).pow(2).mean()
            critic_opt.zero_grad()
            critic_loss.backward()
            critic_opt.step()
    """,
    """
    # A recurrent layer gives its outputs to this loss, and its state to the next one.
    import torch
    rnn, head = torch.nn.LSTM(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    state = None
    for _ in range(3):
        out, state = rnn(torch.randn(5, 8, 3), state)  # BUG
        loss = (head(out) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Features that the critic learns, by right; to the actor they are to be numbers.
    import torch
    encoder, critic, actor = torch.nn.Linear(4, 8), torch.nn.Linear(10, 1), torch.nn.Linear(8, 2)
    critic_opt = torch.optim.SGD([*encoder.parameters(), *critic.parameters()], lr=0.1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s, a, y = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
        z = torch.tanh(encoder(s))
        critic_loss = (critic(torch.cat([z, a], -1)) - y).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        actor_loss = -critic(torch.cat([z, actor(z)], -1)).mean()  # BUG
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
    """
    # One pass for both losses: as a number the critic's would have nothing to learn.
    import torch
    actor, q = torch.nn.Linear(3, 1), torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    actor_opt, q_opt = torch.optim.Adam(actor.parameters()), torch.optim.Adam(q.parameters())
    def losses(s, a, y):
        action = torch.cat([actor(s), a])
        wanted, value = q(torch.cat([torch.cat([s, s]), action], 1)).chunk(2)  # BUG
        return {"actor": -wanted.mean(), "q": (value - y).pow(2).mean()}
    for _ in range(4):
        found = losses(torch.randn(8, 3), torch.randn(8, 1), torch.randn(8, 1))
        actor_opt.zero_grad()
        found["actor"].backward()
        actor_opt.step()
        q_opt.zero_grad()
        found["q"].backward()
        q_opt.step()
    """,
    """
    # What the policy would do is handed to both critics with its graph.
    import torch
    class Net(torch.nn.Module):
        def __init__(self, inputs):
            super().__init__()
            self.first, self.last = torch.nn.Linear(inputs, 8), torch.nn.Linear(8, 1)
        def forward(self, x):
            hidden = torch.tanh(self.first(x))
            return self.last(hidden).tanh()
    class Critic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net(4)
        def forward(self, s, a):
            return self.net(torch.cat([s, a], 1))
    policy, one, two = Net(3), Critic(), Critic()
    one_opt, two_opt = torch.optim.Adam(one.parameters()), torch.optim.Adam(two.parameters())
    def too_high(critic, s, a, drawn):
        return (critic(s, drawn) - critic(s, a)).mean()
    for _ in range(4):
        s, a = torch.randn(8, 3), torch.randn(8, 1)
        drawn = policy(s)  # BUG
        loss_one, loss_two = too_high(one, s, a, drawn), too_high(two, s, a, drawn)
        one_opt.zero_grad()
        loss_one.backward()
        one_opt.step()
        two_opt.zero_grad()
        loss_two.backward()
        two_opt.step()
    """,
    """
    # The loss of the round before, by another name.
    import torch
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    last = None
    for _ in range(5):
        x = torch.randn(8, 4)
        loss = (net(x) - x.flip(1)).pow(2).mean()
        total = loss if last is None else loss + 0.1 * (loss - last).abs()
        opt.zero_grad()
        total.backward()
        opt.step()
        last = loss  # BUG
    """,
    """
    # To the policy's loss the advantage is a number; the critic learns from its own.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic)]
    for _ in range(3):
        s, returns = torch.randn(8, 3), torch.randn(8)
        values = critic(s).squeeze(-1)
        advantages = (returns - values)[:, None]  # BUG
        dist = torch.distributions.Categorical(logits=actor(s)[:, None])
        policy_loss = -(dist.log_prob(torch.zeros(8, 1)) * advantages).mean() - 0.01 * dist.entropy().mean()
        critic_loss = (values - returns).pow(2).mean()
        for opt in opts:
            opt.zero_grad()
        policy_loss.backward()
        critic_loss.backward()
        for opt in opts:
            opt.step()
    """,
    """
    # A running mean is moved by the error together with its graph; the error itself is right.
    import torch
    class Learner:
        def __init__(self):
            self.critic, self.mean = torch.nn.Linear(3, 1), 0.0
            self.opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        def update(self, s, r):
            error = r - self.mean - self.critic(s).squeeze(-1)
            self.mean = self.mean + 0.1 * error.mean()  # BUG
            loss = error.pow(2).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
    learner = Learner()
    for _ in range(3):
        learner.update(torch.randn(8, 3), torch.randn(8))
    """,
    """
    # The same behind the step.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    average = torch.zeros(())
    for _ in range(3):
        error = net(torch.randn(8, 3)).squeeze(-1) - torch.randn(8) + average
        loss = error.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        average = 0.9 * average + 0.1 * error.mean()  # BUG
    """,
    """
    # What a helper knows of former features is kept with their graph.
    import torch
    class Centre:
        def __init__(self):
            self.known = {"mean": torch.zeros(1), "seen": 0}
        def __call__(self, x):
            self.known["seen"] += 1
            moved = self.known["mean"] + (x.mean() - self.known["mean"]) / self.known["seen"]
            centred = x - self.known["mean"]
            self.known["mean"] = moved  # BUG
            return centred
    net, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    centre = Centre()
    for _ in range(3):
        loss = head(centre(torch.tanh(net(torch.randn(8, 3))))).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A record takes the first value as it comes.
    import torch
    class Record:
        def __init__(self):
            self.mean = None
        def add(self, value):
            self.mean = value if self.mean is None else torch.lerp(self.mean, value, 0.1)  # BUG
    net, record = torch.nn.Linear(3, 1), Record()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        size = (net(torch.randn(8, 3)).squeeze(-1) - torch.randn(8)).pow(2).mean()
        loss = size + (0.0 if record.mean is None else (size - record.mean).pow(2))
        opt.zero_grad()
        loss.backward()
        opt.step()
        record.add(size)
    """,
    """
    # Values are asked for with gradients: what is written step by step holds them, and so does what it is added to.
    import torch
    class Judge(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out = torch.nn.Linear(3, 1)
        def forward(self, s):
            return self.out(s).squeeze(-1)
    def estimate(judge, s, r):
        now = judge(s[:-1])  # BUG
        steps, so_far = torch.zeros(len(r)), 0.0
        for t in range(len(r) - 1, -1, -1):
            so_far = r[t] + 0.1 * now[t] + 0.8 * so_far
            steps[t] = so_far
        return steps + now
    judge = Judge()
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    s, r = torch.randn(9, 3), torch.randn(8)
    goals = estimate(judge, s, r)
    for _ in range(2):
        for rows in torch.randperm(8).chunk(2):
            loss = (judge(s[:-1][rows]) - goals[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A method that the loss asks by right is asked for old answers, too; the batch that holds them comes back later.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Linear(3, 4)
        def forward(self, s):
            return self.body(s).log_softmax(-1)
        def score(self, s, a):
            return self(s).gather(1, a[:, None]).squeeze(1)
    policy = Policy()
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def gather(n):
        s, a = torch.randn(n, 3), torch.randint(4, (n,))
        return {
            "s": s,
            "a": a,
            "gain": s[:, 0],
            "before": policy.score(s, a),  # BUG
        }
    for _ in range(2):
        batch = gather(8)
        for _ in range(3):
            now = policy.score(batch["s"], batch["a"])
            opt.zero_grad()
            (-now * batch["gain"] + (now - 0.5 * batch["before"]).pow(2)).mean().backward()
            opt.step()
    """,
    """
    # One helper sends both losses backward, and steps: what the model's loss has used is a number to the actor's.
    import torch
    model, head, actor = torch.nn.Linear(3, 4), torch.nn.Linear(4, 3), torch.nn.Linear(4, 2)
    value = torch.nn.Linear(6, 1).requires_grad_(False)
    model_opt = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    def apply(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for _ in range(3):
        s = torch.randn(8, 3)
        h = torch.tanh(model(s))
        apply(model_opt, (head(h) - s).pow(2).mean())
        apply(actor_opt, -value(torch.cat([h, actor(h)], 1)).mean())  # BUG
    """,
)

GOOD: tuple[str, ...] = (
    """
    import random
    import torch
    cell, head = torch.nn.GRUCell(4, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-3)
    memory, hidden = [], torch.zeros(1, 8)
    for step in range(12):
        obs = torch.randn(1, 4)
        memory.append((obs, hidden.detach()))
        hidden = cell(obs, hidden.detach())
        if step >= 4:
            loss = 0.0
            for start in random.sample(range(len(memory) - 2), 3):
                state = memory[start][1]
                for seen, _ in memory[start : start + 2]:
                    state = cell(seen, state)
                    loss = loss + head(state).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The state as a constant.
    import torch
    rnn, head = torch.nn.LSTM(3, 4), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    state = None
    for _ in range(3):
        out, state = rnn(torch.randn(5, 8, 3), state)
        loss = (head(out) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = tuple(part.detach() for part in state)
    """,
    """
    # As numbers for the actor.
    import torch
    encoder, critic, actor = torch.nn.Linear(4, 8), torch.nn.Linear(10, 1), torch.nn.Linear(8, 2)
    critic_opt = torch.optim.SGD([*encoder.parameters(), *critic.parameters()], lr=0.1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s, a, y = torch.randn(8, 4), torch.randn(8, 2), torch.randn(8, 1)
        z = torch.tanh(encoder(s))
        critic_loss = (critic(torch.cat([z, a], -1)) - y).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()
        actor_loss = -critic(torch.cat([z.detach(), actor(z.detach())], -1)).mean()
        actor_opt.zero_grad()
        actor_loss.backward()
        actor_opt.step()
    """,
    """
    # A running mean that is moved by numbers.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    average = torch.zeros(())
    for _ in range(3):
        error = net(torch.randn(8, 3)).squeeze(-1) - torch.randn(8) + average
        average = 0.9 * average + 0.1 * error.mean().detach()
        loss = error.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
