"""Hard attention: a location network says where to look, the glimpse is drawn around its mean and scored for
REINFORCE. A detach of the drawn location was taken for unnecessary and removed: the score moves with the mean on
both of its sides, and the location network learns nothing.
Repaired here.

Round 19
Class: weights
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

WIDTH, PATCH, CLASSES = 32, 5, 3


def strips(count):
    """A long strip of noise with one of three marks somewhere in it, and a slope that points to it."""
    label = torch.randint(CLASSES, (count,))
    place = torch.randint(PATCH, WIDTH - PATCH, (count,))
    marks = torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, 1.0, 1.0]])
    grid = torch.arange(WIDTH).expand(count, WIDTH)
    image = 0.1 * torch.randn(count, WIDTH) + 0.05 * (place[:, None] - grid).sign()
    for offset in range(3):
        image[torch.arange(count), place + offset - 1] += 2 * marks[label, offset]
    return image, label


class GlimpseNetwork(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.what = nn.Linear(PATCH, hidden)
        self.where = nn.Linear(1, hidden)

    def forward(self, image, location):
        location = location.detach()
        middle = ((location.clamp(-1, 1) + 1) / 2 * (WIDTH - PATCH)).long()
        patch = image.gather(1, middle + torch.arange(PATCH))
        return F.relu(self.what(patch) + self.where(location))


class LocationNetwork(nn.Module):
    def __init__(self, hidden, std):
        super().__init__()
        self.std = std
        self.fc = nn.Linear(hidden, hidden // 2)
        self.fc_lt = nn.Linear(hidden // 2, 1)

    def forward(self, h_t):
        feat = F.relu(self.fc(h_t.detach()))
        mu = torch.tanh(self.fc_lt(feat))
        l_t = (mu + self.std * torch.randn_like(mu)).detach()
        log_pi = Normal(mu, self.std).log_prob(l_t).squeeze(1)
        return log_pi, l_t


class RecurrentAttention(nn.Module):
    def __init__(self, hidden=40, std=0.2):
        super().__init__()
        self.hidden = hidden
        self.sensor = GlimpseNetwork(hidden)
        self.rnn = nn.GRUCell(hidden, hidden)
        self.locator = LocationNetwork(hidden, std)
        self.classifier = nn.Linear(hidden, CLASSES)
        self.baseliner = nn.Linear(hidden, 1)

    def forward(self, image, num_glimpses):
        h_t, l_t = image.new_zeros(len(image), self.hidden), image.new_zeros(len(image), 1)
        log_pis, baselines = [], []
        for _ in range(num_glimpses):
            h_t = self.rnn(self.sensor(image, l_t), h_t)
            log_pi, l_t = self.locator(h_t)
            log_pis.append(log_pi)
            baselines.append(self.baseliner(h_t.detach()).squeeze(1))
        h_t = self.rnn(self.sensor(image, l_t), h_t)
        return F.log_softmax(self.classifier(h_t), dim=1), torch.stack(log_pis, 1), torch.stack(baselines, 1)


class Trainer:
    def __init__(self, num_glimpses=4):
        self.num_glimpses = num_glimpses
        self.model = RecurrentAttention()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def train_one_batch(self, x, y):
        self.optimizer.zero_grad()
        log_probas, log_pi, baselines = self.model(x, self.num_glimpses)
        correct = (log_probas.argmax(1) == y).float()
        reward = correct.unsqueeze(1).repeat(1, self.num_glimpses)
        loss_action = F.nll_loss(log_probas, y)
        loss_baseline = F.mse_loss(baselines, reward)
        adjusted_reward = reward - baselines.detach()
        loss_reinforce = torch.mean(torch.sum(-log_pi * adjusted_reward, dim=1))
        loss = loss_action + loss_baseline + 0.1 * loss_reinforce
        loss.backward()
        self.optimizer.step()
        return correct.mean().item()


torch.manual_seed(1903)
trainer = Trainer()
for epoch in range(60):
    accuracy = trainer.train_one_batch(*strips(48))
print(f"accuracy {accuracy:.2f}")
