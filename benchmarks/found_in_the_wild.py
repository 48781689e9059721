"""The measurements of four entries of docs/found-in-the-wild.md, without gradsan.

    python benchmarks/found_in_the_wild.py

A2C: the actor's gradient as public copies write it ([80] * [80, 1]) beside the one that is meant.
ACER: the gradient of a mean over pairs beside that of a mean over samples.
Online actor-critic: the gradient of a live temporal difference beside the one that is meant.
A textbook's PPO: a critic fitted to all pairs of returns and values beside one fitted to its own returns.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from torch import nn

ENVIRONMENTS, STEPS, UPDATES = 16, 5, 60


def network(outputs: int, *last: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, outputs), *last)


def gradient(loss: torch.Tensor, module: nn.Module) -> torch.Tensor:
    return torch.cat(
        [g.flatten() for g in torch.autograd.grad(loss, list(module.parameters()), retain_graph=True)]
    )


class Rollouts:
    def __init__(self, actor: nn.Module, critic: nn.Module) -> None:
        self.actor, self.critic = actor, critic
        self.environments = [gymnasium.make("CartPole-v1") for _ in range(ENVIRONMENTS)]
        self.states = np.stack([e.reset(seed=n)[0] for n, e in enumerate(self.environments)])

    def collect(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities [80] and advantages [80, 1]."""
        log_probs, values, rewards, goes_on = [], [], [], []
        for _ in range(STEPS):
            states = torch.as_tensor(self.states, dtype=torch.float32)
            dist = torch.distributions.Categorical(self.actor(states))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            values.append(self.critic(states))
            reward, mask = self._step(action.tolist())
            rewards.append(reward)
            goes_on.append(mask)
        with torch.no_grad():
            running = self.critic(torch.as_tensor(self.states, dtype=torch.float32))
            returns = []
            for reward, mask in zip(reversed(rewards), reversed(goes_on), strict=True):
                running = reward + 0.99 * running * mask
                returns.insert(0, running)
        return torch.cat(log_probs), torch.cat(returns) - torch.cat(values)

    def _step(self, actions: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        rows = []
        for number, (environment, action) in enumerate(zip(self.environments, actions, strict=True)):
            state, reward, terminated, truncated, _ = environment.step(action)
            done = terminated or truncated
            self.states[number] = environment.reset()[0] if done else state
            rows.append((float(reward), float(not done)))
        table = torch.tensor(rows)
        return table[:, :1], table[:, 1:]


def a2c() -> None:
    actor, critic = network(2, nn.Softmax(dim=1)), network(1)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)
    rollouts, cosines = Rollouts(actor, critic), []
    for update in range(1, UPDATES + 1):
        log_probs, advantage = rollouts.collect()
        loss = -(log_probs * advantage.detach()).mean()
        written = gradient(loss, actor)
        meant = gradient(-(log_probs * advantage.detach().squeeze(1)).mean(), actor)
        cosines.append(torch.cosine_similarity(written, meant, dim=0).item())
        if update in (1, 11, 31, UPDATES):
            print(f"| {update} | {written.norm():.3f} | {meant.norm():.3f} | {cosines[-1]:.3f} |")
        optimizer.zero_grad()
        (loss + 0.5 * advantage.pow(2).mean()).backward()
        optimizer.step()
    print(
        f"cosine below 0.5 in {sum(c < 0.5 for c in cosines)} of {UPDATES}, below 0 in {sum(c < 0 for c in cosines)}"
    )


def acer() -> None:
    policy, states, action = network(2, nn.Softmax(dim=1)), torch.randn(10, 4), torch.randint(2, (10, 1))
    probs = policy(states)
    first = -torch.rand(10, 1) * torch.log(probs.gather(1, action)) * torch.randn(10, 1)
    second = (-torch.rand(10, 2) * torch.log(probs) * torch.randn(10, 2)).sum(1)
    written = gradient((first + second).mean(), policy)
    meant = gradient((first.squeeze(1) + second).mean(), policy)
    print(
        f"ACER: {list((first + second).shape)}, relative difference {(written - meant).norm() / meant.norm():.2g}"
    )


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.policy, self.value = nn.Linear(256, 2), nn.Linear(256, 1)

    def forward(self, state: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.trunk(torch.as_tensor(state).unsqueeze(0))
        return self.policy(features).log_softmax(-1), self.value(features).squeeze()


def online_actor_critic(updates: int = 600) -> None:
    """One step, one update. As written, nothing of the temporal difference is a constant."""
    net, environment = Shared(), gymnasium.make("CartPole-v1")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    state, _ = environment.reset(seed=0)
    cosines: dict[str, list[float]] = {"value": [], "trunk": []}
    for _ in range(updates):
        log_probs, value = net(state)
        action = int(torch.distributions.Categorical(logits=log_probs).sample())
        following, reward, terminated, truncated, _ = environment.step(action)
        delta = reward + 0.99 * net(following)[1] * (not terminated) - value
        score = log_probs[0, action]
        written = -score * delta + delta**2
        target = (delta + value).detach()
        meant = -score * delta.detach() + (target - value) ** 2
        for name, part in (("value", net.value), ("trunk", net.trunk)):
            both = gradient(written, part), gradient(meant, part)
            cosines[name].append(torch.cosine_similarity(*both, dim=0).item())
        optimizer.zero_grad()
        written.backward()
        optimizer.step()
        state = environment.reset()[0] if terminated or truncated else following
    for name, found in cosines.items():
        median = sorted(found)[len(found) // 2]
        print(f"{name}: median cosine {median:.2f}, below 0 in {sum(c < 0 for c in found)} of {updates}")


def played(
    actor: nn.Module, environment: gymnasium.Env, state: np.ndarray, steps: int
) -> tuple[np.ndarray, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The last state, and of each step the state, the action and the return, standardised."""
    states, actions, rewards, ends = [], [], [], []
    for _ in range(steps):
        action = int(torch.distributions.Categorical(actor(torch.as_tensor(state).unsqueeze(0))).sample())
        following, reward, terminated, truncated, _ = environment.step(action)
        states.append(state)
        actions.append(action)
        rewards.append(float(reward))
        ends.append(terminated or truncated)
        state = environment.reset()[0] if ends[-1] else following
    returns, running = [], 0.0
    for reward, done in zip(reversed(rewards), reversed(ends), strict=True):
        running = reward + (0.0 if done else 0.99 * running)
        returns.insert(0, running)
    goal = torch.tensor(returns)
    goal = (goal - goal.mean()) / (goal.std() + 1e-5)
    return state, torch.as_tensor(np.stack(states)), torch.tensor(actions), goal


def textbook_ppo(updates: int = 60, size: int = 100, epochs: int = 4) -> None:
    """Returns [100] minus values [100, 1]: two critics on the same data, as written and as meant."""
    actor, environment = network(2, nn.Softmax(dim=1)), gymnasium.make("CartPole-v1")
    written, meant = network(1), network(1)
    meant.load_state_dict(written.state_dict())
    optimizers = [torch.optim.Adam(part.parameters(), lr=3e-4) for part in (actor, written, meant)]
    state, _ = environment.reset(seed=0)
    explained: dict[str, list[float]] = {"as written": [], "as meant": []}
    for _ in range(updates):
        state, seen, taken, goal = played(actor, environment, state, size)
        old = torch.distributions.Categorical(actor(seen)).log_prob(taken).detach()
        for _ in range(epochs):
            ratio = torch.exp(torch.distributions.Categorical(actor(seen)).log_prob(taken) - old)
            advantage = goal - meant(seen).detach().squeeze(1)
            surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            pairs = (goal - written(seen)).pow(2).mean()  # [100] − [100, 1]
            own = (goal - meant(seen).squeeze(1)).pow(2).mean()
            for optimizer in optimizers:
                optimizer.zero_grad()
            (pairs + own - surrogate).backward()
            for optimizer in optimizers:
                optimizer.step()
        for name, critic in (("as written", written), ("as meant", meant)):
            left = goal - critic(seen).detach().squeeze(1)
            explained[name].append(1 - float(left.var() / goal.var()))
    for name, found in explained.items():
        print(
            f"critic {name}: explains {100 * np.mean(found[updates // 2 :]):.0f} % of the returns' variance"
        )


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    a2c()
    acer()
    online_actor_critic()
    textbook_ppo()
