"""Option-critic in four rooms on a ring. The actor's loss on a move is sent back before the critic's step
changes the trunk.

Round 32
Class: late and rare
"""

import random
from collections import deque

import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical

ROOMS, OPTIONS, GAMMA, DELIBERATION = 12, 2, 0.95, 0.01


class Ring:
    """Walk a ring of rooms to the marked one; some moves fail. Forty moves and the light goes out."""

    def reset(self):
        self.room, self.goal, self.moves = random.randrange(ROOMS), random.randrange(ROOMS), 0
        return self.observation()

    def observation(self):
        angle = torch.tensor([self.room, self.goal]) * (2 * torch.pi / ROOMS)
        return torch.cat([angle.sin(), angle.cos(), torch.tensor([self.moves / 40])])

    def step(self, action):
        if random.random() > 0.1:
            self.room = (self.room + (1, -1, 0)[action]) % ROOMS
        self.moves += 1
        found = self.room == self.goal
        return self.observation(), float(found) - 0.02, found or self.moves == 40


class OptionCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.q = nn.Linear(hidden, OPTIONS)
        self.terminations = nn.Linear(hidden, OPTIONS)
        self.policies = nn.ModuleList([nn.Linear(hidden, 3) for _ in range(OPTIONS)])

    def act(self, state, option):
        dist = Categorical(logits=self.policies[option](state))
        action = dist.sample()
        return action.item(), dist.log_prob(action), dist.entropy()

    def termination(self, state, option):
        return torch.sigmoid(self.terminations(state)[..., option])


class Learner:
    def __init__(self):
        self.net = OptionCritic()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.memory = deque(maxlen=2000)

    def apply(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def option_target(self, option, reward, obs2, over):
        state2 = self.net.features(obs2)
        beta = torch.sigmoid(self.net.terminations(state2)).gather(-1, option).squeeze(-1)
        q2 = self.net.q(state2)
        onward = (1 - beta) * q2.gather(-1, option).squeeze(-1) + beta * q2.max(-1).values
        return reward + GAMMA * (1 - over) * onward

    def learn_critic(self, size=32):
        obs, option, reward, obs2, over = zip(*random.sample(self.memory, size))
        option = torch.tensor(option).unsqueeze(-1)
        target = self.option_target(option, torch.tensor(reward), torch.stack(obs2), torch.tensor(over))
        q = self.net.q(self.net.features(torch.stack(obs))).gather(-1, option).squeeze(-1)
        self.apply((q - target).pow(2).mean())

    def learn_actor(self, log_prob, entropy, transition):
        obs, option, reward, obs2, over = transition
        index, over = torch.tensor([option]), torch.tensor(over)
        target = self.option_target(index, torch.tensor(reward), obs2, over)
        with torch.no_grad():
            q, q2 = self.net.q(self.net.features(obs)), self.net.q(self.net.features(obs2))
        advantage2 = q2[option] - q2.max() + DELIBERATION
        beta = self.net.termination(self.net.features(obs2), option)
        policy_loss = -log_prob * (target - q[option]) - 0.01 * entropy
        self.apply(policy_loss + beta * advantage2 * (1 - over))


def main():
    random.seed(9)
    torch.manual_seed(9)
    env, learner = Ring(), Learner()
    obs, option, score, scores = env.reset(), None, 0.0, []
    for step in range(400):
        state = learner.net.features(obs)
        if option is None:
            explore = random.random() < 0.1
            option = random.randrange(OPTIONS) if explore else learner.net.q(state).argmax().item()
        action, log_prob, entropy = learner.net.act(state, option)
        obs2, reward, over = env.step(action)
        transition = (obs, option, reward, obs2, float(over))
        learner.memory.append(transition)
        learner.learn_actor(log_prob, entropy, transition)
        if len(learner.memory) >= 64 and step % 2 == 0:
            learner.learn_critic()

        score += reward
        with torch.no_grad():
            leave = Bernoulli(learner.net.termination(learner.net.features(obs2), option)).sample()
        obs = obs2
        if over or leave:
            option = None
        if over:
            scores.append(score)
            obs, score = env.reset(), 0.0
    print(f"{len(scores)} episodes, mean score {sum(scores) / len(scores):.2f}")


main()
