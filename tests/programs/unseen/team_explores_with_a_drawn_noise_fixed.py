"""MAVEN in small: a policy over a noise variable is asked once at the start of an episode, the team's utilities and
their mixing are conditioned on what it drew, and a discriminator keeps the draws apart.

Round 31
Class: weights
"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(3106)

AGENTS, STATES, ACTIONS, NOISE, LIMIT = 2, 6, 3, 4, 5
GAMMA, SYNC_EVERY, BATCH, EPISODES = 0.95, 10, 32, 90


class Meeting:
    """Rooms in a ring without an end, watched for LIMIT steps: the team moves when both choose alike, and some
    rooms pay more than others."""

    def __init__(self):
        self.pay = torch.randn(STATES, ACTIONS)

    def reset(self, batch):
        return torch.randint(STATES, (batch,))

    def step(self, state, actions):
        alike = actions[:, 0] == actions[:, 1]
        reward = torch.where(alike, self.pay[state, actions[:, 0]], torch.tensor(-0.5))
        return torch.where(alike, (state + 1 + actions[:, 0]) % STATES, state), reward


class NoisePolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATES, 16), nn.ReLU(), nn.Linear(16, NOISE))

    def forward(self, state):
        return Categorical(logits=self.net(state))


class AgentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(STATES + AGENTS, 32)
        self.head = nn.Linear(32, ACTIONS)
        self.by_noise = nn.Linear(NOISE, 32 * ACTIONS)

    def forward(self, state, noise):
        names = torch.eye(AGENTS).expand(len(state), AGENTS, AGENTS)
        inputs = torch.cat([state.unsqueeze(1).expand(-1, AGENTS, -1), names], dim=-1)
        features = torch.relu(self.body(inputs))
        weights = self.by_noise(noise).view(-1, 32, ACTIONS)
        return self.head(features) + torch.bmm(features, weights)


class Mixer(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.width = width
        self.w1, self.b1 = nn.Linear(STATES + NOISE, AGENTS * width), nn.Linear(STATES + NOISE, width)
        self.w2, self.b2 = nn.Linear(STATES + NOISE, width), nn.Linear(STATES + NOISE, 1)

    def forward(self, utilities, state, noise):
        context = torch.cat([state, noise], dim=-1)
        w1 = self.w1(context).abs().view(-1, AGENTS, self.width)
        hidden = F.elu(torch.bmm(utilities.unsqueeze(1), w1).squeeze(1) + self.b1(context))
        return (hidden * self.w2(context).abs()).sum(dim=-1) + self.b2(context).squeeze(-1)


class MAVEN:
    def __init__(self):
        self.z_policy = NoisePolicy()
        self.agent, self.mixer = AgentNet(), Mixer()
        self.target_agent, self.target_mixer = copy.deepcopy(self.agent), copy.deepcopy(self.mixer)
        self.discriminator = nn.Sequential(
            nn.Linear(STATES + AGENTS * ACTIONS, 32), nn.ReLU(), nn.Linear(32, NOISE)
        )
        self.eval_parameters = list(self.agent.parameters()) + list(self.mixer.parameters())
        self.eval_parameters += list(self.discriminator.parameters()) + list(self.z_policy.parameters())
        self.optimizer = torch.optim.RMSprop(self.eval_parameters, lr=1e-3)

    @torch.no_grad()
    def choose(self, state, noise, epsilon):
        greedy = self.agent(state, noise).argmax(dim=-1)
        return torch.where(torch.rand(greedy.shape) < epsilon, torch.randint(ACTIONS, greedy.shape), greedy)

    def learn(self, start, z, noise, steps):
        td_loss = mi_loss = 0.0
        for state, actions, reward, next_state in steps:
            q_all = self.agent(state, noise)
            q_taken = q_all.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
            q_total = self.mixer(q_taken, state, noise)
            with torch.no_grad():
                best = self.target_agent(next_state, noise).max(dim=-1).values
                later = self.target_mixer(best, next_state, noise)
                target = reward + GAMMA * later
            td_loss = td_loss + (q_total - target).pow(2).mean() / len(steps)
            told = torch.cat([state, q_all.softmax(dim=-1).flatten(1)], dim=-1)
            mi_loss = mi_loss + F.cross_entropy(self.discriminator(told), z) / len(steps)

        dist = self.z_policy(start)
        returns = sum(step[2] for step in steps)
        z_loss = -(dist.log_prob(z) * (returns - returns.mean())).mean() - 0.01 * dist.entropy().mean()

        loss = td_loss + 0.05 * mi_loss + z_loss
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.eval_parameters, 10.0)
        self.optimizer.step()
        return returns.mean().item(), loss.item()

    def sync(self):
        self.target_agent.load_state_dict(self.agent.state_dict())
        self.target_mixer.load_state_dict(self.mixer.state_dict())


def main():
    world, team = Meeting(), MAVEN()
    for episode in range(EPISODES):
        state = world.reset(BATCH)
        start = F.one_hot(state, STATES).float()
        with torch.no_grad():
            z = team.z_policy(start).sample()
        noise, steps = F.one_hot(z, NOISE).float(), []
        for _ in range(LIMIT):
            seen = F.one_hot(state, STATES).float()
            actions = team.choose(seen, noise, epsilon=max(0.05, 1 - episode / 60))
            state, reward = world.step(state, actions)
            steps.append((seen, actions, reward, F.one_hot(state, STATES).float()))
        returns, loss = team.learn(start, z, noise, steps)
        if episode % SYNC_EVERY == 0:
            team.sync()
        if episode % 30 == 0:
            print(f"episode {episode}: return {returns:.2f}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
