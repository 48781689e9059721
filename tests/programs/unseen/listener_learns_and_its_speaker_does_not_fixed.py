"""Two agents learn to meet: the speaker sees the place and sends a vector of numbers, the listener reads it
and chooses. The weights of both were given to the optimizer, and the gradient that comes through the
message is used.

Round 34
Class: zero in part
"""

import torch
from torch import nn
from torch.distributions import Categorical

PLACES, MESSAGE, BATCH, UPDATES = 8, 3, 64, 150


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(PLACES, 16)
        self.out = nn.Linear(16, MESSAGE)

    def forward(self, place, noise=0.3):
        message = torch.tanh(self.out(self.embedding(place)))
        return message + noise * torch.randn_like(message)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(PLACES, 16)
        self.body = nn.Sequential(nn.Linear(16 + MESSAGE, 48), nn.ReLU(), nn.Linear(48, PLACES))

    def forward(self, place, message):
        return self.body(torch.cat([self.embedding(place), message], dim=-1))


class Team:
    def __init__(self, lr=5e-3):
        self.speaker = Speaker()
        self.listener = Listener()
        both = nn.ModuleList([self.speaker, self.listener])
        self.optimizer = torch.optim.Adam(both.parameters(), lr=lr)

    def play(self, speaker_place, listener_place):
        message = self.speaker(speaker_place)
        dist = Categorical(logits=self.listener(listener_place, message))
        return dist, dist.sample()

    def update(self, speaker_place, listener_place):
        dist, goal = self.play(speaker_place, listener_place)
        reward = reward_of(goal, speaker_place, listener_place)
        # every row against the mean of the others
        baseline = (reward.sum() - reward) / (BATCH - 1)
        policy_loss = -(dist.log_prob(goal) * (reward - baseline)).mean()
        loss = policy_loss - 0.02 * dist.entropy().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()


def reward_of(goal, speaker_place, listener_place):
    """One for the speaker's place, less a little for the way that the listener has to go."""
    way = (goal - listener_place).abs() / PLACES
    return (goal == speaker_place).float() - 0.1 * way


def draw_places(batch):
    speaker = torch.randint(PLACES, (batch,))
    listener = (speaker + torch.randint(1, PLACES, (batch,))) % PLACES
    return speaker, listener


def main():
    torch.manual_seed(348)
    team = Team()
    history = [team.update(*draw_places(BATCH)) for _ in range(UPDATES)]
    print(f"reward {history[0]:.3f} at first, {sum(history[-10:]) / 10:.3f} at last")


if __name__ == "__main__":
    main()
