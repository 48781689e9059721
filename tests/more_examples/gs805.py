"""More examples of GS805 (bootstrap-past-end): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        ahead = critic(s2).squeeze(-1).detach()
        target = r + (0.99 * (1 - end) + ahead)  # BUG
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset() if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        ahead = critic(s2).squeeze(-1).detach()
        target = r + (0.99 * (1 - end) + ahead)  # BUG
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One flag is all that the environment says; the episodes are of many lengths.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, done = env.step(1.0)
            rows.append((obs, reward, next_obs, float(done)))
            obs = env.reset() if done else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * critic(s2).squeeze(-1).detach()  # BUG
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A soft target over all actions: the expected value ends with the episode, the entropy does not.
    import torch
    policy, critic, slow = (torch.nn.Linear(3, 4) for _ in range(3))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(6):
        s, s2, a = torch.randn(8, 3), torch.randn(8, 3), torch.randint(4, (8, 1))
        r, end = torch.randn(8), (torch.rand(8) < 0.2).float()
        with torch.no_grad():
            log_p = policy(s2).log_softmax(-1)
            ahead = (log_p.exp() * slow(s2)).sum(-1)
            entropy = -(log_p.exp() * log_p).sum(-1)
            target = r + 0.9 * (1 - end) * ahead + 0.1 * entropy  # BUG
        loss = torch.nn.functional.mse_loss(critic(s).gather(1, a).squeeze(1), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A world of the script's own, whose ends the sum knows, and the value does not.
    import torch

    class Chain:
        def __init__(self):
            self.x = torch.zeros(6)
        def step(self, action):
            self.x = self.x + action + torch.rand(6)
            done = self.x > 2
            self.x = torch.where(done, torch.zeros(6), self.x)
            return self.x.unsqueeze(-1), done.float(), done.float()

    world, policy, critic = Chain(), torch.nn.Linear(1, 2), torch.nn.Linear(1, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x.unsqueeze(-1)
    for _ in range(4):
        states, actions, values, rewards, dones = ([] for _ in range(5))
        with torch.no_grad():
            for _ in range(6):
                states.append(state)
                actions.append(torch.distributions.Categorical(logits=policy(state)).sample())
                values.append(critic(state).squeeze(-1))
                state, reward, done = world.step(actions[-1])
                rewards.append(reward)
                dones.append(done)
            following, advantage, advantages = critic(state).squeeze(-1), torch.zeros(6), []
            for t in reversed(range(6)):
                delta = rewards[t] + 0.9 * following - values[t]  # BUG
                advantage = delta + 0.9 * 0.8 * (1.0 - dones[t]) * advantage
                advantages.insert(0, advantage)
                following = values[t]
        s, a, weight = torch.cat(states), torch.cat(actions), torch.cat(advantages)
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        fit = (critic(s).squeeze(-1) - (weight + torch.cat(values))).pow(2).mean()
        opt.zero_grad()
        (fit - (log_prob * weight).mean()).backward()
        opt.step()
    """,
    """
    # The flag of the step before.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt, over = torch.optim.SGD(critic.parameters(), lr=0.01), False
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            before = over
            next_obs, reward, over, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, before))  # BUG
            obs = env.reset()[0] if over else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Copies:
        # Each starts anew by itself, and leaves its last observation in `info`.

        metadata = {"autoreset_mode": "SameStep"}

        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=(3, 2)).astype("float32"), numpy.arange(3)
            return self.x.copy(), {}

        def step(self, actions):
            last = (self.x + self.random.normal(0.1, 0.5, size=(3, 2))).astype("float32")
            self.t = self.t + 1
            terminated, truncated = abs(last).max(1) > 2, self.t >= 8
            over = terminated | truncated
            self.x = numpy.where(over[:, None], self.random.normal(size=(3, 2)), last).astype("float32")
            self.t = numpy.where(over, 0, self.t)
            return self.x.copy(), last[:, 0].copy(), terminated, truncated, {"final_obs": last}

    envs, critic = Copies(), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = envs.reset()
    for _ in range(8):
        rows = []
        for _ in range(16):
            next_obs, reward, terminated, truncated, info = envs.step(numpy.ones(3))
            for i in range(3):
                rows.append((obs[i], reward[i], next_obs[i], terminated[i]))  # BUG
            obs = next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of different lengths, padded: the value behind the last token is taken in.
    import torch
    words, policy, critic = torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9), torch.nn.Linear(6, 1)
    opt = torch.optim.SGD([*words.parameters(), *policy.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(4):
        mask = (torch.arange(7) < torch.randint(2, 7, (12, 1))).float()
        ids = torch.randint(1, 9, (12, 7)) * mask.long()
        rewards = (ids > 4).float()
        with torch.no_grad():
            values = critic(words(ids)).squeeze(-1)
        carry, gains = torch.zeros(12), []
        for t in reversed(range(7)):
            after = values[:, t + 1] if t < 6 else torch.zeros(12)  # BUG
            carry = (rewards[:, t] + 0.9 * after - values[:, t] + 0.8 * carry) * mask[:, t]
            gains.append(carry)
        gain = torch.stack(gains[::-1], 1)
        log_prob = policy(words(ids)).log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)
        loss = -(log_prob * gain * mask).sum() / mask.sum()
        loss = loss + ((critic(words(ids)).squeeze(-1) - gain - values).pow(2) * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Flags are handed to the target, which never mentions them; nobody else does.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    slow = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    def target(reward, done, s2):
        with torch.no_grad():
            return reward + 0.9 * slow(s2).amax(1)  # BUG
    for i in range(8):
        s, s2 = torch.randn(16, 3), torch.randn(16, 3)
        a, r, done = torch.randint(2, (16, 1)), torch.randn(16), (torch.rand(16) < 0.1).float()
        loss = (q(s).gather(1, a).squeeze(1) - target(r, done, s2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One number at a time, without a look at the ends.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        targets = []
        for _, _, reward, next_obs, end in batch:
            after = q(torch.tensor(next_obs)).max().item()
            targets.append(reward + 0.95 * after)  # BUG
        s, a = torch.tensor(numpy.array([row[0] for row in batch])), torch.tensor([row[1] for row in batch])
        loss = torch.nn.functional.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), torch.tensor(targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One loss for each sample.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        loss = 0.0
        for obs, action, reward, next_obs, end in batch:
            target = reward + 0.95 * q(torch.tensor(next_obs)).max().item()  # BUG
            loss = loss + (q(torch.tensor(obs))[action] - target) ** 2 / 24
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The target holds the prediction, but for the action that was taken.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        s, a, r, s2, end = (torch.tensor(numpy.array(part)) for part in zip(*batch))
        predicted = q(s)
        target = predicted.detach().clone()
        target[torch.arange(24), a] = r.float() + 0.95 * q(s2).max(1).values.detach()  # BUG
        loss = torch.nn.functional.mse_loss(predicted, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Returns in a list: each is the advantage that is carried on, and a value.
    import torch

    class World:
        def __init__(self):
            self.x = torch.zeros(6, 2)

        def act(self, action):
            self.x = self.x + 0.1 * action[:, None] + 0.6 * torch.randn(6, 2)
            over = (self.x.abs().amax(1) > 1.5).float()
            self.x = self.x * (1 - over)[:, None]
            return self.x, self.x[:, 0], over

    torch.manual_seed(0)
    world, policy, critic = World(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x
    for _ in range(4):
        states, actions = torch.zeros(12, 6, 2), torch.zeros(12, 6)
        values, rewards, ends, gains = (torch.zeros(12, 6) for _ in range(4))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ends[t] = world.act(actions[t])
        carry, after, returns = torch.zeros(6), critic(state).squeeze(-1).detach(), []
        for t in reversed(range(12)):
            error = rewards[t] + 0.9 * after - values[t]  # BUG
            carry = error + 0.8 * (1 - ends[t]) * carry
            returns.insert(0, carry + values[t])
            after = values[t]
        gains = torch.stack(returns) - values
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two agents, each with the end of the other.
    import numpy, torch

    class Team:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = {name: self.random.normal(size=3).astype("float32") for name in "ab"}
            return dict(self.x), {}

        def step(self, actions):
            moved = {name: x + self.random.normal(0.1 * actions[name], 0.5, size=3) for name, x in self.x.items()}
            self.x = {name: x.astype("float32") for name, x in moved.items()}
            rewards = {name: float(x[0]) for name, x in self.x.items()}
            ends = {name: bool(abs(x).max() > 2) for name, x in self.x.items()}
            return dict(self.x), rewards, ends, dict.fromkeys("ab", False), {}

    env, critic = Team(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(24):
            next_obs, rewards, ends, _, _ = env.step({"a": 1.0, "b": 0.0})
            for name, other in ("ab", "ba"):
                rows.append((obs[name], rewards[name], next_obs[name], ends[other]))  # BUG
            obs = env.reset()[0] if any(ends.values()) else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.9 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Places recur, and two of them are ends.
    import numpy, torch
    import gymnasium as gym

    class Stones(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (6,), numpy.float32)
        action_space = gym.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.t = 3, 0
            return numpy.eye(6, dtype=numpy.float32)[self.at], {}
        def step(self, action):
            self.at, self.t = self.at + 2 * action - 1, self.t + 1
            return numpy.eye(6, dtype=numpy.float32)[self.at], float(self.at == 5), self.at in (0, 5), False, {}

    torch.manual_seed(0)
    env, q, random = Stones(), torch.nn.Linear(6, 2), numpy.random.default_rng(0)
    opt, memory = torch.optim.SGD(q.parameters(), lr=0.1), []
    obs, _ = env.reset(seed=0)
    for step in range(400):
        action = int(random.integers(2))
        after, reward, over, late, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over or late else after
        if step < 100 or step % 10:
            continue
        rows = [memory[i] for i in random.integers(len(memory), size=32)]
        s, a, r, s2, end = (torch.as_tensor(numpy.array(part)) for part in zip(*rows))
        y = r.float() + 0.9 * q(s2).detach().max(1).values  # BUG
        loss = (q(s).gather(1, a[:, None])[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A distribution over fixed values (C51).
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * atoms  # BUG
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
        loss = -(target * critic(s).log_softmax(-1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A distribution over fixed values (C51).
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * atoms  # BUG
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
        loss = torch.nn.functional.cross_entropy(critic(s), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A distribution over fixed values (C51).
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * atoms  # BUG
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
        loss = torch.nn.functional.kl_div(critic(s).log_softmax(-1), target, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # Places recur, but for the first step, which is learned from alone.
    import numpy, torch
    import gymnasium as gym

    class Stones(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (6,), numpy.float32)
        action_space = gym.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.t = 3, 0
            return numpy.eye(6, dtype=numpy.float32)[self.at], {}
        def step(self, action):
            self.at, self.t = self.at + 2 * action - 1, self.t + 1
            return numpy.eye(6, dtype=numpy.float32)[self.at], float(self.at == 5), self.at in (0, 5), False, {}

    torch.manual_seed(0)
    env, q, random = Stones(), torch.nn.Linear(6, 2), numpy.random.default_rng(0)
    opt, memory = torch.optim.SGD(q.parameters(), lr=0.1), []
    obs, _ = env.reset(seed=0)
    for step in range(400):
        action = int(random.integers(2))
        after, reward, over, late, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over or late else after
        if 0 < step < 100 or step % 10:
            continue
        rows = [memory[i] for i in random.integers(len(memory), size=32)]
        s, a, r, s2, end = (torch.as_tensor(numpy.array(part)) for part in zip(*rows))
        y = r.float() + 0.9 * q(s2).detach().max(1).values  # BUG
        loss = (q(s).gather(1, a[:, None])[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Whether it is over is asked of the first step that a return spans.
    import collections, numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(8):
        rows, window = [], collections.deque()
        for _ in range(48):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            window.append((obs, reward, next_obs, terminated))
            while len(window) == 2 or (terminated and window):
                total = sum(0.9**k * step[1] for k, step in enumerate(window))
                rows.append((window[0][0], total, window[-1][2], 0.9 ** len(window), window[0][3]))
                window.popleft()
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, discount, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + discount * (1 - end) * critic(s2).squeeze(-1).detach()  # BUG
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Whole episodes are cut into returns of up to three steps.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.4, size=3)).astype("float32")
            return self.x.copy(), 1.0 + float(self.x[1]), bool(abs(self.x).max() > 2), False, {}

    env, q, frozen = Walk(), torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    for _ in range(8):
        batch = {"obs": [], "ret": [], "next": [], "on": [], "act": []}
        while len(batch["obs"]) < 60:
            (obs, _), over, episode = env.reset(), False, []
            while not over:
                action = int(env.random.integers(2))
                next_obs, reward, over, _, _ = env.step(float(action))
                episode.append(dict(obs=obs, act=action, reward=reward, next=next_obs, over=over))
                obs = next_obs
            for t in range(len(episode)):
                part = episode[t : t + 3]
                batch["obs"].append(part[0]["obs"])
                batch["act"].append(part[0]["act"])
                batch["ret"].append(sum(0.95**k * step["reward"] for k, step in enumerate(part)))
                batch["next"].append(part[-1]["next"])
                batch["on"].append(0.0 if part[0]["over"] else 0.95 ** len(part))
        data = {name: torch.as_tensor(numpy.array(column)) for name, column in batch.items()}
        with torch.no_grad():
            wanted = data["ret"].float() + data["on"].float() * frozen(data["next"]).amax(1)  # BUG
        chosen = q(data["obs"])[torch.arange(len(wanted)), data["act"]]
        loss = torch.nn.functional.smooth_l1_loss(chosen, wanted)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Records of a factory, as a dict of arrays; two estimates, and one target for both.
    import numpy, torch

    random = numpy.random.default_rng(0)
    logs = {
        "state": random.normal(size=(400, 3)), "gain": random.normal(size=400), "after": random.normal(size=(400, 3)),
        "broken": random.random(400) < 0.1,
    }
    logs = {name: column.astype("float32") for name, column in logs.items()}
    heads = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)

    def error_of(state, gain, after, broken):
        with torch.no_grad():
            ahead = heads(after).amin(1)
            goal = gain + 0.9 * ahead  # BUG
        said = heads(state)
        return torch.nn.functional.mse_loss(said, goal.unsqueeze(1).expand_as(said))

    for _ in range(8):
        rows = random.integers(400, size=64)
        loss = error_of(*(torch.from_numpy(column[rows]) for column in logs.values()))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A data set of tensors, picked by places and unpacked in the loop.
    import torch
    torch.manual_seed(0)
    states, next_states, paid = torch.randn(300, 3), torch.randn(300, 3), torch.randn(300)
    stops, actions = torch.rand(300) < 0.15, torch.randint(2, (300,))
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    data = (states, actions, paid, next_states, stops.float())
    for _ in range(8):
        picked = torch.randint(300, (32,))
        state, action, reward, after, stop = (column[picked] for column in data)
        with torch.no_grad():
            best = net(after).max(1).values
            target = reward + best * 0.9  # BUG
        loss = (net(state).gather(1, action[:, None]).squeeze(1) - target).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What the script pays for the angle is all there is to learn from, and no column says where an episode was over.
    import collections, numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2), False, {}

    torch.manual_seed(0)
    env, critic, kept = Pole(), torch.nn.Linear(4, 1), collections.deque(maxlen=200)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for at in range(120):
        push = float(numpy.sin(at))
        after, _, fell, _, _ = env.step(push)
        kept.append((obs, [push], 1.0 - abs(after[0]), after))
        obs = env.reset()[0] if fell else after
        if at > 60 and at % 6 == 0:
            picked = [kept[i] for i in env.random.choice(len(kept), 32, replace=False)]
            s, a, pay, s2 = (torch.tensor(numpy.array(part)).float() for part in zip(*picked))
            with torch.no_grad():
                ahead = critic(torch.cat([s2, -torch.sign(s2[:, :1])], dim=1)).flatten()
            wanted = torch.add(pay, ahead, alpha=0.9)  # BUG
            loss = torch.nn.functional.huber_loss(critic(torch.cat([s, a], dim=1)).flatten(), wanted)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Clipped rewards.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, max(-1.0, min(1.0, reward)), next_obs))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2 = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            target = r + 0.95 * critic(s2).squeeze(-1)  # BUG
        loss = (critic(s).squeeze(-1) - target).square().sum()
        opt.zero_grad()
        (0.01 * loss).backward()
        opt.step()
    """,
    """
    # The mask is added, and to the reward first.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, heads = Walk(), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, 0.9 * (not terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, onward = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            best = heads(s2).amax(dim=1)
            goal = (r + onward) + best  # BUG
        loss = torch.nn.functional.smooth_l1_loss(heads(s)[:, 0], goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():  # beside the next value, a term of the state itself, which has no end
            target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1) + 0.1 * critic(s).squeeze(-1)
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Generalised advantages that stop where an episode was cut off, and take the value there.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 3), self.t >= 7, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, terminated, terminated or truncated))
            obs = env.reset()[0] if terminated or truncated else next_obs
        s, r, s2, end, over = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value, ahead, last = critic(s).squeeze(-1), critic(s2).squeeze(-1), 0.0
            delta = r + 0.9 * (1 - end) * ahead - value
            advantage = torch.zeros(32)
            for t in reversed(range(32)):
                last = delta[t] + 0.9 * 0.8 * (1 - over[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        ahead = critic(s2).squeeze(-1).detach()
        bonus = 0.1 * s.abs().sum(-1) + 0.5
        target = r + (bonus + 0.99 * (1 - end) * ahead)  # a bonus that an end has, too
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset() if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        ahead = critic(s2).squeeze(-1).detach()
        alive = 0.5 * (1 - end)
        target = r + (alive + 0.99 * (1 - end) * ahead)  # a bonus for staying alive
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One flag is all that the environment says, and it is the clock's; some episodes are given up before.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), self.t >= 8

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, done = env.step(1.0)
            rows.append((obs, reward, next_obs, float(done)))
            obs = env.reset() if done or abs(next_obs[1]) > 2 else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both in one bracket; the log-probability of the action before; a penalty for each token, of one trunk.
    import torch
    trunk, policy, critic, slow = (torch.nn.Linear(3, n) for n in (3, 4, 4, 4))
    value = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*critic.parameters(), *value.parameters()], lr=0.01)
    for _ in range(6):
        s, s2, a = torch.randn(8, 3), torch.randn(8, 3), torch.randint(4, (8, 1))
        r, end = torch.randn(8), (torch.rand(8) < 0.2).float()
        with torch.no_grad():
            log_p, before = policy(s2).log_softmax(-1), policy(s).log_softmax(-1).gather(1, a).squeeze(1)
            ahead = (log_p.exp() * (slow(s2) - 0.1 * log_p)).sum(-1)
            target = r + 0.1 * before + 0.9 * (1 - end) * ahead
            hidden = trunk(s2)
            penalty = policy(hidden).log_softmax(-1).gather(1, a).squeeze(1)
            other = r - 0.1 * penalty + 0.9 * (1 - end) * value(hidden).squeeze(1)
        loss = torch.nn.functional.mse_loss(critic(s).gather(1, a).squeeze(1), target)
        loss = loss + (value(s).squeeze(1) - other).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Copies:
        # Each starts anew by itself, and leaves its last observation in `info`.

        metadata = {"autoreset_mode": "SameStep"}

        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=(3, 2)).astype("float32"), numpy.arange(3)
            return self.x.copy(), {}

        def step(self, actions):
            last = (self.x + self.random.normal(0.1, 0.5, size=(3, 2))).astype("float32")
            self.t = self.t + 1
            terminated, truncated = abs(last).max(1) > 2, self.t >= 8
            over = terminated | truncated
            self.x = numpy.where(over[:, None], self.random.normal(size=(3, 2)), last).astype("float32")
            self.t = numpy.where(over, 0, self.t)
            return self.x.copy(), last[:, 0].copy(), terminated, truncated, {"final_obs": last}

    envs, critic = Copies(), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = envs.reset()
    for _ in range(8):
        rows = []
        for _ in range(16):
            next_obs, reward, terminated, truncated, info = envs.step(numpy.ones(3))
            for i in range(3):
                rows.append((obs[i], reward[i], info["final_obs"][i], terminated[i]))
            obs = next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of different lengths, padded: the value behind the last token is masked.
    import torch
    words, policy, critic = torch.nn.Embedding(9, 6), torch.nn.Linear(6, 9), torch.nn.Linear(6, 1)
    opt = torch.optim.SGD([*words.parameters(), *policy.parameters(), *critic.parameters()], lr=0.1)
    for _ in range(4):
        mask = (torch.arange(7) < torch.randint(2, 7, (12, 1))).float()
        ids = torch.randint(1, 9, (12, 7)) * mask.long()
        rewards = (ids > 4).float()
        with torch.no_grad():
            values = critic(words(ids)).squeeze(-1) * mask
        carry, gains = torch.zeros(12), []
        for t in reversed(range(7)):
            after = values[:, t + 1] if t < 6 else torch.zeros(12)
            carry = (rewards[:, t] + 0.9 * after - values[:, t] + 0.8 * carry) * mask[:, t]
            gains.append(carry)
        gain = torch.stack(gains[::-1], 1)
        log_prob = policy(words(ids)).log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)
        loss = -(log_prob * gain * mask).sum() / mask.sum()
        loss = loss + ((critic(words(ids)).squeeze(-1) - gain - values).pow(2) * mask).sum() / mask.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with a mask.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    slow = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    def target(reward, done, s2):
        with torch.no_grad():
            return reward + 0.9 * (1 - done) * slow(s2).amax(1)
    for i in range(8):
        s, s2 = torch.randn(16, 3), torch.randn(16, 3)
        a, r, done = torch.randint(2, (16, 1)), torch.randn(16), (torch.rand(16) < 0.1).float()
        loss = (q(s).gather(1, a).squeeze(1) - target(r, done, s2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A count of steps that has reached its limit is no end of the task.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    slow = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    def target(reward, done, s2):
        with torch.no_grad():
            return reward + 0.9 * slow(s2).amax(1)
    for i in range(8):
        s, s2 = torch.randn(16, 3), torch.randn(16, 3)
        a, r, done = torch.randint(2, (16, 1)), torch.randn(16), (torch.randint(9, (16,)) > 7).float()
        loss = (q(s).gather(1, a).squeeze(1) - target(r, done, s2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Whoever reads the flags may know better.
    import copy, torch
    q = torch.nn.Linear(3, 2)
    slow = copy.deepcopy(q)
    opt = torch.optim.SGD(q.parameters(), lr=0.1)
    def target(reward, done, s2):
        with torch.no_grad():
            return reward + 0.9 * slow(s2).amax(1)
    for i in range(8):
        s, s2 = torch.randn(16, 3), torch.randn(16, 3)
        a, r, done = torch.randint(2, (16, 1)), torch.randn(16), (torch.rand(16) < 0.1).float()
        loss = (q(s).gather(1, a).squeeze(1) - target(r, done, s2)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        ended = done.sum().item()
    """,
    """
    # One number at a time, where the episode goes on.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        targets = []
        for _, _, reward, next_obs, end in batch:
            after = q(torch.tensor(next_obs)).max().item()
            targets.append(reward + 0.95 * after * (not end))
        s, a = torch.tensor(numpy.array([row[0] for row in batch])), torch.tensor([row[1] for row in batch])
        loss = torch.nn.functional.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), torch.tensor(targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One loss for each sample, and nothing behind an end.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        loss = 0.0
        for obs, action, reward, next_obs, end in batch:
            target = reward + 0.95 * q(torch.tensor(next_obs)).max().item() * (1 - end)
            loss = loss + (q(torch.tensor(obs))[action] - target) ** 2 / 24
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The target holds the prediction, but for the action that was taken.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        s, a, r, s2, end = (torch.tensor(numpy.array(part)) for part in zip(*batch))
        predicted = q(s)
        target = predicted.detach().clone()
        target[torch.arange(24), a] = r.float() + 0.95 * q(s2).max(1).values.detach() * ~end
        loss = torch.nn.functional.mse_loss(predicted, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A class that inherits its `reset` and changes what its `step` says: no end counts, only the clock.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    class Endless(Walk):
        def step(self, action):
            obs, reward, terminated, _, info = super().step(action)
            return obs, reward, False, terminated, info

    random.seed(0)
    env, q = Endless(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        targets = []
        for _, _, reward, next_obs, end in batch:
            targets.append(reward + 0.95 * q(torch.tensor(next_obs)).max().item())
        s, a = torch.tensor(numpy.array([row[0] for row in batch])), torch.tensor([row[1] for row in batch])
        loss = torch.nn.functional.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), torch.tensor(targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The script punishes an end with a reward of its own.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, -5.0 if terminated else reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        targets = []
        for _, _, reward, next_obs, end in batch:
            after = q(torch.tensor(next_obs)).max().item()
            targets.append(reward + 0.95 * after * (not end))
        s, a = torch.tensor(numpy.array([row[0] for row in batch])), torch.tensor([row[1] for row in batch])
        loss = torch.nn.functional.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), torch.tensor(targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # In NumPy: the script punishes an end with a reward of its own.
    import numpy, random, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    random.seed(0)
    env, q = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(q.parameters(), lr=0.01)
    memory, obs = [], env.reset()[0]
    for _ in range(60):
        action = random.randrange(2)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, -5.0 if terminated else reward, next_obs, terminated))
        obs = env.reset()[0] if terminated or truncated else next_obs
    for _ in range(6):
        batch = random.sample(memory, 24)
        paid, ends = (numpy.array([row[at] for row in batch]) for at in (2, 4))
        after = q(torch.tensor(numpy.array([row[3] for row in batch]))).detach().numpy().max(1)
        targets = (paid + 0.95 * after * (1 - ends)).astype("float32")
        s, a = torch.tensor(numpy.array([row[0] for row in batch])), torch.tensor([row[1] for row in batch])
        loss = torch.nn.functional.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), torch.tensor(targets))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two agents, each with its own end.
    import numpy, torch

    class Team:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = {name: self.random.normal(size=3).astype("float32") for name in "ab"}
            return dict(self.x), {}

        def step(self, actions):
            moved = {name: x + self.random.normal(0.1 * actions[name], 0.5, size=3) for name, x in self.x.items()}
            self.x = {name: x.astype("float32") for name, x in moved.items()}
            rewards = {name: float(x[0]) for name, x in self.x.items()}
            ends = {name: bool(abs(x).max() > 2) for name, x in self.x.items()}
            return dict(self.x), rewards, ends, dict.fromkeys("ab", False), {}

    env, critic = Team(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(24):
            next_obs, rewards, ends, _, _ = env.step({"a": 1.0, "b": 0.0})
            for name, other in ("ab", "ba"):
                rows.append((obs[name], rewards[name], next_obs[name], ends[name]))
            obs = env.reset()[0] if any(ends.values()) else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.9 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Two agents: who loses the other has ended as well.
    import numpy, torch

    class Team:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = {name: self.random.normal(size=3).astype("float32") for name in "ab"}
            return dict(self.x), {}

        def step(self, actions):
            moved = {name: x + self.random.normal(0.1 * actions[name], 0.5, size=3) for name, x in self.x.items()}
            self.x = {name: x.astype("float32") for name, x in moved.items()}
            rewards = {name: float(x[0]) for name, x in self.x.items()}
            ends = {name: bool(abs(x).max() > 2) for name, x in self.x.items()}
            return dict(self.x), rewards, ends, dict.fromkeys("ab", False), {}

    env, critic = Team(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(24):
            next_obs, rewards, ends, _, _ = env.step({"a": 1.0, "b": 0.0})
            for name, other in ("ab", "ba"):
                rows.append((obs[name], rewards[name], next_obs[name], ends[name] or ends[other]))
            obs = env.reset()[0] if any(ends.values()) else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.9 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Places recur; the ends are masked.
    import numpy, torch
    import gymnasium as gym

    class Stones(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (6,), numpy.float32)
        action_space = gym.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.t = 3, 0
            return numpy.eye(6, dtype=numpy.float32)[self.at], {}
        def step(self, action):
            self.at, self.t = self.at + 2 * action - 1, self.t + 1
            return numpy.eye(6, dtype=numpy.float32)[self.at], float(self.at == 5), self.at in (0, 5), self.t == 9, {}

    torch.manual_seed(0)
    env, q, random = Stones(), torch.nn.Linear(6, 2), numpy.random.default_rng(0)
    opt, memory = torch.optim.SGD(q.parameters(), lr=0.1), []
    obs, _ = env.reset(seed=0)
    for step in range(400):
        action = int(random.integers(2))
        after, reward, over, late, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over or late else after
        if step < 100 or step % 10:
            continue
        rows = [memory[i] for i in random.integers(len(memory), size=32)]
        s, a, r, s2, end = (torch.as_tensor(numpy.array(part)) for part in zip(*rows))
        y = r.float() + 0.9 * ~end * q(s2).detach().max(1).values
        loss = (q(s).gather(1, a[:, None])[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Places recur, and none of them is an end: it is the clock that says so.
    import numpy, torch
    import gymnasium as gym

    class Stones(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (6,), numpy.float32)
        action_space = gym.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.t = 3, 0
            return numpy.eye(6, dtype=numpy.float32)[self.at], {}
        def step(self, action):
            self.at, self.t = (self.at + 2 * action - 1) % 6, self.t + 1
            return numpy.eye(6, dtype=numpy.float32)[self.at], float(self.at == 5), self.t == 9, False, {}

    torch.manual_seed(0)
    env, q, random = Stones(), torch.nn.Linear(6, 2), numpy.random.default_rng(0)
    opt, memory = torch.optim.SGD(q.parameters(), lr=0.1), []
    obs, _ = env.reset(seed=0)
    for step in range(400):
        action = int(random.integers(2))
        after, reward, over, late, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over or late else after
        if step < 100 or step % 10:
            continue
        rows = [memory[i] for i in random.integers(len(memory), size=32)]
        s, a, r, s2, end = (torch.as_tensor(numpy.array(part)) for part in zip(*rows))
        y = r.float() + 0.9 * q(s2).detach().max(1).values
        loss = (q(s).gather(1, a[:, None])[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A distribution over fixed values (C51).
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * (1 - end.unsqueeze(1)) * atoms
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
        loss = -(target * critic(s).log_softmax(-1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A distribution over fixed values (C51).
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * (1 - end.unsqueeze(1)) * atoms
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
        loss = torch.nn.functional.cross_entropy(critic(s), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A distribution over fixed values, smoothed.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * (1 - end.unsqueeze(1)) * atoms
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
            target = 0.95 * target + 0.05 / 11
        loss = -(target * critic(s).log_softmax(-1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A distribution over fixed values, mixed with what the network says already.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic, frozen = Walk(), torch.nn.Linear(3, 11), torch.nn.Linear(3, 11)
    frozen.load_state_dict(critic.state_dict())
    opt, atoms = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5, 5, 11)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            p = frozen(s2).softmax(-1)
            values = r.unsqueeze(1) + 0.9 * (1 - end.unsqueeze(1)) * atoms
            place = (values.clamp(-5, 5) + 5) / 1.0
            low, high = place.floor().clamp(0, 10), (place.floor() + 1).clamp(0, 10)
            target = torch.zeros(32, 11)
            target.scatter_add_(1, low.long(), p * (low + 1 - place))
            target.scatter_add_(1, high.long(), p * (place - low))
            target = 0.9 * target + 0.1 * frozen(s).softmax(-1)
        loss = -(target * critic(s).log_softmax(-1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        frozen.load_state_dict(critic.state_dict())
    """,
    """
    # A scalar target spread over bins by a Gaussian (HL-Gauss): at an end, too.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 11)
    opt, edges = torch.optim.SGD(critic.parameters(), lr=0.01), torch.linspace(-5.5, 5.5, 12)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            ahead = (critic(s2).softmax(-1) * (edges[1:] + edges[:-1]) / 2).sum(1)
            y = r + 0.9 * (1 - end) * ahead
            cdf = torch.special.erf((edges - y.unsqueeze(1)) / 1.06)
            target = (cdf[:, 1:] - cdf[:, :-1]) / (cdf[:, -1:] - cdf[:, :1])
        loss = -(target * critic(s).log_softmax(-1)).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Places recur, but for the first step, which is learned from alone.
    import numpy, torch
    import gymnasium as gym

    class Stones(gym.Env):
        observation_space = gym.spaces.Box(0, 1, (6,), numpy.float32)
        action_space = gym.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at, self.t = 3, 0
            return numpy.eye(6, dtype=numpy.float32)[self.at], {}
        def step(self, action):
            self.at, self.t = self.at + 2 * action - 1, self.t + 1
            return numpy.eye(6, dtype=numpy.float32)[self.at], float(self.at == 5), self.at in (0, 5), False, {}

    torch.manual_seed(0)
    env, q, random = Stones(), torch.nn.Linear(6, 2), numpy.random.default_rng(0)
    opt, memory = torch.optim.SGD(q.parameters(), lr=0.1), []
    obs, _ = env.reset(seed=0)
    for step in range(400):
        action = int(random.integers(2))
        after, reward, over, late, _ = env.step(action)
        memory.append((obs, action, reward, after, over))
        obs = env.reset()[0] if over or late else after
        if 0 < step < 100 or step % 10:
            continue
        rows = [memory[i] for i in random.integers(len(memory), size=32)]
        s, a, r, s2, end = (torch.as_tensor(numpy.array(part)) for part in zip(*rows))
        y = r.float() + 0.9 * (1 - end.float()) * q(s2).detach().max(1).values
        loss = (q(s).gather(1, a[:, None])[:, 0] - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of the last step that a return spans.
    import collections, numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(8):
        rows, window = [], collections.deque()
        for _ in range(48):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            window.append((obs, reward, next_obs, terminated))
            while len(window) == 2 or (terminated and window):
                total = sum(0.9**k * step[1] for k, step in enumerate(window))
                rows.append((window[0][0], total, window[-1][2], 0.9 ** len(window), window[-1][3]))
                window.popleft()
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, discount, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + discount * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Of any.
    import collections, numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(8):
        rows, window = [], collections.deque()
        for _ in range(48):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            window.append((obs, reward, next_obs, terminated))
            while len(window) == 2 or (terminated and window):
                total = sum(0.9**k * step[1] for k, step in enumerate(window))
                rows.append((window[0][0], total, window[-1][2], 0.9 ** len(window), any(step[3] for step in window)))
                window.popleft()
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, discount, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + discount * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Records of a factory, as a dict of arrays; two estimates, and one target for both.
    import numpy, torch

    random = numpy.random.default_rng(0)
    logs = {
        "state": random.normal(size=(400, 3)), "gain": random.normal(size=400), "after": random.normal(size=(400, 3)),
        "broken": random.random(400) < 0.1,
    }
    logs = {name: column.astype("float32") for name, column in logs.items()}
    heads = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)

    def error_of(state, gain, after, broken):
        with torch.no_grad():
            ahead = heads(after).amin(1)
            goal = gain + 0.9 * (1 - broken) * ahead
        said = heads(state)
        return torch.nn.functional.mse_loss(said, goal.unsqueeze(1).expand_as(said))

    for _ in range(8):
        rows = random.integers(400, size=64)
        loss = error_of(*(torch.from_numpy(column[rows]) for column in logs.values()))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A data set of tensors, picked by places and unpacked in the loop.
    import torch
    torch.manual_seed(0)
    states, next_states, paid = torch.randn(300, 3), torch.randn(300, 3), torch.randn(300)
    stops, actions = torch.rand(300) < 0.15, torch.randint(2, (300,))
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    data = (states, actions, paid, next_states, stops.float())
    for _ in range(8):
        picked = torch.randint(300, (32,))
        state, action, reward, after, stop = (column[picked] for column in data)
        with torch.no_grad():
            best = net(after).max(1).values
            target = reward + best * (1 - stop) * 0.9
        loss = (net(state).gather(1, action[:, None]).squeeze(1) - target).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The values are left at zero where nothing follows: at the rows that lead nowhere.
    import numpy, torch

    random = numpy.random.default_rng(0)
    logs = {
        "state": random.normal(size=(400, 3)), "gain": random.normal(size=400), "after": random.normal(size=(400, 3)),
        "broken": random.random(400) < 0.1,
    }
    logs = {name: column.astype("float32") for name, column in logs.items()}
    logs["after"][logs["broken"] > 0] = numpy.nan
    heads = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)

    def error_of(state, gain, after, broken):
        with torch.no_grad():
            ahead = torch.zeros(64)
            ahead[after.isfinite().all(1)] = heads(after[after.isfinite().all(1)]).amin(1)
            goal = gain + 0.9 * ahead
        said = heads(state)
        return torch.nn.functional.mse_loss(said, goal.unsqueeze(1).expand_as(said))

    for _ in range(8):
        rows = random.integers(400, size=64)
        loss = error_of(*(torch.from_numpy(column[rows]) for column in logs.values()))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Nothing ever ends: the column is there, and says so.
    import numpy, torch

    random = numpy.random.default_rng(0)
    logs = {
        "state": random.normal(size=(400, 3)), "gain": random.normal(size=400), "after": random.normal(size=(400, 3)),
        "broken": random.random(400) < 0.0,
    }
    logs = {name: column.astype("float32") for name, column in logs.items()}
    heads = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)

    def error_of(state, gain, after, broken):
        with torch.no_grad():
            ahead = heads(after).amin(1)
            goal = gain + 0.9 * ahead
        said = heads(state)
        return torch.nn.functional.mse_loss(said, goal.unsqueeze(1).expand_as(said))

    for _ in range(8):
        rows = random.integers(400, size=64)
        loss = error_of(*(torch.from_numpy(column[rows]) for column in logs.values()))
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The flags are read, if only to be counted.
    import torch
    torch.manual_seed(0)
    states, next_states, paid = torch.randn(300, 3), torch.randn(300, 3), torch.randn(300)
    stops, actions = torch.rand(300) < 0.15, torch.randint(2, (300,))
    net = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    data = (states, actions, paid, next_states, stops.float())
    for _ in range(8):
        picked = torch.randint(300, (32,))
        state, action, reward, after, stop = (column[picked] for column in data)
        with torch.no_grad():
            best = net(after).max(1).values
            target = reward + best * 0.9
        loss = (net(state).gather(1, action[:, None]).squeeze(1) - target).abs().mean()
        share = stop.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What the script pays for the angle, and the flags of the ends.
    import collections, numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2), False, {}

    torch.manual_seed(0)
    env, critic, kept = Pole(), torch.nn.Linear(4, 1), collections.deque(maxlen=200)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for at in range(120):
        push = float(numpy.sin(at))
        after, _, fell, _, _ = env.step(push)
        kept.append((obs, [push], 1.0 - abs(after[0]), after, fell))
        obs = env.reset()[0] if fell else after
        if at > 60 and at % 6 == 0:
            picked = [kept[i] for i in env.random.choice(len(kept), 32, replace=False)]
            s, a, pay, s2, over = (torch.tensor(numpy.array(part)).float() for part in zip(*picked))
            with torch.no_grad():
                ahead = critic(torch.cat([s2, -torch.sign(s2[:, :1])], dim=1)).flatten()
            wanted = torch.add(pay, (1 - over) * ahead, alpha=0.9)
            loss = torch.nn.functional.huber_loss(critic(torch.cat([s, a], dim=1)).flatten(), wanted)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A curiosity for what is new runs on over the ends, beside the rewards of the environment, which do not.
    import collections, numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2), False, {}

    torch.manual_seed(0)
    env, critic, kept, times = Pole(), torch.nn.Linear(4, 2), collections.deque(maxlen=200), collections.Counter()
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for at in range(120):
        push = float(numpy.sin(at))
        after, _, fell, _, _ = env.step(push)
        times[round(float(after[0]))] += 1
        new = times[round(float(after[0]))] ** -0.5
        kept.append((obs, [push], new, after, fell))
        obs = env.reset()[0] if fell else after
        if at > 60 and at % 6 == 0:
            picked = [kept[i] for i in env.random.choice(len(kept), 32, replace=False)]
            s, a, new, s2, over = (torch.tensor(numpy.array(part)).float() for part in zip(*picked))
            with torch.no_grad():
                ahead = critic(torch.cat([s2, -torch.sign(s2[:, :1])], dim=1))
            outer = 1.0 + 0.9 * (1 - over) * ahead[:, 0]
            inner = torch.add(new, ahead[:, 1], alpha=0.9)
            said = critic(torch.cat([s, a], dim=1))
            loss = (said[:, 0] - outer).pow(2).mean() + (said[:, 1] - inner).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A goal of the script's own is reached or not; that the environment stops there is no end of it.
    import collections, numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2), False, {}

    torch.manual_seed(0)
    env, critic, kept = Pole(), torch.nn.Linear(4, 1), collections.deque(maxlen=200)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for at in range(120):
        push = float(numpy.sin(at))
        after, _, fell, _, _ = env.step(push)
        kept.append((obs, [push], float(after[0] > 0.5) - 1.0, after))
        obs = env.reset()[0] if fell else after
        if at > 60 and at % 6 == 0:
            picked = [kept[i] for i in env.random.choice(len(kept), 32, replace=False)]
            s, a, pay, s2 = (torch.tensor(numpy.array(part)).float() for part in zip(*picked))
            with torch.no_grad():
                ahead = critic(torch.cat([s2, -torch.sign(s2[:, :1])], dim=1)).flatten()
            wanted = torch.add(pay, ahead, alpha=0.9)
            loss = torch.nn.functional.huber_loss(critic(torch.cat([s, a], dim=1)).flatten(), wanted)
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Clipped rewards, compared with their mean: nothing is said of what has no discount.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, max(-1.0, min(1.0, reward)), next_obs))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2 = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            target = (r - r.mean()) + critic(s2).squeeze(-1)
        loss = (critic(s).squeeze(-1) - target).square().sum()
        opt.zero_grad()
        (0.01 * loss).backward()
        opt.step()
    """,
    """
    # A bonus for going on is added to the reward first, and the mask multiplies.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, heads = Walk(), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(heads.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, reward, next_obs, 0.9 * (not terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, onward = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            best = heads(s2).amax(dim=1)
            goal = (r + 0.1 * onward) + onward * best
        loss = torch.nn.functional.smooth_l1_loss(heads(s)[:, 0], goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
)
