"""Imitation with a critic of the Wasserstein kind, whose weights are kept small by clamping their data. The clamp was
put after the loss and before its backward: the scores were made with one set of weights and are differentiated with
another.

Round 19
Class: hidden writes
"""

import torch
from torch import nn

CLIP, N_CRITIC, BATCH = 0.08, 3, 40


def critic_net(size):
    return nn.Sequential(
        nn.Linear(size, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)
    )


class Walker:
    """A point in a square wants to walk in circles, as its teacher does."""

    @staticmethod
    def states(count):
        return 2 * torch.rand(count, 2) - 1

    @staticmethod
    def teacher(state):
        turned = torch.stack([-state[:, 1], state[:, 0]], 1)
        return (turned[:, 0] > 0).long() * 2 + (turned[:, 1] > 0).long()


def pair(state, action):
    return torch.cat([state, nn.functional.one_hot(action, 4).float()], 1)


class WassersteinImitation:
    def __init__(self):
        self.policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4))
        self.critic = critic_net(6)
        self.opt_p = torch.optim.Adam(self.policy.parameters(), lr=5e-3)
        self.opt_c = torch.optim.RMSprop(self.critic.parameters(), lr=2e-3)

    def clamp_critic(self):
        for p in self.critic.parameters():
            p.data.clamp_(-CLIP, CLIP)  # BUG GS104

    def critic_step(self):
        shown, mine = Walker.states(BATCH), Walker.states(BATCH)
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=self.policy(mine)).sample()
        real = self.critic(pair(shown, Walker.teacher(shown)))
        fake = self.critic(pair(mine, action))
        loss = fake.mean() - real.mean()
        self.clamp_critic()  # BUG GS104
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        return -loss.item()

    def policy_step(self):
        state = Walker.states(BATCH)
        dist = torch.distributions.Categorical(logits=self.policy(state))
        action = dist.sample()
        with torch.no_grad():
            score = self.critic(pair(state, action)).squeeze(1)
            score = (score - score.mean()) / (score.std() + 1e-8)
        loss = -(dist.log_prob(action) * score).mean()
        self.opt_p.zero_grad()
        loss.backward()
        self.opt_p.step()
        return (action == Walker.teacher(state)).float().mean().item()


torch.manual_seed(1915)
imitation = WassersteinImitation()
for iteration in range(60):
    for _ in range(N_CRITIC):
        distance = imitation.critic_step()
    agreement = imitation.policy_step()
    if iteration % 20 == 19:
        print(f"{iteration}: distance {distance:.4f}, agreement {agreement:.2f}")
