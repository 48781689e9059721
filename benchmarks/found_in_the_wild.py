"""The measurements of three entries of docs/found-in-the-wild.md, without gradsan.

    python benchmarks/found_in_the_wild.py

A2C: the actor's gradient as public copies write it ([80] * [80, 1]) beside the one that is meant.
ACER: the gradient of a mean over pairs beside that of a mean over samples.
One-step actor-critic: the gradient with a live TD error beside the one where target and advantage are constants.
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


class SharedTrunk(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.logits, self.value = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, state: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        trunk = self.body(torch.as_tensor(state, dtype=torch.float32))
        return self.logits(trunk), self.value(trunk).squeeze(-1)


def one_step(episodes: int = 40) -> None:
    network = SharedTrunk()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    environment, rows = gymnasium.make("CartPole-v1"), []
    for episode in range(episodes):
        (state, _), done = environment.reset(seed=episode), False
        while not done:
            logits, value = network(state)
            dist = torch.distributions.Categorical(logits=logits)
            action = dist.sample()
            state, reward, ended, cut, _ = environment.step(action.item())
            done = ended or cut
            following = network(state)[1] * (not done)
            live = float(reward) + 0.99 * following - value
            error = float(reward) + 0.99 * following.detach() - value
            loss = live.pow(2) - dist.log_prob(action) * live
            written = gradient(loss, network)
            meant = gradient(error.pow(2) - dist.log_prob(action) * error.detach(), network)
            cosine = torch.cosine_similarity(written, meant, dim=0)
            rows.append([written.norm().item() / meant.norm().item(), cosine.item()])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    sizes, cosines = np.array(rows).T
    print(
        f"one step: {len(rows)} updates, median cosine {np.median(cosines):.2f}, below 0 in {(cosines < 0).sum()}; "
        f"median size {np.median(sizes):.2f} of what is meant"
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    a2c()
    acer()
    one_step()
