"""Sequential updates of heterogeneous agents: the factor of those who were updated before is a column, the surrogate
of the next agent is flat, and each sample is weighed by everybody's factor.

Round 29
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Categorical

N_AGENTS, N_ACTIONS, OBS, ROLLOUT, GAMMA = 3, 4, 5, 48, 0.9


class Warehouse:
    """Every robot should go to the aisle that its part of the order names, and no two to the same one."""

    def __init__(self):
        self.orders = torch.randint(N_ACTIONS, (N_AGENTS,))

    def observe(self):
        one_hot = nn.functional.one_hot(self.orders, N_ACTIONS).float()
        return torch.cat([one_hot, one_hot.sum(0).max().expand(N_AGENTS, 1)], dim=1)

    def step(self, actions):
        hits = (actions == self.orders).float().sum()
        crashes = N_AGENTS - actions.unique().numel()
        self.orders = torch.randint(N_ACTIONS, (N_AGENTS,))
        return (hits - 0.5 * crashes).item()


def net(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, n_out))


class Happo:
    def __init__(self):
        self.actors = [net(OBS, N_ACTIONS) for _ in range(N_AGENTS)]
        self.critic = net(OBS * N_AGENTS, 1)
        self.actor_opts = [torch.optim.Adam(actor.parameters(), lr=3e-3) for actor in self.actors]
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    @torch.no_grad()
    def act(self, obs):
        dists = [Categorical(logits=actor(o)) for actor, o in zip(self.actors, obs)]
        actions = torch.stack([dist.sample() for dist in dists])
        return actions, torch.stack([dist.log_prob(a) for dist, a in zip(dists, actions)])

    def train(self, obs, actions, old_logp, rewards):
        with torch.no_grad():
            values = self.critic(obs.flatten(1)).squeeze(-1)
            returns = rewards[:-1] + GAMMA * values[1:]
            advantage = returns - values[:-1]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        obs, actions, old_logp = obs[:-1], actions[:-1], old_logp[:-1]
        factor = torch.ones(len(obs), 1)  # BUG GS601
        for i in torch.randperm(N_AGENTS).tolist():
            for _ in range(3):
                dist = Categorical(logits=self.actors[i](obs[:, i]))
                ratio = (dist.log_prob(actions[:, i]) - old_logp[:, i]).exp()
                surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
                loss = -(factor * surrogate).mean() - 0.01 * dist.entropy().mean()  # BUG GS601
                self.actor_opts[i].zero_grad()
                loss.backward()
                self.actor_opts[i].step()
            with torch.no_grad():
                new_logp = Categorical(logits=self.actors[i](obs[:, i])).log_prob(actions[:, i])
                factor = factor * (new_logp - old_logp[:, i]).exp().unsqueeze(-1)  # BUG GS601
        value_loss = (self.critic(obs.flatten(1)).squeeze(-1) - returns).pow(2).mean()
        self.critic_opt.zero_grad()
        value_loss.backward()
        self.critic_opt.step()


torch.manual_seed(2912)
env, team = Warehouse(), Happo()
for iteration in range(14):
    rows = []
    for _ in range(ROLLOUT):
        obs = env.observe()
        actions, logp = team.act(obs)
        rows.append((obs, actions, logp, torch.tensor(env.step(actions))))
    team.train(*map(torch.stack, zip(*rows)))
