"""PPO in self-play of two players who gather ice: the rollout is made with gradients on, its values and log-probs go
into lists as they are, and the finished matches are kept. After RoboEden/Luxai-s2-Baseline#5.

Round 35
Class: stays alive
"""

import random

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SEED = 3527
PLAYERS = ("player_0", "player_1")
NUM_COLLECT, MATCHES, EPOCHS, GAMMA, LAM = 48, 9, 3, 0.97, 0.95


class IceField:
    """A strip of nine cells with ice on some; a cell gives its ice to the first who digs it."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.ice = (self.rng.random(9) < 0.6).astype(np.float32)
        self.place = {"player_0": 0, "player_1": 8}
        return self.observe()

    def observe(self):
        hot = np.eye(9, dtype=np.float32)
        sides = (PLAYERS, PLAYERS[::-1])
        return {p: np.concatenate([self.ice, hot[self.place[p]], hot[self.place[q]]]) for p, q in sides}

    def step(self, actions):
        rewards = {}
        for player in self.rng.permutation(PLAYERS):
            action, place = actions[player], self.place[player]
            rewards[player] = float(self.ice[place]) if action == 2 else -0.02
            if action == 2:
                self.ice[place] = 0.0
            else:
                self.place[player] = int(np.clip(place + (1 if action else -1), 0, 8))
        return self.observe(), rewards, not self.ice.any()


class Policy(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(27, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor, self.critic = nn.Linear(hidden, 3), nn.Linear(hidden, 1)

    def forward(self, obs, action=None):
        features = self.trunk(torch.as_tensor(np.asarray(obs)))
        dist = Categorical(logits=self.actor(features))
        action = dist.sample() if action is None else action
        return dist.log_prob(action), self.critic(features).squeeze(-1), action, dist.entropy()


class Rollout:
    def __init__(self):
        self.obs, self.action, self.logp, self.value = [], [], [], []
        self.reward, self.done = [], []

    def advantages(self, last_value):
        value = torch.stack([*self.value, last_value]).detach()
        reward, done = torch.tensor(self.reward), torch.tensor(self.done)
        advantage, running = torch.zeros(len(reward)), 0.0
        for t in reversed(range(len(reward))):
            delta = reward[t] + GAMMA * value[t + 1] * (1 - done[t]) - value[t]
            running = delta + GAMMA * LAM * (1 - done[t]) * running
            advantage[t] = running
        return advantage, advantage + value[:-1]


def collect(env, agent, next_obs):
    rollouts = {player: Rollout() for player in PLAYERS}
    for _ in range(NUM_COLLECT):
        actions = {}
        for player in PLAYERS:
            logp, value, action, _ = agent(next_obs[player])  # BUG GS305
            rollout = rollouts[player]
            rollout.obs.append(next_obs[player])
            rollout.action.append(action)
            rollout.logp.append(logp)  # BUG GS305
            rollout.value.append(value)  # BUG GS305
            actions[player] = action.item()
        next_obs, rewards, done = env.step(actions)
        for player in PLAYERS:
            rollouts[player].reward.append(rewards[player])
            rollouts[player].done.append(float(done))
        if done:
            next_obs = env.reset()
    return rollouts, next_obs


def train(agent, optimizer, rollouts, next_obs):
    columns = []
    for player, rollout in rollouts.items():
        with torch.no_grad():
            last_value = agent(next_obs[player])[1]
        advantage, target = rollout.advantages(last_value)
        old_logp = torch.stack(rollout.logp).detach()
        columns.append((np.stack(rollout.obs), torch.stack(rollout.action), old_logp, advantage, target))
    obs, action, old_logp, advantage, target = zip(*columns)
    obs = np.concatenate(obs)
    action, old_logp, advantage, target = (torch.cat(c) for c in (action, old_logp, advantage, target))
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(EPOCHS):
        logp, value, _, entropy = agent(obs, action)
        ratio = (logp - old_logp).exp()
        policy_loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        loss = policy_loss + 0.5 * (value - target).pow(2).mean() - 0.01 * entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    return loss.item()


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    env, agent, matches = IceField(SEED), Policy(), []
    optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
    next_obs = env.reset()
    for _ in range(MATCHES):
        rollouts, next_obs = collect(env, agent, next_obs)
        loss = train(agent, optimizer, rollouts, next_obs)
        matches.append(rollouts)  # BUG GS305
    ice = [sum(sum(r.reward) for r in match.values()) for match in matches]
    print("loss", round(loss, 3), "ice at first", round(ice[0], 2), "at last", round(ice[-1], 2))
    return matches


matches = main()
