"""The centralised critic is asked once, in front of the mini-epochs, and the advantages keep its graph: the loss of the
actors goes through it in the first mini-epoch, and the second finds it freed.
Repaired here.

Round 24
Class: the line
"""

from types import SimpleNamespace

import torch as th
import torch.nn as nn
from torch.optim import Adam

args = SimpleNamespace(
    n_agents=3, n_actions=4, obs_dim=5, state_dim=8, hidden=32, batch=10, limit=8, gamma=0.95, lr=2e-3, eps_clip=0.2,
    mini_epochs=2, entropy_coef=0.01, seed=2415,
)  # fmt: skip


class Foragers:
    """Three foragers, four directions; the team is paid for every forager that walks towards the food."""

    def __init__(self, generator):
        self.generator = generator

    def reset(self):
        self.place = th.rand(args.batch, args.n_agents, 2, generator=self.generator) * 2 - 1
        self.food = th.rand(args.batch, 2, generator=self.generator) * 2 - 1

    def get_obs(self):
        away = self.food.unsqueeze(1) - self.place
        names = th.linspace(-1, 1, args.n_agents).view(1, -1, 1).expand(args.batch, -1, 1)
        return th.cat([self.place, away, names], dim=-1)

    def get_state(self):
        return th.cat([self.place.flatten(1), self.food], dim=1)

    def step(self, actions):
        moves = th.tensor([[0.2, 0.0], [-0.2, 0.0], [0.0, 0.2], [0.0, -0.2]])
        before = (self.place - self.food.unsqueeze(1)).norm(dim=-1)
        self.place = self.place + moves[actions]
        after = (self.place - self.food.unsqueeze(1)).norm(dim=-1)
        return (before - after).sum(dim=1)


class PPOLearner:
    def __init__(self):
        self.mac = nn.Sequential(
            nn.Linear(args.obs_dim, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.n_actions)
        )
        self.critic = nn.Sequential(
            nn.Linear(args.state_dim, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 1)
        )
        self.agent_optimiser = Adam(self.mac.parameters(), lr=args.lr)
        self.critic_optimiser = Adam(self.critic.parameters(), lr=args.lr)

    def train(self, batch):
        with th.no_grad():
            old_log_pi = th.log_softmax(self.mac(batch.obs), dim=-1).gather(-1, batch.actions).squeeze(-1)
            returns = self.build_returns(batch.reward)
        values = self.critic(batch.state).squeeze(-1)
        advantages = returns - values.detach()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        advantages = advantages.unsqueeze(-1)  # one for the team

        for _ in range(args.mini_epochs):
            logits = self.mac(batch.obs)
            log_pi = th.log_softmax(logits, dim=-1)
            taken = log_pi.gather(-1, batch.actions).squeeze(-1)
            ratios = th.exp(taken - old_log_pi)
            surr1 = ratios * advantages
            surr2 = ratios.clamp(1 - args.eps_clip, 1 + args.eps_clip) * advantages
            entropy = -(log_pi.exp() * log_pi).sum(-1).mean()
            actor_loss = -th.min(surr1, surr2).mean() - args.entropy_coef * entropy
            self.agent_optimiser.zero_grad()
            actor_loss.backward()
            nn.utils.clip_grad_norm_(self.mac.parameters(), 10.0)
            self.agent_optimiser.step()

            critic_loss = (self.critic(batch.state).squeeze(-1) - returns).pow(2).mean()
            self.critic_optimiser.zero_grad()
            critic_loss.backward()
            self.critic_optimiser.step()
        return actor_loss.item(), critic_loss.item()

    def build_returns(self, reward):
        returns, running = th.zeros_like(reward), th.zeros(args.batch)
        for t in reversed(range(args.limit)):
            running = reward[t] + args.gamma * running
            returns[t] = running
        return returns


def run_episode(env, mac):
    env.reset()
    store = {"obs": [], "state": [], "actions": [], "reward": []}
    for _ in range(args.limit):
        obs, state = env.get_obs(), env.get_state()
        with th.no_grad():
            actions = th.distributions.Categorical(logits=mac(obs)).sample()
        for name, value in zip(store, (obs, state, actions.unsqueeze(-1), env.step(actions))):
            store[name].append(value)
    return SimpleNamespace(**{name: th.stack(values) for name, values in store.items()})


th.manual_seed(args.seed)
env, learner = Foragers(th.Generator().manual_seed(15)), PPOLearner()
for episode in range(30):
    batch = run_episode(env, learner.mac)
    losses = learner.train(batch)
print("team reward", round(batch.reward.sum(0).mean().item(), 3), "losses", [round(x, 4) for x in losses])
