"""Two optimizers: one for the network that proposes fractions, one for the quantiles. The fractions are proposed from an
embedding that is still alive, so their entropy and their own loss bend what the quantiles are made of.

Round 14
Class: the line
"""

import copy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Hyper:
    obs: int = 5
    actions: int = 2
    taus: int = 6
    width: int = 20
    gamma: float = 0.95
    ent_coef: float = 0.3
    tau: float = 0.02


class Embedding(nn.Sequential):
    def __init__(self, hyper):
        super().__init__(
            nn.Linear(hyper.obs, hyper.width), nn.ELU(), nn.Linear(hyper.width, hyper.width), nn.ELU()
        )


class Quantiles(nn.Module):
    def __init__(self, hyper):
        super().__init__()
        self.dqn_net = Embedding(hyper)
        self.mix = nn.Linear(1, hyper.width)
        self.out = nn.Linear(hyper.width, hyper.actions)

    def forward(self, embeddings, taus):
        return self.out(embeddings.unsqueeze(1) * torch.sigmoid(self.mix(taus.unsqueeze(-1))))


class Fractions(nn.Module):
    def __init__(self, hyper):
        super().__init__()
        self.logits = nn.Linear(hyper.width, hyper.taus)

    def forward(self, embeddings):
        log_probs = F.log_softmax(self.logits(embeddings), dim=1)
        probs = log_probs.exp()
        taus = F.pad(probs.cumsum(dim=1), (1, 0))
        return taus, (taus[:, :-1] + taus[:, 1:]).detach() / 2, -(probs * log_probs).sum(dim=1)


class FQFAgent:
    def __init__(self, hyper):
        self.hyper = hyper
        self.online, self.fractions = Quantiles(hyper), Fractions(hyper)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.fraction_optim = torch.optim.RMSprop(self.fractions.parameters(), lr=5e-4)
        self.quantile_optim = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.writer = []

    @staticmethod
    def chosen(quantiles, actions):
        return quantiles[torch.arange(len(actions)), :, actions]

    def calculate_fraction_loss(self, embeddings, taus, tau_hats, actions):
        with torch.no_grad():
            inner = self.chosen(self.online(embeddings, taus[:, 1:-1]), actions)
            hats = self.chosen(self.online(embeddings, tau_hats), actions)
            gradient_of_taus = 2 * inner - hats[:, 1:] - hats[:, :-1]
        return (gradient_of_taus * taus[:, 1:-1]).sum(dim=1).mean()

    def calculate_quantile_loss(self, embeddings, tau_hats, batch):
        with torch.no_grad():
            after = self.target(self.target.dqn_net(batch["next_obs"]), tau_hats)
            best = after.mean(dim=1).argmax(dim=1)
            alive = (1 - batch["dones"]).unsqueeze(1)
            goal = batch["rewards"].unsqueeze(1) + self.hyper.gamma * alive * self.chosen(after, best)
        errors = goal.unsqueeze(1) - self.chosen(
            self.online(embeddings, tau_hats), batch["actions"]
        ).unsqueeze(2)
        huber = torch.where(errors.abs() < 1, 0.5 * errors.pow(2), errors.abs() - 0.5)
        return ((tau_hats.unsqueeze(2) - (errors.detach() < 0).float()).abs() * huber).sum(dim=1).mean()

    def learn(self, batch):
        embeddings = self.online.dqn_net(batch["obs"])
        taus, tau_hats, entropies = self.fractions(embeddings)  # BUG GS304
        fraction_loss = self.calculate_fraction_loss(embeddings.detach(), taus, tau_hats, batch["actions"])
        quantile_loss = self.calculate_quantile_loss(embeddings, tau_hats, batch)
        entropy_loss = -self.hyper.ent_coef * entropies.mean()
        self.fraction_optim.zero_grad()
        self.quantile_optim.zero_grad()
        (fraction_loss + quantile_loss + entropy_loss).backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.fraction_optim.step()
        self.quantile_optim.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters(), strict=True):
                slow.lerp_(fast, self.hyper.tau)
        self.writer.append((fraction_loss.item(), quantile_loss.item(), entropy_loss.item()))


class Market:
    def __init__(self, hyper, size=400):
        obs = torch.randn(size, hyper.obs)
        actions = torch.randint(hyper.actions, (size,))
        held = actions.float() * 2 - 1
        self.data = {
            "obs": obs,
            "actions": actions,
            "rewards": held * obs[:, 0] + 0.4 * torch.randn(size) * obs[:, 1].abs(),
            "next_obs": 0.6 * obs + 0.6 * torch.randn(size, hyper.obs),
            "dones": (torch.rand(size) < 0.05).float(),
        }

    def sample(self, count=26):
        rows = torch.randint(len(self.data["obs"]), (count,))
        return {key: value[rows] for key, value in self.data.items()}


torch.manual_seed(1414)
hyper = Hyper()
agent, market = FQFAgent(hyper), Market(hyper)
for _ in range(60):
    agent.learn(market.sample())
print(agent.writer[-1])
