"""Token losses with masks and weights that are right: importance weights, advantages times the mask, tokens that count
double, terms over a prompt, over what follows a first mistake, over rows of their own length; label smoothing."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
VOCABULARY, PAD, ROWS, PLACES = 11, 0, 8, 10


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 16)
        self.memory = nn.GRU(16, 16, batch_first=True)
        self.head, self.value = nn.Linear(16, VOCABULARY), nn.Linear(16, 1)

    def forward(self, tokens):
        hidden, _ = self.memory(self.embed(tokens))
        return Categorical(logits=self.head(hidden)), self.value(hidden).squeeze(-1)


model = Model()
reference = copy.deepcopy(model).requires_grad_(False)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)


def batch(padded=True):
    tokens = torch.randint(1, VOCABULARY, (ROWS, PLACES + 1))
    lengths = torch.randint(3, PLACES + 1, (ROWS, 1))
    return tokens.masked_fill(torch.arange(PLACES + 1) > lengths, PAD) if padded else tokens


def learn(loss):
    opt.zero_grad()
    loss.backward()
    opt.step()


def mean_over(values, weights):
    return (values * weights).sum() / weights.sum()


def importance_weights():
    tokens = batch()
    mask = (tokens[:, 1:] != PAD).float()
    dist, value = model(tokens[:, :-1])
    weights = torch.rand(ROWS, PLACES).mul(2.0) * mask
    learn(-mean_over(dist.log_prob(tokens[:, 1:]), weights) + mean_over(value.pow(2), mask))


def advantages_times_mask():
    tokens = batch()
    mask = (tokens[:, 1:] != PAD).float()
    dist, value = model(tokens[:, :-1])
    advantage = torch.randn(ROWS, PLACES) * mask
    policy = -(dist.log_prob(tokens[:, 1:]) * advantage).sum() / mask.sum()
    learn(policy + 0.5 * ((value - 1.0).pow(2) * mask).sum(1).div(mask.sum(1)).mean())


def answers_count_double():
    tokens = batch()
    mask = (tokens[:, 1:] != PAD).float()
    weights = mask + mask * (tokens[:, 1:] > 6)
    dist, _ = model(tokens[:, :-1])
    learn(-mean_over(dist.log_prob(tokens[:, 1:]), weights) - 0.01 * mean_over(dist.entropy(), mask))


def up_to_a_first_mistake():
    tokens = batch(padded=False)
    right = torch.arange(PLACES) < torch.randint(2, PLACES + 1, (ROWS, 1))
    dist, _ = model(tokens[:, :-1])
    with torch.no_grad():
        kept = reference(tokens[:, :-1])[0].log_prob(tokens[:, 1:])
    score = dist.log_prob(tokens[:, 1:])
    away = (kept - score).exp() - (kept - score) - 1
    learn(-mean_over(score, right) + 0.05 * away.mean())  # the reference holds everywhere


def language_model_over_the_prompt():
    tokens = batch(padded=False)
    answer = (torch.arange(PLACES) >= torch.randint(2, PLACES - 1, (ROWS, 1))).float()
    dist, _ = model(tokens[:, :-1])
    score = dist.log_prob(tokens[:, 1:])
    learn(-mean_over(score * torch.randn(ROWS, 1), answer) - 0.1 * score.mean())


def chosen_by_index():
    tokens = batch()
    mask = tokens[:, 1:] != PAD
    dist, value = model(tokens[:, :-1])
    policy = -(dist.log_prob(tokens[:, 1:]) * mask).sum() / mask.sum()
    bonus = dist.entropy()[mask].mean()
    fitted = torch.where(mask, (value - 0.5).pow(2), 0.0).sum() / mask.sum()
    learn(policy - 0.01 * bonus + fitted)


def smoothed_labels():
    tokens = batch()
    mask = (tokens[:, 1:] != PAD).float()
    dist, _ = model(tokens[:, :-1])
    each = F.cross_entropy(
        dist.logits.flatten(0, 1),
        tokens[:, 1:].flatten(),
        ignore_index=PAD,
        label_smoothing=0.1,
        reduction="none",
    ).view(ROWS, PLACES)
    learn(each.sum() / mask.sum() - 0.01 * mean_over(dist.entropy(), mask))


def masked_before():
    tokens = batch()
    mask = (tokens[:, 1:] != PAD).float()
    dist, value = model(tokens[:, :-1])
    score, spread = dist.log_prob(tokens[:, 1:]) * mask, dist.entropy().masked_fill(mask == 0, 0.0)
    learn(
        -(score.sum(1) * torch.randn(ROWS)).mean()
        - 0.01 * spread.sum() / mask.sum()
        + 0.1 * (value * mask).sum()
    )


for _ in range(4):
    for one in (
        importance_weights,
        advantages_times_mask,
        answers_count_double,
        up_to_a_first_mistake,
        language_model_over_the_prompt,
        chosen_by_index,
        smoothed_labels,
        masked_before,
    ):
        one()
