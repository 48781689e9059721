"""The temperature is a plain tensor, wrapped into a list of parameters for its optimizer: the list makes a parameter of
its own out of it, the loss fills the tensor's gradient, and the temperature never moves.

Round 15
Class: weights
"""

import copy
from functools import partial

import torch
from torch import nn
from torch.distributions import Independent, Normal

torch.manual_seed(1501)
OBS, ACT, BATCH = 6, 3, 40
make_optim = partial(torch.optim.Adam, lr=3e-3)


class AutoAlpha(nn.Module):
    """Entropy coefficient that follows a target entropy."""

    def __init__(self, target_entropy, log_alpha=0.0):
        super().__init__()
        self._target_entropy = target_entropy
        self._log_alpha = torch.tensor(log_alpha, requires_grad=True)  # BUG GS205 GS206
        self._optim = make_optim(nn.ParameterList([self._log_alpha]).parameters())  # BUG GS204 GS205 GS206

    @property
    def value(self):
        return self._log_alpha.detach().exp().item()

    def update(self, entropy):
        loss = (self._log_alpha * (entropy - self._target_entropy)).mean()
        self._optim.zero_grad()
        loss.backward()
        self._optim.step()
        return loss.item()


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(OBS, 48), nn.ReLU())
        self.mu, self.sigma = nn.Linear(48, ACT), nn.Linear(48, ACT)

    def forward(self, obs):
        hidden = self.trunk(obs)
        dist = Independent(Normal(self.mu(hidden), self.sigma(hidden).clamp(-5, 2).exp()), 1)
        raw = dist.rsample()
        squashed = torch.tanh(raw)
        correction = torch.log(1 - squashed.pow(2) + 1e-6).sum(-1)
        return squashed, dist.log_prob(raw) - correction


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(OBS + ACT, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, obs, action):
        return self.net(torch.cat([obs, action], -1)).squeeze(-1)


class SAC:
    def __init__(self, alpha):
        self.actor, self.critics = Actor(), nn.ModuleList([Critic(), Critic()])
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.actor_optim = make_optim(self.actor.parameters())
        self.critic_optim = make_optim(self.critics.parameters())
        self.alpha = alpha

    def learn(self, obs, action, reward, after, ended):
        with torch.no_grad():
            next_action, next_log_prob = self.actor(after)
            lowest = torch.min(*[target(after, next_action) for target in self.targets])
            goal = reward + 0.97 * (1 - ended) * (lowest - self.alpha.value * next_log_prob)
        critic_loss = sum((critic(obs, action) - goal).pow(2).mean() for critic in self.critics)
        self.critic_optim.zero_grad()
        critic_loss.backward()
        self.critic_optim.step()

        chosen, log_prob = self.actor(obs)
        value = torch.min(*[critic(obs, chosen) for critic in self.critics])
        actor_loss = (self.alpha.value * log_prob - value).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
        alpha_loss = self.alpha.update(-log_prob.detach())
        with torch.no_grad():
            for slow, fast in zip(self.targets.parameters(), self.critics.parameters()):
                slow.lerp_(fast, 0.01)
        return {"critic": critic_loss.item(), "actor": actor_loss.item(), "alpha": alpha_loss}


agent = SAC(AutoAlpha(target_entropy=-float(ACT)))
for update in range(60):
    obs, action = torch.randn(BATCH, OBS), torch.rand(BATCH, ACT) * 2 - 1
    after = 0.9 * obs + 0.1 * action.repeat(1, 2)
    reward, ended = -after.pow(2).mean(-1), (torch.rand(BATCH) < 0.05).float()
    stats = agent.learn(obs, action, reward, after, ended)
    if update % 20 == 0:
        print(update, agent.alpha.value, stats)
