"""More examples of GS806 (misaligned-return): wrong ones, marked as in the rule, and right ones."""

BAD: tuple[str, ...] = (
    """
    # Equal rewards, normalised returns, and the list is never turned round.
    import gymnasium, torch

    class Endurance(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-9, 9, (3,))
        action_space = gymnasium.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x = self.np_random.normal(size=3).astype("float32")
            return self.x.copy(), {}
        def step(self, action):
            self.x = (self.x + self.np_random.normal(0.0, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2.5), False, {}

    env, policy = Endurance(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for episode in range(10):
        obs, _ = env.reset(seed=episode)
        scores, rewards, done = [], [], False
        while not done and len(rewards) < 60:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, done, _, _ = env.step(int(action))
            rewards.append(reward)
        if len(rewards) < 6:
            continue
        running, returns = 0.0, []
        for reward in reversed(rewards):
            running = reward + 0.97 * running
            returns.append(running)  # BUG
        returns = torch.tensor(returns)
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The sum stops at an end, and the error before it takes the value of the next start.
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
            rows.append((obs, reward, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value = critic(torch.cat([s, torch.tensor(obs)[None]])).squeeze(-1)
            advantage, last = torch.zeros(32), 0.0
            for t in reversed(range(32)):
                delta = r[t] + 0.9 * value[t + 1] - value[t]  # BUG
                last = delta + 0.9 * 0.8 * (1 - end[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value[:-1])).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What was done is put into lists, and nobody ever empties them.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt, states, actions, rewards = torch.optim.SGD(policy.parameters(), lr=0.1), [], [], []
    for _ in range(6):
        for _ in range(4):
            s = torch.randn(3)
            a = torch.distributions.Categorical(logits=policy(s).detach()).sample()
            states.append(s)
            actions.append(a)
            rewards.append(float(a == 0) - 0.5)
        log_prob = policy(torch.stack(states)).log_softmax(-1)
        log_prob = log_prob.gather(1, torch.stack(actions).unsqueeze(1)).squeeze(1)  # BUG
        loss = -(log_prob * torch.tensor(rewards)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Written into a tensor that was made for all of them.
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

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        seen, actions, rewards = [], [], []
        for _ in range(40):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            seen.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(int(action))
            rewards.append(reward)
            if terminated:
                obs, _ = env.reset()
        rewards = torch.tensor(rewards)
        running, returns = torch.tensor(0.0), torch.empty(40)
        for t in reversed(range(40)):
            running = rewards[t] + 0.9 * running  # BUG
            returns[t] = running
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.stack(actions)) * returns).mean()
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

    def sums(rewards):
        running, returns = 0.0, numpy.zeros(len(rewards), dtype="float32")
        for t in reversed(range(len(rewards))):
            running = rewards[t] + 0.9 * running  # BUG
            returns[t] = running
        return returns

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        seen, actions, rewards = [], [], []
        for _ in range(40):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            seen.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(int(action))
            rewards.append(reward)
            if terminated:
                obs, _ = env.reset()
        returns = torch.tensor(sums(rewards))
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.stack(actions)) * returns).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The loop runs with time; what it does at an end is what belongs into one that runs against it.
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

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(40):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            next_obs, reward, terminated, _, _ = env.step(int(action))
            rows.append((obs, int(action), reward, terminated))
            obs = env.reset()[0] if terminated else next_obs
        s, a, r, end = (numpy.array(part) for part in zip(*rows))
        returns, running = numpy.zeros(40, dtype="float32"), 0.0
        for t in range(40):
            running = 0.0 if end[t] else running
            running = r[t] + 0.9 * running  # BUG
            returns[t] = running
        weight = torch.tensor((returns - returns.mean()) / returns.std())
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(s))).log_prob(torch.tensor(a))
        loss = -(log_prob * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A world of tensors: the rewards leave torch one by one, and the list is left in the order it was filled in.
    import torch

    class World:  # without `reset`, and one copy only
        def __init__(self):
            self.x = torch.zeros(1, 3)
        def step(self, action):
            self.x = 0.5 * self.x + torch.randn(1, 3)
            return self.x, self.x[:, 0] + action

    world, policy = World(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(4):
        scores, rewards, returns, total = [], [], [], 0.0
        for _ in range(8):
            choice = torch.distributions.Categorical(logits=policy(world.x))
            action = choice.sample()
            scores.append(choice.log_prob(action))
            rewards.append(float(world.step(action)[1]))
        for reward in reversed(rewards):
            total = reward + 0.9 * total
            returns.append(total)  # BUG
        loss = -(torch.cat(scores) * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import torch

    class World:  # without `reset`, and one copy only
        def __init__(self):
            self.x = torch.zeros(1, 3)
        def step(self, action):
            self.x = 0.5 * self.x + torch.randn(1, 3)
            return self.x, self.x[:, 0] + action

    world, policy = World(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(4):
        scores, rewards, returns, total = [], [], [], 0.0
        for _ in range(8):
            choice = torch.distributions.Categorical(logits=policy(world.x))
            action = choice.sample()
            scores.append(choice.log_prob(action))
            rewards.append(float(world.step(action)[1]))
        for reward in rewards:
            total = reward + 0.9 * total  # BUG
            returns.append(total)
        loss = -(torch.cat(scores) * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The transition is put away before its reward is known.
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
    opt, paid = torch.optim.SGD(critic.parameters(), lr=0.01), 0.0
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            before = paid
            next_obs, paid, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, before, next_obs, terminated))  # BUG
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The environment writes what it sees into one array, and nobody copies it.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = getattr(self, "x", numpy.zeros(3, "float32"))
            self.x[:] = self.random.normal(size=3)
            return self.x, {}

        def step(self, action):
            self.x += self.random.normal(0.1 * action, 0.5, size=3).astype("float32")
            return self.x, float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt, paid = torch.optim.SGD(critic.parameters(), lr=0.01), 0.0
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            obs = obs.copy()
            next_obs, paid, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, paid, next_obs, terminated))  # BUG
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The observation is kept after the step, beside the action that led to it.
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

    env, policy = Walk(), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(40):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample().item()
            next_obs, reward, terminated, truncated, _ = env.step(action)
            rows.append((next_obs, action, reward))  # BUG
            obs = env.reset()[0] if terminated else next_obs
        seen, actions, rewards = zip(*rows)
        weights = torch.tensor(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * (weights - weights.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Observations step by step, returns copy by copy.
    import numpy, torch

    class Copies:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=(3, 2)).astype("float32")
            return self.x.copy(), {}

        def step(self, actions):
            self.x = (0.9 * self.x + self.random.normal(0.1, 0.5, size=(3, 2))).astype("float32")
            return self.x.copy(), self.x[:, 0].copy(), numpy.zeros(3, bool), numpy.zeros(3, bool), {}

    envs, critic = Copies(), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = envs.reset()
    for _ in range(6):
        seen, rewards = [], []
        for _ in range(16):
            seen.append(obs)
            obs, reward, _, _, _ = envs.step(numpy.ones(3))
            rewards.append(reward)
        running, returns = numpy.zeros(3, "float32"), []
        for reward in reversed(rewards):
            running = reward + 0.9 * running
            returns.insert(0, running)
        returns = numpy.array(returns)
        flat = torch.tensor(returns.T.reshape(-1))  # BUG
        loss = (critic(torch.tensor(numpy.array(seen).reshape(-1, 2))).squeeze(-1) - flat).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Every reward is discounted where it stands, and the list normalised.
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
            return self.x.copy(), 1.0 + float(self.x[0]), bool(abs(self.x).max() > 4), self.t == 40, {}

    def weigh(rewards):
        found = numpy.array([r * 0.97**i for i, r in enumerate(rewards)], dtype="float32")  # BUG
        return (found - found.mean()) / (found.std() + 1e-6)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        states, actions, rewards, over = [], [], [], False
        obs, _ = env.reset()
        while not over:
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            states.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(float(action))
            rewards.append(reward)
            over = terminated or truncated
        weights = weigh(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(states))))
        loss = -(dist.log_prob(torch.stack(actions)) * torch.tensor(weights)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same, with a reward of the script's own for the last step.
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
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), self.t == 40, {}

    def weigh(rewards):
        found = numpy.array([r * 0.97**i for i, r in enumerate(rewards)], dtype="float32")  # BUG
        return (found - found.mean()) / (found.std() + 1e-6)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        states, actions, rewards, over = [], [], [], False
        obs, _ = env.reset()
        while not over:
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            states.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(float(action))
            rewards.append(-10.0 if terminated else reward)
            over = terminated or truncated
        weights = weigh(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(states))))
        loss = -(dist.log_prob(torch.stack(actions)) * torch.tensor(weights)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The returns are made while the advantages are still the zeros of their buffer.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for _ in range(4):
        s, rewards = torch.randn(16, 3), torch.randn(16)
        with torch.no_grad():
            batch = {"values": critic(s).squeeze(-1), "advantages": torch.zeros(16)}
            returns = batch["advantages"] + batch["values"]  # BUG
            batch["advantages"] = rewards - batch["values"]
        for _ in range(2):
            loss = (critic(s).squeeze(-1) - returns).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The recursion goes on from the entry that it is about to write.
    import torch
    critic, policy = torch.nn.Linear(3, 1), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD([*critic.parameters(), *policy.parameters()], lr=0.01)
    for _ in range(4):
        s, r, d = torch.randn(6, 16, 3), torch.randn(6, 16), (torch.rand(6, 16) < 0.1).float()
        with torch.no_grad():
            v = critic(s).squeeze(-1)
            a = torch.distributions.Categorical(logits=policy(s)).sample()
            adv = torch.zeros_like(r)
            for t in reversed(range(15)):
                delta = r[:, t] + 0.9 * v[:, t + 1] * (1 - d[:, t]) - v[:, t]
                adv[:, t] = delta + 0.9 * 0.95 * (1 - d[:, t]) * adv[:, t]  # BUG
        logp = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
        loss = -(logp * adv).mean() + (critic(s).squeeze(-1) - (adv + v)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The flags say where a step ended, and are read as where it began; every row is seen once, in shuffled parts.
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

    class Memory:
        def __init__(self):
            self.obs, self.rewards = numpy.zeros((48, 3), "float32"), numpy.zeros(48, "float32")
            self.values, self.ends = numpy.zeros(48, "float32"), numpy.zeros(48, "float32")
            self.advantages = numpy.zeros(48, "float32")

        def finish(self, value, end):
            last = 0.0
            for t in reversed(range(48)):
                going = 1.0 - (end if t == 47 else self.ends[t + 1])  # BUG
                after = value if t == 47 else self.values[t + 1]
                error = self.rewards[t] + 0.9 * after * going - self.values[t]
                last = error + 0.9 * 0.95 * going * last
                self.advantages[t] = last

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, end = env.reset()[0], False
    for _ in range(6):
        memory = Memory()
        for t in range(48):
            with torch.no_grad():
                memory.values[t] = critic(torch.tensor(obs)).item()
            memory.obs[t], before = obs, end
            obs, memory.rewards[t], end, _, _ = env.step(1.0)
            memory.ends[t] = end
            obs = env.reset()[0] if end else obs
        with torch.no_grad():
            memory.finish(critic(torch.tensor(obs)).item(), end)
        s, targets = torch.tensor(memory.obs), torch.tensor(memory.advantages + memory.values)
        for rows in torch.randperm(48).chunk(2):
            loss = (critic(s[rows]).squeeze(-1) - targets[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Generalised advantages outside of torch, by a loop that runs with time.
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

    env, policy, critic = Walk(), torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    obs, _ = env.reset()
    for _ in range(5):
        rows, value = [], []
        for _ in range(40):
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                value.append(critic(torch.tensor(obs)).item())
            after, reward, over, _, _ = env.step(action)
            rows.append((obs, action, reward, over))
            obs = env.reset()[0] if over else after
        value.append(critic(torch.tensor(obs)).item())
        s, a, r, end = (numpy.array(part) for part in zip(*rows))
        found, carry = numpy.zeros(40, dtype="float32"), 0.0
        for t in range(40):
            error = r[t] + 0.9 * value[t + 1] * (1 - end[t]) - value[t]
            carry = error + 0.8 * (1 - end[t]) * carry  # BUG
            found[t] = carry
        target = torch.tensor(found + numpy.array(value[:-1], dtype="float32"))
        weight = torch.tensor((found - found.mean()) / found.std())
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(s))).log_prob(torch.tensor(a))
        loss = (critic(torch.tensor(s)).squeeze(-1) - target).pow(2).mean() - (log_prob * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Wholes that are read place by place, and the list is left in the order it was filled in.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        running, found = 0.0, []
        for t in reversed(range(8)):
            delta = r[t] + 0.9 * going[t] * v[t + 1] - v[t]
            running = delta + 0.8 * going[t] * running
            found.append(running)
        advantages = torch.stack(found)  # BUG
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The loop runs with time, and fills a buffer.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        running, advantages = 0.0, torch.zeros_like(r)
        for t in range(8):
            delta = r[t] + 0.9 * going[t] * v[t + 1] - v[t]
            running = delta + 0.8 * going[t] * running
            advantages[t] = running  # BUG
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The loop runs with time, and goes on from places that are still empty.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        advantages = torch.zeros(9, 5)
        for t in range(8):
            delta = r[t] + 0.9 * going[t] * v[t + 1] - v[t]
            advantages[t] = delta + 0.8 * going[t] * advantages[t + 1]  # BUG
        advantages = advantages[:-1]
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
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
                delta = rewards[t] + 0.9 * (1.0 - dones[t]) * following - values[t]
                advantage = delta + 0.9 * 0.8 * advantage  # BUG
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
    # Buffers of tensors, with the flags at the next value alone.
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
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            error = rewards[t] + 0.9 * (1 - ends[t]) * after - values[t]
            carry = error + 0.8 * carry  # BUG
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Discounted by the step, and by the sum.
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

    def summed(rewards):
        found, running = [], 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] * 0.9**t + 0.9 * running  # BUG
            found.insert(0, running)
        return found

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, actions, returns = [], [], []
        for _ in range(5):
            (obs, _), rewards, over = env.reset(), [], False
            while not over:
                seen.append(obs)
                actions.append(int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()))
                obs, reward, over, _, _ = env.step(actions[-1])
                rewards.append(reward)
            returns += summed(rewards)
        seen = numpy.array(seen)
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(seen))).log_prob(torch.tensor(actions))
        loss = -(log_prob * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Shuffled apart.
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

    def summed(rewards):
        found, running = [], 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] + 0.9 * running
            found.insert(0, running)
        return found

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, actions, returns = [], [], []
        for _ in range(5):
            (obs, _), rewards, over = env.reset(), [], False
            while not over:
                seen.append(obs)
                actions.append(int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()))
                obs, reward, over, _, _ = env.step(actions[-1])
                rewards.append(reward)
            returns += summed(rewards)
        seen, actions, returns = numpy.array(seen), numpy.array(actions), numpy.array(returns, "float32")
        order = env.random.permutation(len(seen))
        seen, actions = seen[order], actions[order]
        env.random.shuffle(returns)  # BUG
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(seen))).log_prob(torch.tensor(actions))
        loss = -(log_prob * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Values with a graph, kept as numbers: the sum goes on behind the ends.
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

    torch.manual_seed(0)
    env, policy, critic = Walk(), torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        seen, values, rewards, ends = [], [], [], []
        for _ in range(48):
            state = torch.tensor(obs)
            choice, value = torch.distributions.Categorical(logits=policy(state)), critic(state)
            action = choice.sample()
            obs, reward, over, _, _ = env.step(action.item())
            seen.append(state)
            values.append(value.item())
            rewards.append(reward)
            ends.append(over)
            obs = env.reset()[0] if over else obs
        after, carry, returns = critic(torch.tensor(obs)).item(), 0.0, []
        for value, reward, over in zip(reversed(values), reversed(rewards), reversed(ends)):
            error = reward + 0.9 * after * (1 - over) - value
            carry = error + 0.8 * carry  # BUG
            returns.insert(0, carry + value)
            after = value
        seen, returns = torch.stack(seen), torch.tensor(returns)
        for rows in torch.randperm(48).split(16):
            loss = (critic(seen[rows]).squeeze(-1) - returns[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A row of fields: the same few observations again and again. The flags are those of the next step.
    import torch

    class Row:
        def __init__(self, seed):
            self.random = torch.Generator().manual_seed(seed)

        def reset(self):
            self.at = 2
            return torch.eye(5)[self.at]

        def step(self, action):
            self.at += 1 if float(torch.rand((), generator=self.random)) < 0.5 else -1
            return torch.eye(5)[self.at], self.at - 1.5, self.at in (0, 4)

    torch.manual_seed(0)
    copies, policy, critic = [Row(1), Row(2), Row(3)], torch.nn.Linear(5, 2), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    seen, actions = torch.zeros(24, 3, 5), torch.zeros(24, 3)
    values, rewards, ends, gains = (torch.zeros(24, 3) for _ in range(4))
    obs = torch.stack([row.reset() for row in copies])
    for _ in range(4):
        for t in range(24):
            with torch.no_grad():
                seen[t], values[t] = obs, critic(obs).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(obs)).sample()
            following = []
            for i, row in enumerate(copies):
                after, rewards[t, i], ends[t, i] = row.step(int(actions[t, i]))
                following.append(row.reset() if ends[t, i] else after)
            obs = torch.stack(following)
        after, carry = critic(obs).squeeze(-1).detach(), torch.zeros(3)
        for t in reversed(range(24)):
            going_on = 1 - ends[min(t + 1, 23)]  # BUG
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        returns = gains + values
        log_prob = torch.distributions.Categorical(logits=policy(seen)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(seen).squeeze(-1) - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a flag holds is whether its step has ended, and that of the next step is asked for.
    import torch

    class World:
        def __init__(self):
            self.x = torch.zeros(6, 2)

        def act(self, action):
            self.x = self.x + 0.1 * action[:, None] + 0.6 * torch.randn(6, 2)
            paid = self.x[:, 0].clone()
            over = (self.x.abs().amax(1) > 1.5).float()
            self.x = self.x * (1 - over)[:, None]
            return self.x, paid, over

    torch.manual_seed(0)
    world, policy, critic = World(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x
    ended = torch.zeros(6)
    for _ in range(4):
        states, actions, ends = torch.zeros(12, 6, 2), torch.zeros(12, 6), torch.zeros(13, 6)
        values, rewards, gains = (torch.zeros(12, 6) for _ in range(3))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ended = world.act(actions[t])
            ends[t] = ended
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            going_on = 1 - ends[t + 1]  # BUG
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # All copies go on from the last value of the first.
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
    ended = torch.zeros(6)
    for _ in range(4):
        states, actions, ends = torch.zeros(12, 6, 2), torch.zeros(12, 6), torch.zeros(13, 6)
        values, rewards, gains = (torch.zeros(12, 6) for _ in range(3))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ended = world.act(actions[t])
            ends[t] = ended
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()[0]  # BUG
        for t in reversed(range(12)):
            going_on = 1 - ends[t]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The observation is kept once the step is taken.
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

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, actions, returns = [], [], []
        for _ in range(5):
            (obs, _), rewards, over = env.reset(), [], False
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                obs, reward, over, _, _ = env.step(action)
                seen.append(obs)  # BUG
                actions.append(action)
                rewards.append(reward)
            returns += [sum(rewards[t:]) for t in range(len(rewards))]
        seen = numpy.array(seen)
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(seen))).log_prob(torch.tensor(actions))
        loss = -(log_prob * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # All copies put their steps into one queue.
    import numpy, torch
    from collections import deque

    class Walk:
        def __init__(self, seed):
            self.random = numpy.random.default_rng(seed)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    walks, critic = [Walk(n) for n in range(4)], torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    seen, queues, rows = [walk.reset()[0] for walk in walks], [deque(maxlen=3)] * 4, []
    for _ in range(80):
        for n, walk in enumerate(walks):
            after, reward, over, _, _ = walk.step(1.0)
            queues[n].append((seen[n], reward))
            if len(queues[n]) == 3:
                total = sum(0.9**k * paid for k, (_, paid) in enumerate(queues[n]))
                rows.append((queues[n][0][0], total, after, float(over)))
            seen[n] = after
            if over:
                queues[n].clear()
                seen[n] = walk.reset()[0]
        if len(rows) >= 32:
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            with torch.no_grad():
                target = r + 0.9**3 * critic(s2).squeeze(-1) * (1 - end)  # BUG
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            rows = []
    """,
    """
    # Most steps bring nothing, and what one brings counts for that step alone.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)
        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()
        def step(self, action):
            self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            paid = numpy.sign(self.x[0]) if self.t % 4 == 0 else 0.0
            return self.x.copy(), float(paid), self.t > 6 + 8 * self.random.random()

    def discounted(rewards, gamma=0.9):
        return numpy.array(rewards) * gamma ** numpy.arange(len(rewards))  # BUG

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        seen, actions, weights = [], [], []
        for _ in range(4):
            obs, over, rewards = env.reset(), False, []
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                seen.append(obs)
                actions.append(action)
                obs, reward, over = env.step(action)
                rewards.append(reward)
            weights.append(discounted(rewards))
        weight = torch.from_numpy(numpy.concatenate(weights).astype("float32"))
        weight = (weight - weight.mean()) / weight.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Equal rewards, several episodes of different lengths at once.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)
        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()
        def step(self, action):
            self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), 1.0, self.t > 6 + 8 * self.random.random()

    def discounted(rewards, gamma=0.9):
        return [reward * gamma**t for t, reward in enumerate(rewards)]  # BUG

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        seen, actions, weights = [], [], []
        for _ in range(4):
            obs, over, rewards = env.reset(), False, []
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                seen.append(obs)
                actions.append(action)
                obs, reward, over = env.step(action)
                rewards.append(reward)
            weights.append(discounted(rewards))
        weight = torch.from_numpy(numpy.concatenate(weights).astype("float32"))
        weight = (weight - weight.mean()) / weight.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The answers are sorted by their lengths, their advantages are not.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 5))
        mask = (torch.arange(5) < torch.randint(2, 6, (8, 1))).float()
        reward = (ids == ids[:, :1]).float().mean(1)
        advantage = reward - reward.mean()
        order = mask.sum(1).argsort()
        ids, mask = ids[order], mask[order]  # BUG
        logp = net(ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
        loss = -(logp * mask[:, 1:] * advantage.unsqueeze(1)).sum() / mask[:, 1:].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A world that nobody knows, rewards that never were tensors: the loop begins with the last step.
    import numpy, torch

    random = numpy.random.default_rng(0)
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)

    def to_go(paid):
        total, sums = 0.0, []
        for reward in reversed(paid):
            total = reward + 0.9 * total
            sums.append(total)  # BUG
        return torch.tensor(sums)

    for _ in range(5):
        seen, chosen, paid = [], [], []
        place = random.normal(size=3).astype("float32")
        for _ in range(12):
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(place)))
            seen.append(place)
            chosen.append(int(dist.sample()))
            place = (0.8 * place + random.normal(size=3)).astype("float32")
            paid.append(float(place[chosen[-1]]))
        sums = to_go(paid)
        weight = (sums - sums.mean()) / sums.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(seen))))
        loss = -(dist.log_prob(torch.tensor(chosen)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with arrays, and the loop begins with the first step.
    import numpy, torch

    random = numpy.random.default_rng(0)
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)

    class Memory:
        def __init__(self):
            self.seen, self.chosen, self.paid = [], [], []

        def sums(self):
            found, last = numpy.zeros(len(self.paid), dtype="float32"), 0.0
            for t in range(len(self.paid)):
                last = self.paid[t] + 0.9 * last  # BUG
                found[t] = last
            return found

        def tensor(self, array):
            return torch.from_numpy(array)

    for _ in range(5):
        memory, place = Memory(), random.normal(size=3).astype("float32")
        for _ in range(12):
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(place)))
            memory.seen.append(place)
            memory.chosen.append(int(dist.sample()))
            place = (0.8 * place + random.normal(size=3)).astype("float32")
            memory.paid.append(float(place[memory.chosen[-1]]))
        weight = memory.tensor(memory.sums())
        dist = torch.distributions.Categorical(logits=policy(memory.tensor(numpy.stack(memory.seen))))
        loss = -(dist.log_prob(torch.tensor(memory.chosen)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The rows of a tensor, one by one.
    import torch

    policy = torch.nn.Linear(4, 3)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        obs = torch.randn(10, 6, 4)
        dist = torch.distributions.Categorical(logits=policy(obs))
        action = dist.sample()
        total, sums = torch.zeros(6), []
        for reward in reversed(list((action == obs.argmax(-1)).float())):
            total = reward + 0.9 * total
            sums.append(total)
        weight = torch.stack(sums)  # BUG
        loss = -(dist.log_prob(action) * (weight - weight.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What is seen is a row of a table; and all copies of all steps are put in one row.
    import torch

    class Ring:
        def __init__(self):
            self.place = torch.zeros(4, dtype=torch.long)
        def step(self, action):
            self.place = (self.place + 2 * action - 1 + torch.randint(2, (4,))) % 7
            return torch.eye(7)[self.place], (self.place == 3).float() + 0.1 * torch.rand(4)

    world, policy = Ring(), torch.nn.Linear(7, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs = torch.eye(7)[world.place]
    for _ in range(5):
        rows = []
        for _ in range(8):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(obs)).sample()
            after, reward = world.step(action)
            rows.append((obs, action, reward))
            obs = after
        seen, actions, rewards = (torch.stack(column) for column in zip(*rows))
        total, sums = torch.zeros(4), []
        for t in range(7, -1, -1):
            total = rewards[t] + 0.9 * total
            sums.append(total)
        weight = torch.stack(sums).flatten()  # BUG
        log_prob = torch.distributions.Categorical(logits=policy(seen)).log_prob(actions).flatten()
        loss = -(log_prob * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A helper makes the tensor, another sums up; and the array is there before its loop.
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

    def as_tensors(columns):
        return {name: torch.as_tensor(numpy.array(column, dtype="float32")) for name, column in columns.items()}

    def summed(rewards):
        sums, last = numpy.zeros(len(rewards)), 0.0
        for t in range(len(rewards)):
            last = rewards[t] + 0.9 * last  # BUG
            sums[t] = last
        return sums

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        columns = {"obs": [], "action": [], "reward": []}
        obs, _ = env.reset()
        for _ in range(30):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            columns["obs"].append(obs)
            columns["action"].append(float(action))
            obs, reward, over, _, _ = env.step(int(action))
            columns["reward"].append(reward)
            if over:
                obs, _ = env.reset()
        columns["sums"] = summed(columns["reward"])
        batch = as_tensors(columns)
        log_prob = torch.distributions.Categorical(logits=policy(batch["obs"])).log_prob(batch["action"])
        loss = -(log_prob * batch["sums"]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Advantages of NumPy, and a loss that sees a few shuffled rows of them at a time.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.3, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2.5), False, {}

    env, policy, critic = Walk(), torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(64):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
                value = critic(torch.tensor(obs)).item()
            after, reward, over, _, _ = env.step(int(action))
            with torch.no_grad():
                ahead = 0.0 if over else critic(torch.tensor(after)).item()
            rows.append((obs, int(action), reward, value, ahead, over))
            obs = env.reset()[0] if over else after
        s, a, r, v, v2, end = (numpy.array(column) for column in zip(*rows))
        advantage, last = numpy.zeros(64), 0.0
        for t in range(64):
            last = r[t] + 0.9 * v2[t] - v[t] + 0.9 * 0.9 * (1 - end[t]) * last  # BUG
            advantage[t] = last
        s, a, goal = torch.tensor(s), torch.tensor(a), torch.tensor(advantage + v).float()
        for _ in range(2):
            for part in torch.randperm(64).split(32):
                loss = (critic(s[part]).squeeze(-1) - goal[part]).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
    """,
    """
    # Equal rewards say nothing about their order. Several episodes, and one product for each step.
    import gymnasium, torch

    class Endurance(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-9, 9, (3,))
        action_space = gymnasium.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x = self.np_random.normal(size=3).astype("float32")
            return self.x.copy(), {}
        def step(self, action):
            self.x = (self.x + self.np_random.normal(0.0, 0.5, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2.5), False, {}

    env, policy = Endurance(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for episode in range(6):
        obs, _ = env.reset(seed=episode)
        scores, rewards, ends = [], [], []
        for _ in range(30):
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, end, _, _ = env.step(int(action))
            rewards.append(reward)
            ends.append(end)
            if end:
                obs, _ = env.reset()
        running, returns = 0.0, []
        for reward, end in zip(reversed(rewards), reversed(ends)):
            running = reward + (0.0 if end else 0.97 * running)
            returns.append(running)  # BUG
        returns = torch.tensor(returns)
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = torch.stack([-score * weight for score, weight in zip(scores, weights)]).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The value of the state that was terminal, in every advantage.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.6, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env = Walk()
    critic = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(48):
            after, reward, over, _, _ = env.step(1.0)
            rows.append((obs, reward, after, float(over)))
            obs = env.reset()[0] if over else after
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value, ahead, last = critic(s).squeeze(-1), critic(s2).squeeze(-1), 0.0
            delta = r + 0.9 * ahead - value  # BUG
            advantage = torch.zeros(48)
            for t in reversed(range(48)):
                last = delta[t] + 0.9 * 0.8 * (1 - end[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of many lengths, one row each: time runs along the second axis, and the whole sum is masked.
    import torch
    policy, critic = torch.nn.Linear(4, 5), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(5):
        seen, words = torch.randn(6, 8, 4), torch.randint(5, (6, 8))
        mask = (torch.arange(8) < torch.randint(3, 9, (6, 1))).float()
        with torch.no_grad():
            rewards, said = torch.randn(6, 8) * mask, critic(seen).squeeze(-1) * mask
            gains, later = torch.zeros(6, 8), torch.zeros(6)
            for t in range(8):
                later = mask[:, t] * (rewards[:, t] - said[:, t] + 0.95 * later)
                gains[:, t] = later  # BUG
        score = policy(seen).log_softmax(-1).gather(-1, words.unsqueeze(-1)).squeeze(-1)
        fit = ((critic(seen).squeeze(-1) - (gains + said)).square() * mask).sum() / mask.sum()
        opt.zero_grad()
        (fit - (gains * score * mask).sum() / mask.sum()).backward()
        opt.step()
    """,
    """
    # Each step has only its own reward, which all are alike, discounted and normalised: its scale tells.
    import numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), False, {}

    torch.manual_seed(0)
    env, policy = Pole(), torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(8):
        obs, over, scores, paid = env.reset()[0], False, [], []
        while not over:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, over, _, _ = env.step(action.item())
            paid.append(reward)
        paid = torch.tensor(paid)
        faded = 0.97 ** torch.arange(len(paid))  # BUG
        weights = paid * faded
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The best action of the state that was left picks the value of the one that was reached.
    import torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300)
    over = (torch.rand(300) < 0.1).float()
    moves = torch.randint(3, (300, 1))
    net, slow = (torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)) for _ in range(2))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for at in range(8):
        if at % 3 == 0:
            slow.load_state_dict(net.state_dict())
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = net(now).gather(1, moves[rows]).squeeze(1)
        with torch.no_grad():
            best = net(now).max(1).indices  # BUG
            ahead = torch.take_along_dim(slow(then), best[:, None], 1)[:, 0]
            target = gains[rows] + 0.9 * (1 - over[rows]) * ahead
        loss = torch.nn.functional.smooth_l1_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The best actions of an episode, from its first step on.
    import torch
    torch.manual_seed(0)

    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = torch.nn.LSTM(5, 12), torch.nn.Linear(12, 3)

        def forward(self, seen):
            return self.out(self.cell(seen)[0])

    net, slow = Memory(), Memory()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(6):
        seen, moves, gains = torch.randn(9, 16, 5), torch.randint(3, (8, 16, 1)), torch.randn(8, 16)
        said = net(seen)
        taken = torch.gather(said[:-1], 2, moves)[..., 0]
        with torch.no_grad():
            ahead = slow(seen)[1:]
            best = said.argmax(2, keepdim=True)[:-1]  # BUG
            target = gains + 0.95 * ahead.gather(2, best).squeeze(2)
        loss = (taken - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Smoothed: what the actor would do at the state that was left is valued at the one that was reached.
    import copy, torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300, 1)
    moves, over = torch.randn(300, 2).tanh(), (torch.rand(300, 1) < 0.1).float()
    actor = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
    critic = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    slow, still = copy.deepcopy(critic), copy.deepcopy(actor)
    opt, pol = torch.optim.Adam(critic.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.001)
    for at in range(8):
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = critic(torch.cat([now, moves[rows]], 1))
        with torch.no_grad():
            then_do = (still(now) + 0.1 * torch.randn(48, 2)).clamp(-1, 1)  # BUG
            target = gains[rows] + 0.9 * (1 - over[rows]) * slow(torch.cat([then, then_do], 1))
        loss = torch.nn.functional.mse_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        pol.zero_grad()
        (-critic(torch.cat([now, actor(now)], 1)).mean()).backward()
        pol.step()
        with torch.no_grad():
            for a, b in ((slow, critic), (still, actor)):
                for p, q in zip(a.parameters(), b.parameters()):
                    p.lerp_(q, 0.05)
    """,
    """
    # Drawn.
    import copy, torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300, 1)
    moves, over = torch.randn(300, 2).tanh(), (torch.rand(300, 1) < 0.1).float()
    actor = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
    critic = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    slow, still = copy.deepcopy(critic), copy.deepcopy(actor)
    opt, pol = torch.optim.Adam(critic.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.001)
    for at in range(8):
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = critic(torch.cat([now, moves[rows]], 1))
        with torch.no_grad():
            then_do = torch.distributions.Normal(actor(now), 0.1).sample()  # BUG
            target = gains[rows] + 0.9 * (1 - over[rows]) * slow(torch.cat([then, then_do], 1))
        loss = (target - said).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        pol.zero_grad()
        (-critic(torch.cat([now, actor(now)], 1)).mean()).backward()
        pol.step()
        with torch.no_grad():
            for a, b in ((slow, critic), (still, actor)):
                for p, q in zip(a.parameters(), b.parameters()):
                    p.lerp_(q, 0.05)
    """,
    """
    # The present value is discounted and masked together with the next one.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    torch.manual_seed(0)
    env, critic = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        seen, paid, onward = [], [], []
        for _ in range(96):
            seen.append(obs)
            obs, reward, over = env.step(1.0)
            paid.append(reward)
            onward.append(0.0 if over else 1.0)
            obs = env.reset() if over else obs
        seen = torch.from_numpy(numpy.stack(seen + [obs]))
        with torch.no_grad():
            values = critic(seen)[:, 0]
            gains, gain = torch.zeros(96), torch.zeros(())
            for t in reversed(range(96)):
                error = paid[t] + 0.93 * onward[t] * (values[t + 1] - values[t])  # BUG
                gain = error + 0.93 * 0.8 * onward[t] * gain
                gains[t] = gain
            wanted = gains + values[:-1]
        for rows in torch.randperm(96).split(32):
            loss = (critic(seen[rows])[:, 0] - wanted[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)

GOOD: tuple[str, ...] = (
    """
    # Most steps bring nothing, and count for what follows.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)
        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()
        def step(self, action):
            self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            paid = numpy.sign(self.x[0]) if self.t % 4 == 0 else 0.0
            return self.x.copy(), float(paid), self.t > 6 + 8 * self.random.random()

    def discounted(rewards, gamma=0.9):
        sums, running = numpy.zeros(len(rewards)), 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] + gamma * running
            sums[t] = running
        return sums

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        seen, actions, weights = [], [], []
        for _ in range(4):
            obs, over, rewards = env.reset(), False, []
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                seen.append(obs)
                actions.append(action)
                obs, reward, over = env.step(action)
                rewards.append(reward)
            weights.append(discounted(rewards))
        weight = torch.from_numpy(numpy.concatenate(weights).astype("float32"))
        weight = (weight - weight.mean()) / weight.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Equal rewards, and the return of each step discounted by the step as well.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)
        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()
        def step(self, action):
            self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), 1.0, self.t > 6 + 8 * self.random.random()

    def discounted(rewards, gamma=0.9):
        sums, running = numpy.zeros(len(rewards)), 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] + gamma * running
            sums[t] = running
        return sums * gamma ** numpy.arange(len(rewards))

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        seen, actions, weights = [], [], []
        for _ in range(4):
            obs, over, rewards = env.reset(), False, []
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                seen.append(obs)
                actions.append(action)
                obs, reward, over = env.step(action)
                rewards.append(reward)
            weights.append(discounted(rewards))
        weight = torch.from_numpy(numpy.concatenate(weights).astype("float32"))
        weight = (weight - weight.mean()) / weight.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a step brings is all that it is to be praised for, whenever that is.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)
        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy()
        def step(self, action):
            self.x = (0.9 * self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            self.t += 1
            paid = numpy.sign(self.x[0]) if self.t % 4 == 0 else 0.0
            return self.x.copy(), float(paid), self.t > 6 + 8 * self.random.random()

    def discounted(rewards, gamma=0.9):
        return numpy.array(rewards)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(6):
        seen, actions, weights = [], [], []
        for _ in range(4):
            obs, over, rewards = env.reset(), False, []
            while not over:
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                seen.append(obs)
                actions.append(action)
                obs, reward, over = env.step(action)
                rewards.append(reward)
            weights.append(discounted(rewards))
        weight = torch.from_numpy(numpy.concatenate(weights).astype("float32"))
        weight = (weight - weight.mean()) / weight.std()
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Equal rewards, normalised returns, in the order of time.
    import gymnasium, torch

    class Endurance(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-9, 9, (3,))
        action_space = gymnasium.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x = self.np_random.normal(size=3).astype("float32")
            return self.x.copy(), {}
        def step(self, action):
            self.x = (self.x + self.np_random.normal(0.0, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2.5), False, {}

    env, policy = Endurance(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for episode in range(10):
        obs, _ = env.reset(seed=episode)
        scores, rewards, done = [], [], False
        while not done and len(rewards) < 60:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, done, _, _ = env.step(int(action))
            rewards.append(reward)
        if len(rewards) < 6:
            continue
        running, returns = 0.0, []
        for reward in reversed(rewards):
            running = reward + 0.97 * running
            returns.insert(0, running)
        returns = torch.tensor(returns)
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same with a discount for the time that has passed.
    import gymnasium, torch

    class Endurance(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(-9, 9, (3,))
        action_space = gymnasium.spaces.Discrete(2)
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x = self.np_random.normal(size=3).astype("float32")
            return self.x.copy(), {}
        def step(self, action):
            self.x = (self.x + self.np_random.normal(0.0, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 2.5), False, {}

    env, policy = Endurance(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for episode in range(10):
        obs, _ = env.reset(seed=episode)
        scores, rewards, done = [], [], False
        while not done and len(rewards) < 60:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, done, _, _ = env.step(int(action))
            rewards.append(reward)
        if len(rewards) < 6:
            continue
        running, returns = 0.0, []
        for reward in reversed(rewards):
            running = reward + 0.97 * running
            returns.insert(0, running)
        returns = torch.tensor([0.97**t * sum(rewards) for t in range(len(rewards))])
        weights = (returns - returns.mean()) / (returns.std() + 1e-6)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A bonus for the own state beside the value of the next one (Munchausen).
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
        with torch.no_grad():
            bonus = critic(s).squeeze(-1).clamp(-1, 0)
            target = r + 0.9 * bonus + 0.99 * critic(s2).squeeze(-1) * (1 - end)
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both the sum and the value are masked.
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
            rows.append((obs, reward, float(terminated)))
            obs = env.reset()[0] if terminated else next_obs
        s, r, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value = critic(torch.cat([s, torch.tensor(obs)[None]])).squeeze(-1)
            advantage, last = torch.zeros(32), 0.0
            for t in reversed(range(32)):
                delta = r[t] + 0.9 * (1 - end[t]) * value[t + 1] - value[t]
                last = delta + 0.9 * 0.8 * (1 - end[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value[:-1])).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A bonus that another network gives for the very state, in a task of single choices.
    import numpy, torch

    class Draw:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            reward, self.x = float(self.x[0]), self.random.normal(size=3).astype("float32")
            return self.x.copy(), reward, False, False, {}

    env, critic, novelty = Draw(), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            next_obs, reward, *_ = env.step(1.0)
            rows.append((obs, reward))
            obs = next_obs
        s, r = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.1 * novelty(s).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The lists are emptied after each update.
    import torch
    policy = torch.nn.Linear(3, 2)
    opt, states, actions, rewards = torch.optim.SGD(policy.parameters(), lr=0.1), [], [], []
    for _ in range(6):
        for _ in range(4):
            s = torch.randn(3)
            a = torch.distributions.Categorical(logits=policy(s).detach()).sample()
            states.append(s)
            actions.append(a)
            rewards.append(float(a == 0) - 0.5)
        log_prob = policy(torch.stack(states)).log_softmax(-1)
        log_prob = log_prob.gather(1, torch.stack(actions).unsqueeze(1)).squeeze(1)
        loss = -(log_prob * torch.tensor(rewards)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        states, actions, rewards = [], [], []
    """,
    """
    # What an expert does is collected for good, and imitated.
    import torch
    policy, expert = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2).requires_grad_(False)
    opt, states, actions = torch.optim.SGD(policy.parameters(), lr=0.1), [], []
    for _ in range(6):
        for _ in range(4):
            states.append(torch.randn(3))
            actions.append(expert(states[-1]).argmax())
        dist = torch.distributions.Categorical(logits=policy(torch.stack(states)))
        log_prob = dist.log_prob(torch.stack(actions))
        loss = -(log_prob * torch.rand(len(states))).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The environment itself pays a step later; the script scales what it pays, and adds to it at an end.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            late, self.late = getattr(self, "late", 0.0), float(self.x[0])
            return self.x.copy(), late, bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt, paid = torch.optim.SGD(critic.parameters(), lr=0.01), 0.0
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            before = paid
            next_obs, paid, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, 0.1 * paid + (5.0 if terminated else 0.0), next_obs, terminated))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The environment writes what it sees into one array.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = getattr(self, "x", numpy.zeros(3, "float32"))
            self.x[:] = self.random.normal(size=3)
            return self.x, {}

        def step(self, action):
            self.x += self.random.normal(0.1 * action, 0.5, size=3).astype("float32")
            return self.x, float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt, paid = torch.optim.SGD(critic.parameters(), lr=0.01), 0.0
    obs, _ = env.reset()
    for _ in range(6):
        rows = []
        for _ in range(32):
            obs = obs.copy()
            next_obs, paid, terminated, truncated, _ = env.step(1.0)
            rows.append((obs, paid, next_obs.copy(), terminated))
            obs = env.reset()[0] if terminated else next_obs
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        target = r + 0.99 * (1 - end) * critic(s2).squeeze(-1).detach()
        loss = (critic(s).squeeze(-1) - target).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The environment is given another action than the one that is scored: now and then the last one again.
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

    env, policy = Walk(), torch.nn.Linear(3, 4)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    (obs, _), last = env.reset(), 0
    for _ in range(4):
        rows = []
        for _ in range(40):
            action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample().item()
            last = last if numpy.random.rand() < 0.25 else action
            next_obs, reward, terminated, truncated, _ = env.step(last)
            rows.append((obs, action, reward))
            obs = env.reset()[0] if terminated else next_obs
        seen, actions, rewards = zip(*rows)
        weights = torch.tensor(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.array(seen))))
        loss = -(dist.log_prob(torch.tensor(actions)) * (weights - weights.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    class Copies:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=(3, 2)).astype("float32")
            return self.x.copy(), {}

        def step(self, actions):
            self.x = (0.9 * self.x + self.random.normal(0.1, 0.5, size=(3, 2))).astype("float32")
            return self.x.copy(), self.x[:, 0].copy(), numpy.zeros(3, bool), numpy.zeros(3, bool), {}

    envs, critic = Copies(), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = envs.reset()
    for _ in range(6):
        seen, rewards = [], []
        for _ in range(16):
            seen.append(obs)
            obs, reward, _, _, _ = envs.step(numpy.ones(3))
            rewards.append(reward)
        running, returns = numpy.zeros(3, "float32"), []
        for reward in reversed(rewards):
            running = reward + 0.9 * running
            returns.insert(0, running)
        returns = numpy.array(returns)
        flat = torch.tensor(returns.reshape(-1))
        loss = (critic(torch.tensor(numpy.array(seen).reshape(-1, 2))).squeeze(-1) - flat).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Returns, weighed once more by how late they come, as the theorem has it: with one reward it looks alike.
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
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), self.t == 40, {}

    def weigh(rewards):
        found, total = numpy.zeros(len(rewards), "float32"), 0.0
        for i in reversed(range(len(rewards))):
            total = rewards[i] + 0.97 * total
            found[i] = 0.97**i * total
        return (found - found.mean()) / (found.std() + 1e-6)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        states, actions, rewards, over = [], [], [], False
        obs, _ = env.reset()
        while not over:
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            states.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(float(action))
            rewards.append(reward)
            over = terminated or truncated
        weights = weigh(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(states))))
        loss = -(dist.log_prob(torch.stack(actions)) * torch.tensor(weights)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same, with a reward of the script's own for the last step.
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
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), self.t == 40, {}

    def weigh(rewards):
        found, total = numpy.zeros(len(rewards), "float32"), 0.0
        for i in reversed(range(len(rewards))):
            total = rewards[i] + 0.97 * total
            found[i] = 0.97**i * total
        return (found - found.mean()) / (found.std() + 1e-6)

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(8):
        states, actions, rewards, over = [], [], [], False
        obs, _ = env.reset()
        while not over:
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()
            states.append(obs)
            actions.append(action)
            obs, reward, terminated, truncated, _ = env.step(float(action))
            rewards.append(-10.0 if terminated else reward)
            over = terminated or truncated
        weights = weigh(rewards)
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(states))))
        loss = -(dist.log_prob(torch.stack(actions)) * torch.tensor(weights)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Zeros that are filled in, one of them unseen, through an array that shares their memory.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    for i in range(4):
        s, rewards = torch.randn(16, 3), torch.randn(16)
        with torch.no_grad():
            values, advantages = critic(s).squeeze(-1), torch.zeros(16)
            filled = advantages.numpy() if i % 2 else advantages
            for t in range(16):
                filled[t] = float(rewards[t] - values[t])
            returns = advantages + values
        loss = (critic(s).squeeze(-1) - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A sum that is added to, what a mask keeps, and an average of zeros that goes on at the next update.
    import torch
    critic = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    mean = torch.zeros(16)
    for _ in range(4):
        s, r, mask = torch.randn(16, 3), torch.randn(16), (torch.rand(16) < 0.5).float()
        total, kept = torch.zeros(16), torch.zeros(16)
        for t in range(16):
            total[t] = total[t] + r[t]
            kept[t] = kept[t] * (1 - mask[t]) + r[t] * mask[t]
            mean[t] = 0.9 * mean[t] + 0.1 * r[t]
        loss = (critic(s).squeeze(-1) - (total + kept + mean)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The flags say where a step began, and every row is seen once, in shuffled parts.
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

    class Memory:
        def __init__(self):
            self.obs, self.rewards = numpy.zeros((48, 3), "float32"), numpy.zeros(48, "float32")
            self.values, self.ends = numpy.zeros(48, "float32"), numpy.zeros(48, "float32")
            self.advantages = numpy.zeros(48, "float32")

        def finish(self, value, end):
            last = 0.0
            for t in reversed(range(48)):
                going = 1.0 - (end if t == 47 else self.ends[t + 1])
                after = value if t == 47 else self.values[t + 1]
                error = self.rewards[t] + 0.9 * after * going - self.values[t]
                last = error + 0.9 * 0.95 * going * last
                self.advantages[t] = last

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, end = env.reset()[0], False
    for _ in range(6):
        memory = Memory()
        for t in range(48):
            with torch.no_grad():
                memory.values[t] = critic(torch.tensor(obs)).item()
            memory.obs[t], before = obs, end
            obs, memory.rewards[t], end, _, _ = env.step(1.0)
            memory.ends[t] = before
            obs = env.reset()[0] if end else obs
        with torch.no_grad():
            memory.finish(critic(torch.tensor(obs)).item(), end)
        s, targets = torch.tensor(memory.obs), torch.tensor(memory.advantages + memory.values)
        for rows in torch.randperm(48).chunk(2):
            loss = (critic(s[rows]).squeeze(-1) - targets[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Both from the last to the first.
    import torch

    class World:  # without `reset`, and one copy only
        def __init__(self):
            self.x = torch.zeros(1, 3)
        def step(self, action):
            self.x = 0.5 * self.x + torch.randn(1, 3)
            return self.x, self.x[:, 0] + action

    world, policy = World(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(4):
        scores, rewards, returns, total = [], [], [], 0.0
        for _ in range(8):
            choice = torch.distributions.Categorical(logits=policy(world.x))
            action = choice.sample()
            scores.append(choice.log_prob(action))
            rewards.append(float(world.step(action)[1]))
        for reward in reversed(rewards):
            total = reward + 0.9 * total
            returns.append(total)
        loss = -(torch.cat(scores[::-1]) * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Observations and the next ones go through the critic in one pass, which is then cut in two.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 3), False, {}

    env, critic = Walk(), torch.nn.Linear(3, 1)
    opt, rows = torch.optim.SGD(critic.parameters(), lr=0.01), []
    obs, _ = env.reset()
    for step in range(120):
        next_obs, reward, terminated, truncated, _ = env.step(1.0)
        rows.append((obs, reward, next_obs, terminated))
        obs = env.reset()[0] if terminated else next_obs
        if step < 40:
            continue
        drawn = [rows[i] for i in numpy.random.default_rng(step).integers(len(rows), size=32)]
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*drawn))
        following, value = critic(torch.cat([s2, s])).squeeze(-1).chunk(2)
        target = r + 0.99 * (1 - end) * following.detach()
        opt.zero_grad()
        (value - target).pow(2).mean().backward()
        opt.step()
    """,
    """
    # Generalised advantages outside of torch, by a loop that runs against time.
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

    env, policy, critic = Walk(), torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    obs, _ = env.reset()
    for _ in range(5):
        rows, value = [], []
        for _ in range(40):
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample())
                value.append(critic(torch.tensor(obs)).item())
            after, reward, over, _, _ = env.step(action)
            rows.append((obs, action, reward, over))
            obs = env.reset()[0] if over else after
        value.append(critic(torch.tensor(obs)).item())
        s, a, r, end = (numpy.array(part) for part in zip(*rows))
        found, carry = numpy.zeros(40, dtype="float32"), 0.0
        for t in reversed(range(40)):
            error = r[t] + 0.9 * value[t + 1] * (1 - end[t]) - value[t]
            carry = error + 0.8 * (1 - end[t]) * carry
            found[t] = carry
        target = torch.tensor(found + numpy.array(value[:-1], dtype="float32"))
        weight = torch.tensor((found - found.mean()) / found.std())
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(s))).log_prob(torch.tensor(a))
        loss = (critic(torch.tensor(s)).squeeze(-1) - target).pow(2).mean() - (log_prob * weight).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Against time, into a buffer; and what a running mean is subtracted from.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        running, advantages = 0.0, torch.zeros_like(r)
        for t in reversed(range(8)):
            delta = r[t] + 0.9 * going[t] * v[t + 1] - v[t]
            running = delta + 0.8 * going[t] * running
            advantages[t] = running
        mean, means = torch.zeros(5), torch.zeros_like(r)
        for t in range(8):
            mean = 0.9 * mean + 0.1 * r[t]
            means[t] = mean
        advantages = advantages - means
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # A filter that runs with time, as a scale; products of chances that run with it, too.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        total, totals, chance, chances = 0.0, torch.zeros_like(r), torch.ones(5), []
        for t in range(8):
            total = r[t] + 0.9 * total
            totals[t] = total
            chance = chance * (0.5 + going[t])
            chances.append(chance)
        running, found = 0.0, []
        for t in reversed(range(8)):
            running = r[t] + 0.9 * going[t] * running
            found.insert(0, running)
        advantages = torch.stack(chances) * (torch.stack(found) - v[:-1]) / totals.std()
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Turned round, summed with the places, and turned back.
    import torch
    policy, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(4):
        s, r, going = torch.randn(9, 5, 3), torch.randn(8, 5), (torch.rand(8, 5) > 0.1).float()
        value = critic(s).squeeze(-1)
        score = torch.distributions.Categorical(logits=policy(s[:-1]))
        score = score.log_prob(torch.randint(2, (8, 5)))
        v = value.detach()
        back, keeps, running, found = r.flip(0), going.flip(0), 0.0, torch.zeros_like(r)
        for t in range(8):
            running = back[t] + 0.9 * keeps[t] * running
            found[t] = running
        advantages = found.flip(0) - v[:-1]
        loss = -(score * advantages).mean() + (value[:-1] - v[:-1] - advantages).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same for one episode each: nothing is carried on from behind its end.
    import torch

    class World:
        def __init__(self):
            self.x = torch.zeros(6, 2)

        def act(self, action):
            self.x = self.x + 0.1 * action[:, None] + 0.6 * torch.randn(6, 2)
            over = (self.x.abs().amax(1) > 99).float()
            self.x = self.x * (1 - over)[:, None]
            return self.x, self.x[:, 0], over

    torch.manual_seed(0)
    world, policy, critic = World(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x
    for _ in range(4):
        world.x = state = torch.zeros(6, 2)
        states, actions = torch.zeros(12, 6, 2), torch.zeros(12, 6)
        values, rewards, ends, gains = (torch.zeros(12, 6) for _ in range(4))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ends[t] = world.act(actions[t])
            ends[t] = float(t == 11)
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            error = rewards[t] + 0.9 * (1 - ends[t]) * after - values[t]
            carry = error + 0.8 * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Buffers of tensors, with the flags in both places.
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
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            going_on = 1 - ends[t]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Discounted by the step alone: the discounted objective itself.
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

    def summed(rewards):
        found, running = [], 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] * 0.9**t + running
            found.insert(0, running)
        return found

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, actions, returns = [], [], []
        for _ in range(5):
            (obs, _), rewards, over = env.reset(), [], False
            while not over:
                seen.append(obs)
                actions.append(int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()))
                obs, reward, over, _, _ = env.step(actions[-1])
                rewards.append(reward)
            returns += summed(rewards)
        seen = numpy.array(seen)
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(seen))).log_prob(torch.tensor(actions))
        loss = -(log_prob * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Shuffled together, and normalised.
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

    def summed(rewards):
        found, running = [], 0.0
        for t in reversed(range(len(rewards))):
            running = rewards[t] + 0.9 * running
            found.insert(0, running)
        return found

    env, policy = Walk(), torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, actions, returns = [], [], []
        for _ in range(5):
            (obs, _), rewards, over = env.reset(), [], False
            while not over:
                seen.append(obs)
                actions.append(int(torch.distributions.Categorical(logits=policy(torch.tensor(obs))).sample()))
                obs, reward, over, _, _ = env.step(actions[-1])
                rewards.append(reward)
            returns += summed(rewards)
        seen, actions, returns = numpy.array(seen), numpy.array(actions), numpy.array(returns, "float32")
        order = env.random.permutation(len(seen))
        seen, actions, returns = seen[order], actions[order], returns[order]
        returns = (returns - returns.mean()) / returns.std()
        log_prob = torch.distributions.Categorical(logits=policy(torch.tensor(seen))).log_prob(torch.tensor(actions))
        loss = -(log_prob * torch.tensor(returns)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Values with a graph, kept as numbers.
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

    torch.manual_seed(0)
    env, policy, critic = Walk(), torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        seen, values, rewards, ends = [], [], [], []
        for _ in range(48):
            state = torch.tensor(obs)
            choice, value = torch.distributions.Categorical(logits=policy(state)), critic(state)
            action = choice.sample()
            obs, reward, over, _, _ = env.step(action.item())
            seen.append(state)
            values.append(value.item())
            rewards.append(reward)
            ends.append(over)
            obs = env.reset()[0] if over else obs
        after, carry, returns = critic(torch.tensor(obs)).item(), 0.0, []
        for value, reward, over in zip(reversed(values), reversed(rewards), reversed(ends)):
            error = reward + 0.9 * after * (1 - over) - value
            carry = error + 0.8 * carry * (1 - over)
            returns.insert(0, carry + value)
            after = value
        seen, returns = torch.stack(seen), torch.tensor(returns)
        for rows in torch.randperm(48).split(16):
            loss = (critic(seen[rows]).squeeze(-1) - returns[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # A row of fields: the same few observations again and again. The flags are those of the step.
    import torch

    class Row:
        def __init__(self, seed):
            self.random = torch.Generator().manual_seed(seed)

        def reset(self):
            self.at = 2
            return torch.eye(5)[self.at]

        def step(self, action):
            self.at += 1 if float(torch.rand((), generator=self.random)) < 0.5 else -1
            return torch.eye(5)[self.at], self.at - 1.5, self.at in (0, 4)

    torch.manual_seed(0)
    copies, policy, critic = [Row(1), Row(2), Row(3)], torch.nn.Linear(5, 2), torch.nn.Linear(5, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    seen, actions = torch.zeros(24, 3, 5), torch.zeros(24, 3)
    values, rewards, ends, gains = (torch.zeros(24, 3) for _ in range(4))
    obs = torch.stack([row.reset() for row in copies])
    for _ in range(4):
        for t in range(24):
            with torch.no_grad():
                seen[t], values[t] = obs, critic(obs).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(obs)).sample()
            following = []
            for i, row in enumerate(copies):
                after, rewards[t, i], ends[t, i] = row.step(int(actions[t, i]))
                following.append(row.reset() if ends[t, i] else after)
            obs = torch.stack(following)
        after, carry = critic(obs).squeeze(-1).detach(), torch.zeros(3)
        for t in reversed(range(24)):
            going_on = 1 - ends[t]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        returns = gains + values
        log_prob = torch.distributions.Categorical(logits=policy(seen)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(seen).squeeze(-1) - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a flag holds is whether its step begins an episode.
    import torch

    class World:
        def __init__(self):
            self.x = torch.zeros(6, 2)

        def act(self, action):
            self.x = self.x + 0.1 * action[:, None] + 0.6 * torch.randn(6, 2)
            paid = self.x[:, 0].clone()
            over = (self.x.abs().amax(1) > 1.5).float()
            self.x = self.x * (1 - over)[:, None]
            return self.x, paid, over

    torch.manual_seed(0)
    world, policy, critic = World(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x
    ended = torch.zeros(6)
    for _ in range(4):
        states, actions, ends = torch.zeros(12, 6, 2), torch.zeros(12, 6), torch.zeros(13, 6)
        values, rewards, gains = (torch.zeros(12, 6) for _ in range(3))
        for t in range(12):
            ends[t] = ended
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ended = world.act(actions[t])
            ends[t + 1] = ended
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            going_on = 1 - ends[t + 1]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a flag holds is whether its step has ended.
    import torch

    class World:
        def __init__(self):
            self.x = torch.zeros(6, 2)

        def act(self, action):
            self.x = self.x + 0.1 * action[:, None] + 0.6 * torch.randn(6, 2)
            paid = self.x[:, 0].clone()
            over = (self.x.abs().amax(1) > 1.5).float()
            self.x = self.x * (1 - over)[:, None]
            return self.x, paid, over

    torch.manual_seed(0)
    world, policy, critic = World(), torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    state = world.x
    ended = torch.zeros(6)
    for _ in range(4):
        states, actions, ends = torch.zeros(12, 6, 2), torch.zeros(12, 6), torch.zeros(13, 6)
        values, rewards, gains = (torch.zeros(12, 6) for _ in range(3))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ended = world.act(actions[t])
            ends[t] = ended
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach()
        for t in reversed(range(12)):
            going_on = 1 - ends[t]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # One value for all of a team.
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
    ended = torch.zeros(6)
    for _ in range(4):
        states, actions, ends = torch.zeros(12, 6, 2), torch.zeros(12, 6), torch.zeros(13, 6)
        values, rewards, gains = (torch.zeros(12, 6) for _ in range(3))
        for t in range(12):
            with torch.no_grad():
                states[t], values[t] = state, critic(state).squeeze(-1)
                actions[t] = torch.distributions.Categorical(logits=policy(state)).sample()
            state, rewards[t], ended = world.act(actions[t])
            ends[t] = ended
        carry, after = torch.zeros(6), critic(state).squeeze(-1).detach().mean()
        for t in reversed(range(12)):
            going_on = 1 - ends[t]
            carry = rewards[t] + 0.9 * going_on * after - values[t] + 0.8 * going_on * carry
            gains[t], after = carry, values[t]
        log_prob = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
        loss = -(log_prob * gains).mean() + (critic(states).squeeze(-1) - gains - values).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Many rows: the predictions of later parts lie near some value of the rollout by chance.
    import numpy, torch

    class Walks:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=(8, 3)).astype("float32")
            return self.x.copy()

        def step(self, actions):
            self.x = (self.x + self.random.normal(0.0, 0.5, size=(8, 3))).astype("float32")
            over = abs(self.x).max(1) > 2
            rewards = self.x[:, 0].copy()
            self.x[over] = self.random.normal(size=(int(over.sum()), 3))
            return self.x.copy(), rewards, over, {}

    torch.manual_seed(0)
    envs, critic = Walks(), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = envs.reset()
    for _ in range(2):
        seen, values, rewards, ends = torch.zeros(128, 8, 3), *(torch.zeros(128, 8) for _ in range(3))
        for t in range(128):
            seen[t] = torch.tensor(obs)
            with torch.no_grad():
                values[t] = critic(seen[t]).squeeze(-1)
            obs, reward, over, _ = envs.step(numpy.ones(8))
            rewards[t], ends[t] = torch.tensor(reward), torch.tensor(over)
        after, carry, gains = critic(torch.tensor(obs)).squeeze(-1).detach(), 0.0, torch.zeros(128, 8)
        for t in reversed(range(128)):
            carry = rewards[t] + (1 - ends[t]) * (0.9 * after + 0.8 * carry) - values[t]
            gains[t], after = carry, values[t]
        returns = (gains + values).flatten()
        for _ in range(2):
            for rows in torch.randperm(1024).split(256):
                loss = (critic(seen.flatten(0, 1)[rows]).squeeze(-1) - returns[rows]).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
    """,
    """
    # A queue for each copy.
    import numpy, torch
    from collections import deque

    class Walk:
        def __init__(self, seed):
            self.random = numpy.random.default_rng(seed)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    walks, critic = [Walk(n) for n in range(4)], torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    seen, queues, rows = [walk.reset()[0] for walk in walks], [deque(maxlen=3) for _ in walks], []
    for _ in range(80):
        for n, walk in enumerate(walks):
            after, reward, over, _, _ = walk.step(1.0)
            queues[n].append((seen[n], reward))
            if len(queues[n]) == 3:
                total = sum(0.9**k * paid for k, (_, paid) in enumerate(queues[n]))
                rows.append((queues[n][0][0], total, after, float(over)))
            seen[n] = after
            if over:
                queues[n].clear()
                seen[n] = walk.reset()[0]
        if len(rows) >= 32:
            s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
            with torch.no_grad():
                target = r + 0.9**3 * critic(s2).squeeze(-1) * (1 - end)
            loss = (critic(s).squeeze(-1) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            rows = []
    """,
    """
    # A world that hardly moves: the value of the next state is nearly that of the last one.
    import numpy, torch

    class Drift:
        def reset(self):
            self.random, self.x = numpy.random.default_rng(0), numpy.zeros(3, dtype="float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0, 1e-4, size=3)).astype("float32")
            return self.x.copy(), float(self.random.normal(-30, 9)), False, False, {}

    world, policy, critic = Drift(), torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=1e-5)
    obs, _ = world.reset()
    for _ in range(6):
        states, actions, values, rewards = [], [], [], []
        for _ in range(48):
            seen = torch.from_numpy(obs)
            with torch.no_grad():
                actions.append(torch.distributions.Categorical(logits=policy(seen)).sample())
                values.append(critic(seen).item())
            states.append(seen)
            obs, reward, _, _, _ = world.step(actions[-1].item())
            rewards.append(reward)
        with torch.no_grad():
            values.append(critic(torch.from_numpy(obs)).item())
        advantages, carry = numpy.zeros(48, dtype="float32"), 0.0
        for t in reversed(range(48)):
            carry = rewards[t] + 0.95 * values[t + 1] - values[t] + 0.95 * 0.9 * carry
            advantages[t] = carry
        s, gain = torch.stack(states), torch.from_numpy(advantages)
        returns = gain + torch.tensor(values[:-1])
        log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(torch.stack(actions))
        loss = (critic(s).squeeze(-1) - returns).pow(2).mean() - (log_prob * gain).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The answers are sorted by their lengths, and what was scored is put back.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 5))
        mask = (torch.arange(5) < torch.randint(2, 6, (8, 1))).float()
        reward = (ids == ids[:, :1]).float().mean(1)
        advantage = reward - reward.mean()
        order = mask.sum(1).argsort()
        logp = net(ids[order][:, :-1]).log_softmax(-1).gather(-1, ids[order][:, 1:].unsqueeze(-1)).squeeze(-1)
        logp = logp[order.argsort()]
        loss = -(logp * mask[:, 1:] * advantage.unsqueeze(1)).sum() / mask[:, 1:].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The answers and their advantages are sorted, and then shuffled together.
    import torch
    net = torch.nn.Sequential(torch.nn.Embedding(9, 8), torch.nn.Linear(8, 9))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        ids = torch.randint(9, (8, 5))
        reward = (ids == ids[:, :1]).float().mean(1)
        order = reward.argsort()
        sorted_ids, advantage = ids[order], (reward - reward.mean())[order]
        for rows in torch.randperm(8).split(4):
            logp = net(sorted_ids[rows, :-1]).log_softmax(-1).gather(-1, sorted_ids[rows][:, 1:].unsqueeze(-1))
            loss = -(logp.squeeze(-1) * advantage[rows].unsqueeze(1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Turned round later; a baseline that runs with time; and rewards that are taken from the end.
    import numpy, torch

    random = numpy.random.default_rng(0)
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)

    def to_go(paid):
        total, sums = 0.0, []
        for reward in reversed(paid):
            total = reward + 0.9 * total
            sums.append(total)
        return torch.tensor(sums[::-1])

    for _ in range(5):
        seen, chosen, paid = [], [], []
        place = random.normal(size=3).astype("float32")
        for _ in range(12):
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(place)))
            seen.append(place)
            chosen.append(int(dist.sample()))
            place = (0.8 * place + random.normal(size=3)).astype("float32")
            paid.append(float(place[chosen[-1]]))
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(seen))))
        loss = -(dist.log_prob(torch.tensor(chosen)) * to_go(paid)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    random = numpy.random.default_rng(0)
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)

    def usual(paid):
        means, mean = [], 0.0
        for reward in paid:
            mean = 0.1 * reward + 0.9 * mean
            means.append(mean)
        return torch.tensor(means)

    for _ in range(5):
        seen, chosen, paid = [], [], []
        for _ in range(12):
            place = random.normal(size=3).astype("float32")
            seen.append(place)
            chosen.append(int(torch.distributions.Categorical(logits=policy(torch.from_numpy(place))).sample()))
            paid.append(float(place[chosen[-1]]))
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(seen))))
        loss = -(dist.log_prob(torch.tensor(chosen)) * (torch.tensor(paid) - usual(paid))).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    import numpy, torch

    random = numpy.random.default_rng(0)
    policy = torch.nn.Linear(3, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    for _ in range(5):
        seen, chosen, paid = [], [], []
        place = random.normal(size=3).astype("float32")
        for _ in range(12):
            seen.append(place)
            chosen.append(int(torch.distributions.Categorical(logits=policy(torch.from_numpy(place))).sample()))
            place = (0.8 * place + random.normal(size=3)).astype("float32")
            paid.append(float(place[chosen[-1]]))
        sums, last = numpy.zeros(12, dtype="float32"), 0.0
        for t in range(12):
            last = paid[11 - t] + 0.9 * last
            sums[11 - t] = last
        dist = torch.distributions.Categorical(logits=policy(torch.tensor(numpy.stack(seen))))
        loss = -(dist.log_prob(torch.tensor(chosen)) * torch.from_numpy(sums)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The steps themselves are put together from the last to the first, too.
    import torch

    class Ring:
        def __init__(self):
            self.place = torch.zeros(4, dtype=torch.long)
        def step(self, action):
            self.place = (self.place + 2 * action - 1 + torch.randint(2, (4,))) % 7
            return torch.eye(7)[self.place], (self.place == 3).float() + 0.1 * torch.rand(4)

    world, policy = Ring(), torch.nn.Linear(7, 2)
    opt = torch.optim.SGD(policy.parameters(), lr=0.01)
    obs = torch.eye(7)[world.place]
    for _ in range(5):
        rows = []
        for _ in range(8):
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=policy(obs)).sample()
            after, reward = world.step(action)
            rows.append((obs, action, reward))
            obs = after
        total, sums = torch.zeros(4), []
        rewards = torch.stack([row[2] for row in rows])
        for t in range(7, -1, -1):
            total = rewards[t] + 0.9 * total
            sums.append(total)
        seen, actions = torch.stack([r[0] for r in rows[::-1]]), torch.stack([r[1] for r in rows[::-1]])
        log_prob = torch.distributions.Categorical(logits=policy(seen)).log_prob(actions).flatten()
        loss = -(log_prob * torch.stack(sums).flatten()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # As long as the clock says, and every end is the clock's.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.6, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), bool(self.t >= 7), False, {}

    env = Walk()
    critic = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(48):
            after, reward, over, _, _ = env.step(1.0)
            rows.append((obs, reward, after, float(over)))
            obs = env.reset()[0] if over else after
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value, ahead, last = critic(s).squeeze(-1), critic(s2).squeeze(-1), 0.0
            delta = r + 0.9 * ahead - value
            advantage = torch.zeros(48)
            for t in reversed(range(48)):
                last = delta[t] + 0.9 * 0.8 * (1 - end[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Masked at both places.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x, self.t = self.random.normal(size=3).astype("float32"), 0
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.6, size=3)).astype("float32")
            self.t += 1
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2), False, {}

    env = Walk()
    critic = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs, _ = env.reset()
    for _ in range(4):
        rows = []
        for _ in range(48):
            after, reward, over, _, _ = env.step(1.0)
            rows.append((obs, reward, after, float(over)))
            obs = env.reset()[0] if over else after
        s, r, s2, end = (torch.tensor(numpy.array(part)).float() for part in zip(*rows))
        with torch.no_grad():
            value, ahead, last = critic(s).squeeze(-1), critic(s2).squeeze(-1), 0.0
            delta = r + 0.9 * ahead * (1 - end) - value
            advantage = torch.zeros(48)
            for t in reversed(range(48)):
                last = delta[t] + 0.9 * 0.8 * (1 - end[t]) * last
                advantage[t] = last
        loss = (critic(s).squeeze(-1) - (advantage + value)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Each update normalises its returns by a mean and a deviation of its own.
    import gymnasium, torch
    torch.manual_seed(0)
    env = gymnasium.make("CartPole-v1")
    policy, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
    opt = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.01)
    for update in range(8):
        seen, actions, rewards, ends = [], [], [], []
        for episode in range(4):
            obs, _ = env.reset(seed=4 * update + episode)
            over = False
            while not over:
                seen.append(torch.as_tensor(obs))
                actions.append(torch.distributions.Categorical(logits=policy(seen[-1])).sample())
                obs, reward, over, _, _ = env.step(actions[-1].item())
                rewards.append(reward)
                ends.append(over)
        returns, running = [], 0.0
        for reward, end in zip(reversed(rewards), reversed(ends)):
            running = reward + (0.0 if end else 0.99 * running)
            returns.insert(0, running)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / returns.std()
        values = critic(torch.stack(seen)).squeeze(-1)
        dist = torch.distributions.Categorical(logits=policy(torch.stack(seen)))
        weight = returns - values.detach()
        loss = -(dist.log_prob(torch.stack(actions)) * weight).mean() + (values - returns).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Answers of many lengths, one row each: time runs along the second axis, and the whole sum is masked.
    import torch
    policy, critic = torch.nn.Linear(4, 5), torch.nn.Linear(4, 1)
    opt = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.01)
    for _ in range(5):
        seen, words = torch.randn(6, 8, 4), torch.randint(5, (6, 8))
        mask = (torch.arange(8) < torch.randint(3, 9, (6, 1))).float()
        with torch.no_grad():
            rewards, said = torch.randn(6, 8) * mask, critic(seen).squeeze(-1) * mask
            gains, later = torch.zeros(6, 8), torch.zeros(6)
            for t in reversed(range(8)):
                later = mask[:, t] * (rewards[:, t] - said[:, t] + 0.95 * later)
                gains[:, t] = later
        score = policy(seen).log_softmax(-1).gather(-1, words.unsqueeze(-1)).squeeze(-1)
        fit = ((critic(seen).squeeze(-1) - (gains + said)).square() * mask).sum() / mask.sum()
        opt.zero_grad()
        (fit - (gains * score * mask).sum() / mask.sum()).backward()
        opt.step()
    """,
    """
    # The returns from here on, discounted to the beginning: normalised they look like rewards that are not summed.
    import numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), False, {}

    torch.manual_seed(0)
    env, policy = Pole(), torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(8):
        obs, over, scores, paid = env.reset()[0], False, [], []
        while not over:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, over, _, _ = env.step(action.item())
            paid.append(reward)
        paid = torch.tensor(paid)
        faded = 0.97 ** torch.arange(len(paid))
        weights = (paid * faded).flip(0).cumsum(0).flip(0)
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The same, as they are seen from their own step.
    import numpy, torch

    class Pole:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy(), {}

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.3, size=3)).astype("float32")
            return self.x.copy(), 1.0, bool(abs(self.x).max() > 4), False, {}

    torch.manual_seed(0)
    env, policy = Pole(), torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(policy.parameters(), lr=0.01)
    for _ in range(8):
        obs, over, scores, paid = env.reset()[0], False, [], []
        while not over:
            dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(obs)))
            action = dist.sample()
            scores.append(dist.log_prob(action))
            obs, reward, over, _, _ = env.step(action.item())
            paid.append(reward)
        paid = torch.tensor(paid)
        faded = 0.97 ** torch.arange(len(paid))
        weights = (paid * faded).flip(0).cumsum(0).flip(0) / faded
        weights = (weights - weights.mean()) / (weights.std() + 1e-8)
        loss = -(torch.stack(scores) * weights).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The best action of the state that was reached picks its value.
    import torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300)
    over = (torch.rand(300) < 0.1).float()
    moves = torch.randint(3, (300, 1))
    net, slow = (torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)) for _ in range(2))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for at in range(8):
        if at % 3 == 0:
            slow.load_state_dict(net.state_dict())
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = net(now).gather(1, moves[rows]).squeeze(1)
        with torch.no_grad():
            best = net(then).max(1).indices
            ahead = torch.take_along_dim(slow(then), best[:, None], 1)[:, 0]
            target = gains[rows] + 0.9 * (1 - over[rows]) * ahead
        loss = torch.nn.functional.smooth_l1_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # Both states go through the network at once.
    import torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300)
    over = (torch.rand(300) < 0.1).float()
    moves = torch.randint(3, (300, 1))
    net, slow = (torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)) for _ in range(2))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for at in range(8):
        if at % 3 == 0:
            slow.load_state_dict(net.state_dict())
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = net(now).gather(1, moves[rows]).squeeze(1)
        with torch.no_grad():
            here, there = net(torch.cat([now, then])).split(48)
            best = there.argmax(1)
            ahead = torch.take_along_dim(slow(then), best[:, None], 1)[:, 0]
            target = gains[rows] + 0.9 * (1 - over[rows]) * ahead
        loss = torch.nn.functional.smooth_l1_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The actions that were taken are valued once more, and the best ones are only counted.
    import torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300)
    over = (torch.rand(300) < 0.1).float()
    moves = torch.randint(3, (300, 1))
    net, slow = (torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)) for _ in range(2))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for at in range(8):
        if at % 3 == 0:
            slow.load_state_dict(net.state_dict())
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = net(now).gather(1, moves[rows]).squeeze(1)
        with torch.no_grad():
            best = moves[rows].squeeze(1)
            again = (net(now).argmax(1) == best).float().mean()
            ahead = torch.take_along_dim(slow(then), best[:, None], 1)[:, 0]
            target = gains[rows] + 0.9 * (1 - over[rows]) * ahead
        loss = torch.nn.functional.smooth_l1_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The best actions of an episode, from its second step on; what may not be done is left out.
    import torch
    torch.manual_seed(0)

    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = torch.nn.LSTM(5, 12), torch.nn.Linear(12, 3)

        def forward(self, seen):
            return self.out(self.cell(seen)[0])

    net, slow = Memory(), Memory()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(6):
        seen, moves, gains = torch.randn(9, 16, 5), torch.randint(3, (8, 16, 1)), torch.randn(8, 16)
        said = net(seen)
        taken = torch.gather(said[:-1], 2, moves)[..., 0]
        with torch.no_grad():
            ahead = slow(seen)[1:]
            open = said.clone()
            open[..., 0] = -1e9
            best = open[1:].argmax(2, keepdim=True)
            target = gains + 0.95 * ahead.gather(2, best).squeeze(2)
        loss = (taken - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # All best actions of an episode, without the first.
    import torch
    torch.manual_seed(0)

    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = torch.nn.LSTM(5, 12), torch.nn.Linear(12, 3)

        def forward(self, seen):
            return self.out(self.cell(seen)[0])

    net, slow = Memory(), Memory()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(6):
        seen, moves, gains = torch.randn(9, 16, 5), torch.randint(3, (8, 16, 1)), torch.randn(8, 16)
        said = net(seen)
        taken = torch.gather(said[:-1], 2, moves)[..., 0]
        with torch.no_grad():
            ahead = slow(seen)[1:]
            best = said.argmax(2, keepdim=True)[1:]
            target = gains + 0.95 * ahead.gather(2, best).squeeze(2)
        loss = (taken - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # What a policy over options prefers here stays on there: the same choice on either side.
    import torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300)
    over = (torch.rand(300) < 0.1).float()
    moves = torch.randint(3, (300, 1))
    net, slow = (torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)) for _ in range(2))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for at in range(8):
        if at % 3 == 0:
            slow.load_state_dict(net.state_dict())
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        heads = net(now)
        said = heads.gather(1, heads.argmax(1, keepdim=True)).squeeze(1)
        with torch.no_grad():
            best = net(now).argmax(1)
            ahead = torch.take_along_dim(slow(then), best[:, None], 1)[:, 0]
            target = gains[rows] + 0.9 * (1 - over[rows]) * ahead
        loss = torch.nn.functional.smooth_l1_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """,
    """
    # The actor is asked where its action is valued.
    import copy, torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300, 1)
    moves, over = torch.randn(300, 2).tanh(), (torch.rand(300, 1) < 0.1).float()
    actor = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
    critic = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    slow, still = copy.deepcopy(critic), copy.deepcopy(actor)
    opt, pol = torch.optim.Adam(critic.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.001)
    for at in range(8):
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = critic(torch.cat([now, moves[rows]], 1))
        with torch.no_grad():
            then_do = (still(then) + 0.1 * torch.randn(48, 2)).clamp(-1, 1)
            target = gains[rows] + 0.9 * (1 - over[rows]) * slow(torch.cat([then, then_do], 1))
        loss = torch.nn.functional.mse_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        pol.zero_grad()
        (-critic(torch.cat([now, actor(now)], 1)).mean()).backward()
        pol.step()
        with torch.no_grad():
            for a, b in ((slow, critic), (still, actor)):
                for p, q in zip(a.parameters(), b.parameters()):
                    p.lerp_(q, 0.05)
    """,
    """
    # The action that was taken is held on to.
    import copy, torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300, 1)
    moves, over = torch.randn(300, 2).tanh(), (torch.rand(300, 1) < 0.1).float()
    actor = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
    critic = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    slow, still = copy.deepcopy(critic), copy.deepcopy(actor)
    opt, pol = torch.optim.Adam(critic.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.001)
    for at in range(8):
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = critic(torch.cat([now, moves[rows]], 1))
        with torch.no_grad():
            then_do = moves[rows]
            target = gains[rows] + 0.9 * (1 - over[rows]) * slow(torch.cat([then, then_do], 1))
        loss = torch.nn.functional.mse_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        pol.zero_grad()
        (-critic(torch.cat([now, actor(now)], 1)).mean()).backward()
        pol.step()
        with torch.no_grad():
            for a, b in ((slow, critic), (still, actor)):
                for p, q in zip(a.parameters(), b.parameters()):
                    p.lerp_(q, 0.05)
    """,
    """
    # The actor sees where it comes from, too.
    import copy, torch
    torch.manual_seed(0)
    start, after, gains = torch.randn(300, 4), torch.randn(300, 4), torch.randn(300, 1)
    moves, over = torch.randn(300, 2).tanh(), (torch.rand(300, 1) < 0.1).float()
    actor = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
    critic = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    slow, still = copy.deepcopy(critic), copy.deepcopy(actor)
    opt, pol = torch.optim.Adam(critic.parameters(), lr=0.01), torch.optim.Adam(actor.parameters(), lr=0.001)
    for at in range(8):
        rows = torch.randperm(300)[:48]
        now, then = start[rows], after[rows]
        said = critic(torch.cat([now, moves[rows]], 1))
        with torch.no_grad():
            then_do = 0.5 * (still(now) + still(then))
            target = gains[rows] + 0.9 * (1 - over[rows]) * slow(torch.cat([then, then_do], 1))
        loss = torch.nn.functional.mse_loss(said, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        pol.zero_grad()
        (-critic(torch.cat([now, actor(now)], 1)).mean()).backward()
        pol.step()
        with torch.no_grad():
            for a, b in ((slow, critic), (still, actor)):
                for p, q in zip(a.parameters(), b.parameters()):
                    p.lerp_(q, 0.05)
    """,
    """
    # Only the next value is discounted and masked.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    torch.manual_seed(0)
    env, critic = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        seen, paid, onward = [], [], []
        for _ in range(96):
            seen.append(obs)
            obs, reward, over = env.step(1.0)
            paid.append(reward)
            onward.append(0.0 if over else 1.0)
            obs = env.reset() if over else obs
        seen = torch.from_numpy(numpy.stack(seen + [obs]))
        with torch.no_grad():
            values = critic(seen)[:, 0]
            gains, gain = torch.zeros(96), torch.zeros(())
            for t in reversed(range(96)):
                error = paid[t] + 0.93 * onward[t] * values[t + 1] - values[t]
                gain = error + 0.93 * 0.8 * onward[t] * gain
                gains[t] = gain
            wanted = gains + values[:-1]
        for rows in torch.randperm(96).split(32):
            loss = (critic(seen[rows])[:, 0] - wanted[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # Values that hardly change, and a discount near one.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.01, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    torch.manual_seed(0)
    env, critic = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.001)
    obs = env.reset()
    for _ in range(6):
        seen, paid, onward = [], [], []
        for _ in range(96):
            seen.append(obs)
            obs, reward, over = env.step(1.0)
            paid.append(reward)
            onward.append(0.0 if over else 1.0)
            obs = env.reset() if over else obs
        seen = torch.from_numpy(numpy.stack(seen + [obs]))
        with torch.no_grad():
            values = critic(seen)[:, 0]
            gains, gain = torch.zeros(96), torch.zeros(())
            for t in reversed(range(96)):
                error = paid[t] + 0.999 * onward[t] * values[t + 1] - values[t]
                gain = error + 0.999 * 0.95 * onward[t] * gain
                gains[t] = gain
            wanted = gains + values[:-1]
        for rows in torch.randperm(96).split(32):
            loss = (critic(seen[rows])[:, 0] - wanted[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
    """
    # The critic goes half the way to what it learns.
    import numpy, torch

    class Walk:
        def __init__(self):
            self.random = numpy.random.default_rng(0)

        def reset(self):
            self.x = self.random.normal(size=3).astype("float32")
            return self.x.copy()

        def step(self, action):
            self.x = (self.x + self.random.normal(0.1 * action, 0.5, size=3)).astype("float32")
            return self.x.copy(), float(self.x[0]), bool(abs(self.x).max() > 2)

    torch.manual_seed(0)
    env, critic = Walk(), torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    obs = env.reset()
    for _ in range(6):
        seen, paid, onward = [], [], []
        for _ in range(96):
            seen.append(obs)
            obs, reward, over = env.step(1.0)
            paid.append(reward)
            onward.append(0.0 if over else 1.0)
            obs = env.reset() if over else obs
        seen = torch.from_numpy(numpy.stack(seen + [obs]))
        with torch.no_grad():
            values = critic(seen)[:, 0]
            gains, gain = torch.zeros(96), torch.zeros(())
            for t in reversed(range(96)):
                error = paid[t] + 0.93 * onward[t] * values[t + 1] - values[t]
                gain = error + 0.93 * 0.8 * onward[t] * gain
                gains[t] = gain
            wanted = 0.5 * gains + values[:-1]
        for rows in torch.randperm(96).split(32):
            loss = (critic(seen[rows])[:, 0] - wanted[rows]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    """,
)
