"""More examples of GS202 (graph-cut): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # The losses of several agents are kept in a list and averaged; in each of them, the critic's part is a constant.
    import torch
    actors = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(3))
    critics = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(3))
    opt = torch.optim.Adam([*actors.parameters(), *critics.parameters()], lr=1e-2)
    for _ in range(8):
        losses = []
        for actor, critic in zip(actors, critics):
            obs, returns = torch.randn(8, 4), torch.randn(8)
            dist = torch.distributions.Categorical(logits=actor(obs))
            value = critic(obs).squeeze(-1).detach()  # BUG
            actor_loss = -(dist.log_prob(dist.sample()) * (returns - value)).mean()
            critic_loss = (value - returns).pow(2).mean()
            losses.append((actor_loss + 0.5 * critic_loss).view(1))
        opt.zero_grad()
        torch.cat(losses).sum().backward()
        opt.step()
    """,
    """
    # Two losses of one network in a list: that of the model comes out of a block without gradients.
    import torch
    import torch.nn.functional as F
    trunk, q_head, model_head = torch.nn.Linear(4, 16), torch.nn.Linear(16, 3), torch.nn.Linear(16, 4)
    opt = torch.optim.Adam([*trunk.parameters(), *q_head.parameters(), *model_head.parameters()], lr=1e-3)
    for _ in range(8):
        obs, after, action, target = torch.randn(8, 4), torch.randn(8, 4), torch.randint(3, (8, 1)), torch.randn(8, 1)
        parts = [F.smooth_l1_loss(q_head(torch.relu(trunk(obs))).gather(1, action), target)]
        with torch.no_grad():  # BUG
            parts.append(F.mse_loss(model_head(torch.relu(trunk(obs))), after))
        opt.zero_grad()
        torch.stack(parts).mean().backward()
        opt.step()
    """,
    """
    # Episodes within batches: a list of the means of lists. The values left torch as they were made.
    import torch
    import torch.nn.functional as F
    body, pi, v = torch.nn.Linear(3, 16), torch.nn.Linear(16, 2), torch.nn.Linear(16, 1)
    opt = torch.optim.SGD([*body.parameters(), *pi.parameters(), *v.parameters()], lr=0.05)
    for _ in range(8):
        batch = []
        for _ in range(2):
            episode = []
            for _ in range(3):
                x, gain = torch.tanh(body(torch.randn(1, 3))), torch.randn(())
                dist = torch.distributions.Categorical(logits=pi(x))
                guess = torch.as_tensor(v(x).item())  # BUG
                score = dist.log_prob(dist.sample()).squeeze()
                episode.append(F.mse_loss(guess, gain) - score * (gain - guess))
            batch.append(torch.stack(episode).mean())
        opt.zero_grad()
        torch.stack(batch).sum().backward()
        opt.step()
    """,
    """
    # The function goes on with a live value: it is asked for one, though others take it for a number.
    import torch
    body, actor, critic = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*body.parameters(), *actor.parameters(), *critic.parameters()], lr=0.1)
    def evaluate(s):
        with torch.no_grad():  # BUG
            hidden = body(s).tanh()
        return torch.distributions.Categorical(logits=actor(hidden)), critic(hidden).squeeze(-1)
    for _ in range(5):
        s = torch.randn(8, 3)
        dist, values = evaluate(s)
        a = dist.sample()
        old, advantage = dist.log_prob(a).detach(), (s[:, 0] - values).detach()
        for _ in range(2):
            dist, now = evaluate(s)
            loss = -((dist.log_prob(a) - old).exp() * advantage).mean() + (now - s[:, 0]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The divergence is made of the same spread with the other sign, and is no twin of the entropy.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    def spread(s):
        mean, log_std = policy(s).chunk(2, -1)
        return mean, log_std.clamp(-3, 1)
    for _ in range(5):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            old_mean, old = spread(s)
            a = old_mean + old.exp() * torch.randn(8, 2)
            old_score = (-0.5 * ((a - old_mean) / old.exp()).pow(2) - old).sum(-1)
        for _ in range(2):
            mean, new = spread(s)
            score = (-0.5 * ((a - mean) / new.exp()).pow(2) - new).sum(-1)
            entropy = (new + 1.42).sum(-1).detach().mean()  # BUG
            far = (old.exp().pow(2) + (old_mean - mean).pow(2)) / new.exp().pow(2)
            divergence = (new - old + 0.5 * far - 0.5).sum(-1).mean()
            loss = -((score - old_score).exp() * advantage).mean() - 0.05 * entropy + divergence
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # `ones_like` takes only the shape of the scores: it is no use of what was made without gradients.
    import torch
    judge = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(judge.parameters(), lr=0.1)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    for _ in range(6):
        made_up, real = torch.randn(8, 3), torch.randn(8, 3)
        false = judge(made_up)
        with torch.no_grad():  # BUG
            true = judge(real)
        first = entropy(false, torch.zeros_like(false))
        second = entropy(true, torch.ones_like(true))
        loss = first + second
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(8):
        s, r = torch.randn(8, 3), torch.randn(8)
        dist = torch.distributions.Categorical(logits=actor(s))
        value_loss = (critic(s).squeeze(-1) - r).pow(2).mean()
        loss = -(dist.log_prob(dist.sample()) * r).mean() + 0.5 * value_loss.item()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Only the side of the surrogate that bounds the other is left to learn from.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, old, advantage = torch.randn(8, 3), torch.randint(2, (8,)), -torch.rand(8), torch.randn(8)
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        loss = -torch.min(ratio.detach() * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A preference has two sides, and both of them are to learn.
    import torch
    score = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(score.parameters(), lr=0.1)
    for _ in range(6):
        better, worse = score(torch.randn(8, 3)), score(torch.randn(8, 3))
        loss = -torch.nn.functional.logsigmoid(better.detach() - worse).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The parameters learn from the positive half.
    import torch
    body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    def elu(x):
        return torch.where(x > 0, x, x.detach().exp() - 1)  # BUG
    for _ in range(5):
        loss = (head(elu(body(torch.randn(8, 3)))) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The prompt is embedded in the rollout, its tokens once more for the loss.
    import torch
    embed, head = torch.nn.Embedding(6, 4), torch.nn.Linear(8, 6)
    opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
    def logits(context, token):
        return head(torch.cat([context, embed(token)], -1))
    for _ in range(5):
        prompt = torch.randint(6, (8,))
        with torch.no_grad():  # BUG
            context = embed(prompt)
            action = torch.distributions.Categorical(logits=logits(context, prompt)).sample()
        log_prob = torch.distributions.Categorical(logits=logits(context, prompt)).log_prob(action)
        loss = -(log_prob * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A network that a custom function calls, and whose backward knows of the input alone.
    import torch
    inner, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return inner(x)
        @staticmethod
        def backward(ctx, grad):
            return grad @ inner.weight
    body = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD([p for net in (body, inner, head) for p in net.parameters()], lr=0.1)
    for _ in range(8):
        h = Through.apply(body(torch.randn(8, 3)))  # BUG
        loss = (head(h) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Kept for the next call; whoever asks first does so without gradients, and is right to.
    import torch
    embed, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
    tasks, known = torch.randn(2, 3), {}
    def task_code(task):
        if task not in known:
            known[task] = embed(tasks[task]).tanh()  # BUG
        return known[task]
    def policy(task):
        return torch.distributions.Categorical(logits=head(task_code(task)))
    def act(task):
        with torch.no_grad():
            return policy(task).sample()
    def learn(task, action):
        loss = -policy(task).log_prob(action) * torch.randn(())
        opt.zero_grad()
        loss.backward()
        opt.step()
    for i in range(10):
        learn(i % 2, act(i % 2))
    """,
    """
    # The weight of a policy that was not asked to correct anything: a surrogate without the policy.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        dist = torch.distributions.Categorical(logits=policy(s))
        weight = torch.ones_like(dist.log_prob(a))  # BUG
        loss = -(weight * advantage).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A bonus that is written out, `p * log p`, is a product like the term that is cut.
    import torch
    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(4):
        s, a, advantage = torch.randn(8, 3), torch.randint(4, (8, 1)), torch.randn(8)
        log_probs = policy(s).log_softmax(-1)
        score = log_probs.gather(1, a).squeeze(1)
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -(score.detach() * advantage).mean() - 0.01 * entropy  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The mean beside a spread that learns: what is scored is given, the mean is not.
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.1)
    for _ in range(8):
        dist = torch.distributions.Normal(mean(torch.randn(8, 3)).detach(), log_std.exp())  # BUG
        log_prob = dist.log_prob(torch.randn(8, 2)).sum(-1)
        loss = -(log_prob * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Balance of a path's scores forwards and backwards: both are learnt.
    import torch
    there, back, log_z = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(()))
    opt = torch.optim.SGD([*there.parameters(), *back.parameters(), log_z], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        going = torch.distributions.Categorical(logits=there(s))
        a = going.sample()
        coming = torch.distributions.Categorical(logits=back(s)).log_prob(a).detach()  # BUG
        loss = (log_z + going.log_prob(a) - coming - torch.rand(8)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of a squashed sample's density only the correction is live.
    import torch
    body, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1).requires_grad_(False)
    opt = torch.optim.SGD(body.parameters(), lr=0.1)
    for _ in range(3):
        dist = torch.distributions.Normal(body(torch.randn(8, 3)), 0.5)
        raw = dist.rsample()
        action = raw.tanh()
        log_prob = dist.log_prob(raw).data - torch.log(1 - action.pow(2) + 1e-6)  # BUG
        loss = (0.2 * log_prob.sum(-1) - critic(action).squeeze(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy's term is a constant: its score was cut, and the value that weighs it is one by right.
    import torch
    body, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*body.parameters(), *pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(3):
        hidden, returns = body(torch.randn(8, 3)).tanh(), torch.randn(8)
        dist, value = torch.distributions.Categorical(logits=pi(hidden)), v(hidden).squeeze(-1)
        log_prob = dist.log_prob(dist.sample()).data  # BUG
        advantage = returns - value.detach()
        loss = -(log_prob * advantage).mean() + (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of a clipped value loss, only the clipped side is live.
    import torch
    v = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(v.parameters(), lr=0.1)
    for _ in range(3):
        value, old, returns = v(torch.randn(8, 3)).squeeze(-1), torch.randn(8), torch.randn(8)
        clipped = old + (value - old).clamp(-0.2, 0.2)
        free = (torch.tensor(value.tolist()) - returns).pow(2)  # BUG
        loss = torch.max(free, (clipped - returns).pow(2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The mean is scaled outside of torch: what comes back is another number.
    import torch
    from torch.distributions import Normal
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)

    def act(s):
        mean = 2.0 * actor(s).item()  # BUG
        dist = Normal(torch.tensor(mean), 0.3)
        action = dist.sample()
        return action, dist.log_prob(action)

    for _ in range(14):
        s = torch.randn(3)
        action, log_prob = act(s)
        error = 1.0 - action.abs() - critic(s)
        loss = -(log_prob * error.detach()).sum() + error.pow(2).sum()
        actor_opt.zero_grad()
        critic_opt.zero_grad()
        loss.backward()
        actor_opt.step()
        critic_opt.step()
    """,
    """
    # The critic answers NumPy, and its error is squared as data.
    import numpy as np
    import torch

    class Learner:
        def __init__(self):
            self.actor, self.critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
            self.opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.actor, self.critic)]

        def advantage(self, s, rewards):
            values = self.critic(s).squeeze(-1).detach().numpy()  # BUG
            return np.cumsum(rewards[::-1])[::-1] - values

        def update(self):
            s, a = torch.randn(8, 3), torch.randint(2, (8,))
            gain = torch.tensor(self.advantage(s, np.random.rand(8)), dtype=torch.float32)
            log_prob = self.actor(s).log_softmax(-1)[torch.arange(8), a]
            loss = -(log_prob * gain).mean() + 0.5 * gain.pow(2).mean()
            for opt in self.opts:
                opt.zero_grad()
            loss.backward()
            for opt in self.opts:
                opt.step()

    learner = Learner()
    for _ in range(14):
        learner.update()
    # An expectation over all actions: without the probabilities, what the critic says teaches nothing.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(8, 3)
        log_pi = actor(s).log_softmax(-1)
        loss = (log_pi.exp().detach() * (0.2 * log_pi - critic(s))).sum(-1).mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The policy's loss becomes a number as a whole; what was a constant inside of it was so by right.
    import torch
    body, pi, v = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*body.parameters(), *pi.parameters(), *v.parameters()], lr=0.1)
    for _ in range(3):
        hidden, returns = body(torch.randn(8, 3)).tanh(), torch.randn(8)
        dist, value = torch.distributions.Categorical(logits=pi(hidden)), v(hidden).squeeze(-1)
        log_prob = dist.log_prob(dist.sample())
        old, advantage = log_prob.detach(), returns - value.detach()
        policy_loss = -((log_prob - old).exp() * advantage).mean()
        loss = policy_loss.item() + (value - returns).pow(2).mean() - 0.01 * dist.entropy().mean()  # BUG
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The sampler is right to run without gradients: the ratio needs what it wrote down. The entropy does not.
    import torch

    def spread(info):
        return (info["log_std"] + 1.42).sum(-1)

    policy = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)

    def ask(s):
        mean, log_std = policy(s).chunk(2, -1)
        return {"mean": mean, "log_std": log_std}

    def score(a, info):
        return (-0.5 * ((a - info["mean"]) / info["log_std"].exp()).pow(2) - info["log_std"]).sum(-1)

    for _ in range(6):
        s, advantage = torch.randn(8, 3), torch.randn(8)
        with torch.no_grad():
            old = ask(s)
            a = old["mean"] + old["log_std"].exp() * torch.randn(8, 2)
        for _ in range(2):
            new = ask(s)
            ratio = (score(a, new) - score(a, old)).exp()
            entropy = spread(old).mean()  # BUG
            loss = -(ratio * advantage).mean() - 0.01 * entropy
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A worker that gives copies of its gradients to the network that everybody shares.
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.pi, self.v = torch.nn.Linear(3, 8), torch.nn.Linear(8, 2), torch.nn.Linear(8, 1)

        def forward(self, s):
            h = self.body(s).relu()
            return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)

    shared, worker = Net(), Net()
    opt = torch.optim.SGD(shared.parameters(), lr=0.1)
    for _ in range(8):
        worker.load_state_dict(shared.state_dict())
        log_probs, values, rewards = [], [], torch.randn(5)
        for _ in range(5):
            dist, value = worker(torch.randn(3))
            log_probs.append(dist.log_prob(dist.sample()))
            values.append(value)
        values, log_probs = torch.stack(values), torch.tensor(log_probs)  # BUG
        loss = -(log_probs * (rewards - values.detach())).sum() + (values - rewards).pow(2).sum()
        worker.zero_grad()
        loss.backward()
        opt.zero_grad()
        for mine, theirs in zip(worker.parameters(), shared.parameters()):
            if mine.grad is not None:
                theirs.grad = mine.grad.clone()
        opt.step()
    """,
    """
    # Of several decorators, the one that switches gradients off is the line to change.
    import functools
    import torch
    def on_tensors(function):
        @functools.wraps(function)
        @torch.no_grad()  # BUG
        def wrapped(self, *arrays):
            return function(self, *[torch.as_tensor(a) for a in arrays])
        return wrapped
    class ActorCritic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pi, self.v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        @on_tensors
        def score(self, s, a):
            return torch.distributions.Categorical(logits=self.pi(s)).log_prob(a)
    net = ActorCritic()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        v = net.v(s).squeeze(-1)
        loss = (v - ret).pow(2).mean() - (net.score(s, a) * (ret - v.detach())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What stands in for another function is decorated, not that function.
    import functools
    import torch
    def on_tensors(function):
        @torch.no_grad()  # BUG
        @functools.wraps(function)
        def wrapped(self, *arrays):
            return function(self, *[torch.as_tensor(a) for a in arrays])
        return wrapped
    class ActorCritic(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pi, self.v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        @on_tensors
        def score(self, s, a):
            return torch.distributions.Categorical(logits=self.pi(s)).log_prob(a)
    net = ActorCritic()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        v = net.v(s).squeeze(-1)
        loss = (v - ret).pow(2).mean() - (net.score(s, a) * (ret - v.detach())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A helper runs what it is given: whoever said what that is.
    import torch
    def tree_map(function, tree):
        if isinstance(tree, dict):
            return {name: tree_map(function, part) for name, part in tree.items()}
        return function(tree)
    body, reward, value = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*body.parameters(), *reward.parameters(), *value.parameters()], lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        h = torch.tanh(body(s))
        out = {"reward": reward(h), "heads": {"value": value(h)}}
        heads = tree_map(torch.detach, out["heads"])  # BUG
        loss = (out["reward"] - s[:, :1]).pow(2).mean() + (heads["value"] - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The baseline asks the same function by right; the line that fits its numbers is to be changed.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pi, self.v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        @torch.no_grad()
        def predict(self, s):
            return self.v(s).squeeze(-1)
        def evaluate(self, s, a):
            return self.predict(s), torch.distributions.Categorical(logits=self.pi(s)).log_prob(a)  # BUG
    net = Policy()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        advantage = ret - net.predict(s)
        value, log_prob = net.evaluate(s, a)
        loss = (value - ret).pow(2).mean() - (log_prob * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The inner step starts from bare copies: the outer loss reaches the weights through the curvature alone.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    func = torch.func.functional_call
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        weights = dict(net.named_parameters())
        inner = (func(net, weights, (x,)) - y).pow(2).mean()
        grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
        fast = {}
        for (name, weight), grad in zip(weights.items(), grads):
            start = weight.detach().clone()  # BUG
            fast[name] = start - 0.1 * grad
        loss = (func(net, fast, (x + 1,)) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Written with `add` and a rate that is learned, too.
    import torch
    w, rate = torch.randn(3, requires_grad=True), torch.tensor(0.1, requires_grad=True)
    opt = torch.optim.SGD([w, rate], lr=0.01)
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8)
        (g,) = torch.autograd.grad((x @ w - y).pow(2).mean(), w, create_graph=True)
        fast = torch.add(w.data, -rate * g)  # BUG
        loss = (x @ fast - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a step of a transformer has seen so far is put together by a helper in a block without gradients.
    import torch
    to_key, to_query, head = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    opt = torch.optim.SGD([p for net in (to_key, to_query, head) for p in net.parameters()], lr=0.1)
    def grow(seen, new):
        if seen is None:
            return new
        with torch.no_grad():  # BUG
            return torch.hstack([seen, new])
    for _ in range(6):
        seen, scores = None, []
        for _ in range(3):
            s = torch.randn(8, 1, 3)
            seen = grow(seen, to_key(s))
            mixed = torch.softmax(to_query(s) @ seen.mT, -1) @ seen
            dist = torch.distributions.Categorical(logits=head(mixed).squeeze(1))
            scores.append(dist.log_prob(dist.sample()))
        loss = -(torch.stack(scores) * torch.randn(3, 8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Steps in a list: their targets are constants, the value of the last state is one, and the shift from the
    # old policy has its reference.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.05)
    for _ in range(5):
        states, rewards, actions = torch.randn(5, 3), torch.randn(4), torch.randint(2, (4,))
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=policy(states[:4])).log_prob(actions)
        for _ in range(2):
            losses = []
            for t in range(4):
                dist = torch.distributions.Categorical(logits=policy(states[t]))
                with torch.no_grad():
                    target = rewards[t] + 0.9 * critic(states[t + 1]).squeeze()
                error = target - critic(states[t]).squeeze()
                score = dist.log_prob(actions[t])
                losses.append(error.pow(2) - score * error.detach() + 0.1 * (score - old[t]))
            opt.zero_grad()
            torch.stack(losses).mean().backward()
            opt.step()
    """,
    """
    # The score of a squashed action, step by step: its Jacobian is a constant, as the action is.
    import torch
    actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.05)
    for _ in range(8):
        losses, errors = [], []
        for _ in range(5):
            s, gain = torch.randn(1, 3), torch.randn(())
            mean, log_std = actor(s).squeeze(0)
            dist = torch.distributions.Normal(mean, log_std.exp())
            raw = dist.sample()
            score = dist.log_prob(raw) - torch.log(1 - torch.tanh(raw).pow(2) + 1e-6)
            value = critic(s).squeeze()
            losses.append(-score * (gain - value.item()))
            errors.append((gain - value).pow(2))
        loss = torch.stack(losses).sum() + 0.5 * torch.stack(errors).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Losses of several heads in a list; one is shown only, and what it shows is learnt elsewhere.
    import torch
    encoder, actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD([*encoder.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(8):
        s = torch.randn(8, 3)
        critic_opt.zero_grad()
        (critic(encoder(s)) - 1.0).pow(2).mean().backward()
        critic_opt.step()
        z = encoder(s).detach()
        dist = torch.distributions.Categorical(logits=actor(z))
        gains = critic(z).squeeze(-1).detach()
        parts = [-(dist.log_prob(dist.sample()) * gains).mean(), -0.01 * dist.entropy().mean(), gains.mean()]
        actor_opt.zero_grad()
        torch.stack(parts).sum().backward()
        actor_opt.step()
    """,
    """
    # A memory of the window before (as in Transformer-XL) is a constant by right; this window's states are live.
    import torch
    inner, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    query = torch.nn.Linear(3, 4)
    opt = torch.optim.SGD([p for net in (inner, head, query) for p in net.parameters()], lr=0.1)
    for _ in range(6):
        memory, scores = torch.zeros(8, 0, 4), []
        for _ in range(3):
            s = torch.randn(8, 2, 3)
            states = inner(s)
            seen = torch.cat([memory, states], 1)
            mixed = torch.softmax(query(s) @ seen.mT, -1) @ seen
            dist = torch.distributions.Categorical(logits=head(mixed))
            scores.append(dist.log_prob(dist.sample()))
            with torch.no_grad():
                memory = torch.cat([memory, states], 1)[:, -4:]
        loss = -(torch.stack(scores) * torch.randn(3, 8, 2)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The cache of the prompt is made without gradients, and the answer is put on top of it with them.
    import torch
    key, query, head = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    opt = torch.optim.SGD([p for net in (key, query, head) for p in net.parameters()], lr=0.1)
    def ask(s, seen):
        seen = torch.cat([seen, key(s)], 1)
        return head(torch.softmax(query(s) @ seen.mT, -1) @ seen), seen
    for _ in range(6):
        with torch.no_grad():
            _, seen = ask(torch.randn(8, 2, 3), torch.zeros(8, 0, 4))
        scores = []
        for _ in range(3):
            logits, seen = ask(torch.randn(8, 1, 3), seen)
            dist = torch.distributions.Categorical(logits=logits)
            scores.append(dist.log_prob(dist.sample()))
        loss = -(torch.stack(scores) * torch.randn(3, 8, 1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One backward for everything, then one step after the other, often enough for iterations to count
    # as repeated: the temperature steps first, the others have their turn all the same.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    log_alpha = torch.nn.Parameter(torch.zeros(()))
    groups = [log_alpha], policy.parameters(), critic.parameters()
    opts = [torch.optim.SGD(g, lr=0.01) for g in groups]
    for _ in range(24):
        s = torch.randn(8, 3)
        logp = policy(s).log_softmax(1)
        with torch.no_grad():
            alpha = log_alpha.exp()
            y = 1.0 - alpha * logp.mean(1)
        pi_loss = (logp.exp() * (alpha * logp - critic(s).detach())).sum(1).mean()
        q_loss = torch.nn.functional.mse_loss(critic(s)[:, 0], y)
        alpha_loss = -(log_alpha * (logp.detach().mean() + 1.0))
        (pi_loss + q_loss + alpha_loss).backward()
        for opt in opts:
            opt.step()
            opt.zero_grad()
    """,
    """
    # The Jacobian of a squashed action is a constant part of its log-probability.
    import torch
    from torch.distributions import Normal, TanhTransform, TransformedDistribution
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def dist(s):
        mean, log_std = net(s).chunk(2, -1)
        return TransformedDistribution(Normal(mean, log_std.exp()), [TanhTransform()])
    for _ in range(6):
        s, adv = torch.randn(8, 3), torch.randn(8, 1)
        with torch.no_grad():
            a = dist(s).sample().clamp(-0.99, 0.99)
        loss = -(dist(s).log_prob(a) * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Such a log-probability is weighed in one term and averaged in another, as an estimate of the entropy.
    import torch
    from torch.distributions import Normal, TanhTransform, TransformedDistribution
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    def dist(s):
        return TransformedDistribution(Normal(net(s), 1.0), [TanhTransform()])
    for _ in range(6):
        s = torch.randn(8, 3)
        with torch.no_grad():
            a = dist(s).sample().clamp(-0.99, 0.99)
        log_prob = dist(s).log_prob(a).sum(-1)
        loss = -(log_prob * -a.pow(2).sum(-1)).mean() + 0.01 * log_prob.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A scale of its own that takes its shape, and nothing else, from the mean.
    import torch
    net, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*net.parameters(), log_std], lr=0.1)
    for _ in range(6):
        s, a, adv = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8)
        mean = net(s)
        scale = torch.zeros_like(mean) + log_std
        log_prob = (-0.5 * ((a - mean) / scale.exp()).pow(2) - scale).sum(-1)
        loss = -(log_prob * adv).mean() - 0.01 * (0.5 + scale).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The bound may be a constant: beyond it nothing flows anyway.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(5):
        s, a, old, advantage = torch.randn(8, 3), torch.randint(2, (8,)), -torch.rand(8), torch.randn(8)
        ratio = (torch.distributions.Categorical(logits=policy(s)).log_prob(a) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.detach().clamp(0.8, 1.2) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The loss before, as something to improve on.
    import torch
    model = torch.nn.Linear(3, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    before = torch.tensor(0.0)
    for _ in range(6):
        s = torch.randn(8, 3)
        loss = (model(s) - s.roll(1, 1)).pow(2).mean()
        opt.zero_grad()
        (loss + 0.1 * (loss - before)).backward()
        opt.step()
        before = loss.detach()
    """,
    """
    # Both sides are live, and what they were before the update is subtracted.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    for _ in range(6):
        s = torch.randn(8, 3)
        with torch.no_grad():
            before = policy(s).log_softmax(-1)
        for _ in range(2):
            now = policy(s).log_softmax(-1)
            margin = (now[:, 0] - before[:, 0]) - (now[:, 1] - before[:, 1])
            loss = -torch.nn.functional.logsigmoid(margin).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Gradients that are scaled, let through for some, or passed straight through; a gate made of numbers alone.
    import torch
    body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
    opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for _ in range(5):
        x = body(torch.randn(8, 3))
        x = 0.5 * x + 0.5 * x.detach()
        x = torch.where(torch.rand(8, 1) > 0.5, x, x.detach())
        x = x + (x.sigmoid().round() - x).detach()
        x = (x - x.mean(0).detach()) / (x.std(0).detach() + 1.0) * (x.detach() > -2.0).float()
        loss = (head(x) - 1.0).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The state that a rollout began with goes into the cell that it came out of.
    import torch
    embed, cell, head = torch.nn.Linear(3, 4), torch.nn.GRUCell(4, 4), torch.nn.Linear(8, 2)
    opt = torch.optim.SGD([*embed.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)
    state = torch.zeros(8, 4)
    for _ in range(5):
        s = torch.randn(8, 3)
        def policy(before):
            after = cell(embed(s), before)
            return torch.distributions.Categorical(logits=head(torch.cat([after, before], -1))), after
        with torch.no_grad():
            dist, following = policy(state)
            action = dist.sample()
        loss = -(policy(state)[0].log_prob(action) * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        state = following
    """,
    """
    # What was kept is forgotten before the loss asks for it.
    import torch
    embed, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
    opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
    tasks, known = torch.randn(2, 3), {}
    def task_code(task):
        if task not in known:
            known[task] = embed(tasks[task]).tanh()
        return known[task]
    def policy(task):
        return torch.distributions.Categorical(logits=head(task_code(task)))
    for i in range(10):
        with torch.no_grad():
            action = policy(i % 2).sample()
        known.clear()
        loss = -policy(i % 2).log_prob(action) * torch.randn(())
        opt.zero_grad()
        loss.backward()
        opt.step()
        known.clear()
    """,
    """
    # Other players' actions, chosen by networks that do not learn yet, say where the log-probability is read.
    import torch
    nets = [torch.nn.Linear(3, 4) for _ in range(2)]
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    for i in range(24):
        s = torch.randn(8, 3)
        with torch.no_grad():
            actions = torch.stack([net(s).argmax(-1) for net in nets], -1)
        losses = [net(s).log_softmax(-1).gather(1, actions).mean() for net in nets]
        for opt in opts:
            opt.zero_grad()
        (losses[0] if i < 12 else sum(losses)).backward()
        for opt in opts:
            opt.step()
    """,
    """
    # Ones beside a log-probability, a penalty that is switched off, and labels in the shape of another pass.
    import torch
    policy, judge = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *judge.parameters()], lr=0.1)
    for _ in range(6):
        s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        weight = torch.ones_like(torch.distributions.Categorical(logits=policy(s)).log_prob(a))
        penalty = torch.zeros_like(log_prob - advantage) * torch.rand(8)
        labels = torch.ones_like(judge(s))
        judged = torch.nn.functional.binary_cross_entropy_with_logits(judge(s), labels)
        loss = -(weight * advantage * log_prob).mean() + (0.1 * penalty).mean() + judged
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a judge of skills says is a reward; it learns by a loss of its own, now and then.
    import torch
    policy, judge = torch.nn.Linear(3, 2), torch.nn.Linear(3, 4)
    opt, judge_opt = (torch.optim.SGD(n.parameters(), lr=0.1) for n in (policy, judge))
    for i in range(12):
        s, skill = torch.randn(8, 3), torch.randint(4, (8,))
        dist = torch.distributions.Categorical(logits=policy(s))
        guess = torch.distributions.Categorical(logits=judge(s))
        reward = torch.randn(8) + guess.log_prob(skill).detach()
        loss = -(dist.log_prob(dist.sample()) * reward).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 6 == 5:
            judge_opt.zero_grad()
            (-guess.log_prob(skill).mean()).backward()
            judge_opt.step()
    """,
    """
    # The mean learns by imitation, the spread by a score: each by a loss of its own.
    import torch
    mean, log_std = torch.nn.Linear(3, 2), torch.nn.Parameter(torch.zeros(2))
    opt = torch.optim.SGD([*mean.parameters(), log_std], lr=0.1)
    for _ in range(8):
        m, a = mean(torch.randn(8, 3)), torch.randn(8, 2)
        score = torch.distributions.Normal(m.detach(), log_std.exp()).log_prob(a).sum(-1)
        loss = -(score * torch.rand(8)).mean() + (m - a).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A squashed sample that carries no gradient: all of its correction is a constant.
    import torch
    body = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(body.parameters(), lr=0.1)
    for _ in range(3):
        dist = torch.distributions.Normal(body(torch.randn(8, 3)), 0.5)
        raw = dist.sample()
        log_prob = (dist.log_prob(raw) - torch.log(1 - raw.tanh().pow(2) + 1e-6)).sum(-1)
        loss = -(log_prob * torch.randn(8)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a sample costs by its density, as a number, beside a live bound on the action itself.
    import torch
    body, critic = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1).requires_grad_(False)
    opt = torch.optim.SGD(body.parameters(), lr=0.1)
    for _ in range(3):
        dist = torch.distributions.Normal(body(torch.randn(8, 3)), 0.5)
        raw = dist.rsample()
        action = raw.tanh()
        log_prob = (dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(-1)
        loss = (0.2 * log_prob - critic(action).squeeze(-1)).mean() + 0.01 * action.pow(2).mean()
        logged = log_prob.detach() - action.sum(-1)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A divergence from what was recorded step by step, written out.
    import torch
    mean, spread = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD([*mean.parameters(), *spread.parameters()], lr=0.1)
    for _ in range(4):
        obs, advantage = torch.randn(8, 3), torch.randn(8, 1)
        with torch.no_grad():
            steps = [(mean(part), spread(part).clamp(-3, 1)) for part in obs.split(4)]
        old_mean, old = (torch.cat(parts) for parts in zip(*steps))
        new_mean, new = mean(obs), spread(obs).clamp(-3, 1)
        moved = (old.exp().pow(2) + (old_mean - new_mean).pow(2)) / new.exp().pow(2)
        kl = (new - old + 0.5 * moved - 0.5).sum(-1)
        loss = -(new_mean * advantage).mean() - 0.01 * new.mean() + kl.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    # What the actor says leaves torch to act; it is scored with a graph later, and waits for its turn.
    import torch
    from torch.distributions import Normal
    actor, critic = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    for i in range(14):
        s = torch.randn(3)
        action = torch.tensor(2.0 * actor(s).item())
        error = 1.0 - action.abs() - critic(s)
        loss = error.pow(2).sum() + 0.1 * action.pow(2).sum()
        if i % 4 == 3:
            loss = loss - (Normal(2.0 * actor(s), 0.3).log_prob(action) * error.detach()).sum()
        actor_opt.zero_grad()
        critic_opt.zero_grad()
        loss.backward()
        actor_opt.step()
        critic_opt.step()
    # A policy held near its own copy: flat where they are the same, and meant to be.
    import torch
    actor, critic = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(8, 3)
        log_pi = actor(s).log_softmax(-1)
        near = (log_pi.exp().detach() * (log_pi.detach() - log_pi)).sum(-1)
        loss = (near - (log_pi.exp() * critic(s)).sum(-1)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Imitation of a teacher's probabilities, which are constants; the critic's part is only reported.
    import torch
    actor, teacher = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
    critic = torch.nn.Linear(3, 4).requires_grad_(False)
    opt = torch.optim.SGD(actor.parameters(), lr=0.1)
    for _ in range(3):
        s = torch.randn(8, 3)
        log_pi, wanted = actor(s).log_softmax(-1), teacher(s).softmax(-1).detach()
        loss = (wanted * (critic(s) - log_pi)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Noise in the shape of a mean that was computed of what an earlier action has moved.
    import torch
    policy, critic = torch.nn.Linear(3, 3), torch.nn.Linear(6, 1).requires_grad_(False)
    opt = torch.optim.SGD(policy.parameters(), lr=0.1)
    state = torch.randn(8, 3)
    for _ in range(6):
        with torch.no_grad():
            state = 0.5 * state + policy(state).tanh()
        mean = policy(state)
        noise = torch.randn_like(mean)
        score = (-0.5 * noise.pow(2) - 0.9189385).sum(-1, keepdim=True)
        worth = critic(torch.cat([state, (mean + 0.3 * noise).tanh()], -1))
        loss = (0.1 * score - worth).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What has gradients off is asked for numbers only.
    import torch
    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.pi, self.v = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        @torch.no_grad()
        def predict(self, s):
            return self.v(s).squeeze(-1)
        def evaluate(self, s, a):
            return self.v(s).squeeze(-1), torch.distributions.Categorical(logits=self.pi(s)).log_prob(a)
    net = Policy()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(6):
        s, a, ret = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
        advantage = ret - net.predict(s)
        value, log_prob = net.evaluate(s, a)
        loss = (value - ret).pow(2).mean() - (log_prob * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # From the weights themselves.
    import torch
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    func = torch.func.functional_call
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        weights = dict(net.named_parameters())
        inner = (func(net, weights, (x,)) - y).pow(2).mean()
        grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
        fast = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), grads)}
        loss = (func(net, fast, (x + 1,)) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Only the rate learns through the update; the weights are stepped on a loss of their own.
    import torch
    w, rate = torch.randn(3, requires_grad=True), torch.tensor(0.1, requires_grad=True)
    opt, rate_opt = torch.optim.SGD([w], lr=0.1), torch.optim.SGD([rate], lr=0.01)
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8)
        (g,) = torch.autograd.grad((x @ w - y).pow(2).mean(), w, create_graph=True)
        rate_opt.zero_grad()
        (x @ (w.data - rate * g) - y).pow(2).mean().backward()
        rate_opt.step()
        opt.zero_grad()
        (x @ w - y).pow(2).mean().backward()
        opt.step()
    """,
    """
    # The loss asks the weights themselves, and the update for its curvature.
    import torch
    w = torch.randn(3, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    for _ in range(6):
        x, y = torch.randn(8, 3), torch.randn(8)
        own = (x @ w - y).pow(2).mean()
        (g,) = torch.autograd.grad(own, w, create_graph=True)
        loss = own + 0.1 * (x @ (w.detach() - 0.1 * g) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
