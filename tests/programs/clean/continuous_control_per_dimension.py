"""Log-probabilities with a column per dimension that are right: summed later, summed by hand, averaged in behaviour
cloning, weighed for each dimension; and rows that are chosen from, pooled and normalised on purpose."""

import torch
from torch import nn
from torch.distributions import Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

torch.manual_seed(9)
T, B, A = 4, 4, 3


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.mean = nn.Sequential(nn.Linear(5, 16), nn.Tanh()), nn.Linear(16, A)
        self.log_std = nn.Parameter(torch.zeros(A))

    def forward(self, obs):
        return Normal(self.mean(self.body(obs)), self.log_std.exp())


def summed_after_the_advantage(actor, obs, action, advantage):
    return -(actor(obs).log_prob(action) * advantage).sum(-1).mean()


def sequence_of_steps(actor, obs, action, advantage):
    """Log-probabilities of a whole sequence: summed over steps, weighed by sequence, summed over dimensions."""
    return -(actor(obs).log_prob(action).sum(0) * advantage).sum(-1).mean()


def ratio_of_sums(actor, obs, action, advantage):
    log_prob = actor(obs).log_prob(action)
    ratio = torch.exp((log_prob - log_prob.detach()).sum(1, keepdim=True))
    return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()


def squashed(actor, critic, obs):
    base = actor(obs)
    dist = TransformedDistribution(base, [TanhTransform(cache_size=1)])
    action = dist.rsample()
    log_prob = dist.log_prob(action).sum(-1)
    return (0.2 * log_prob - critic(torch.cat([obs, action], -1)).squeeze(-1)).mean()


def cloned(actor, obs, action, weight):
    log_prob = actor(obs).log_prob(action)
    return -log_prob.mean() - (weight * log_prob.sum(-1, keepdim=True)).mean()


def one_dimension(actor, obs, action, advantage):
    """A single dimension needs no sum: its column is the log-probability."""
    log_prob = Normal(actor(obs), 1.0).log_prob(action)
    return -((log_prob - log_prob.detach()).exp() * advantage).mean()


def over_many_objects(scorer, encoder, head, objects, action, target):
    """Max-pooling over objects and a pointer over them: chosen along rows, and used so."""
    pooled = encoder(objects).max(1)[0]
    pointer = scorer(objects).squeeze(-1).log_softmax(1).gather(1, action)
    return (head(pooled).gather(1, action) - target).pow(2).mean() - pointer.mean()


def routed(router, experts, x):
    """Mixture of experts, with a balance term that averages over the batch."""
    gate = router(x).softmax(-1)
    mixed = (gate.unsqueeze(1) * torch.stack([expert(x) for expert in experts], -1)).sum(-1)
    balance = (gate.mean(0) * gate.mean(0).log()).sum()
    return mixed.pow(2).mean() + 0.1 * balance


def optimistic(members, old, obs, action, reward):
    """The target is the largest value over members and actions; each member's action is gathered."""
    with torch.no_grad():
        ahead = torch.stack([member(obs) for member in old]).amax(0).amax(-1, keepdim=True)
        target = reward + 0.9 * ahead
    return sum((member(obs).gather(1, action) - target).pow(2).mean() for member in members)


actor, single, critic = Actor(), nn.Linear(5, 1), nn.Linear(5 + A, 1)
scorer, encoder, head = nn.Linear(5, 1), nn.Linear(5, 8), nn.Linear(8, A)
router, experts = nn.Linear(5, 3), nn.ModuleList(nn.Linear(5, 2) for _ in range(3))
members, old = (nn.ModuleList(nn.Linear(5, A) for _ in range(2)) for _ in range(2))
trained = nn.ModuleList([actor, single, critic, scorer, encoder, head, router, experts, members])
optimizer = torch.optim.SGD(trained.parameters(), lr=1e-3)
for step in range(6):
    obs, action, column = torch.randn(B, 5), torch.randn(B, A), torch.randn(B, 1)
    index = torch.randint(A, (B, 1))
    losses = [
        summed_after_the_advantage(actor, obs, action, column),
        sequence_of_steps(actor, torch.randn(T, B, 5), torch.randn(T, B, A), column),
        ratio_of_sums(actor, obs, action, column),
        squashed(actor, critic, obs),
        cloned(actor, obs, action, column.abs()),
        one_dimension(single, obs, torch.randn(B, 1), column),
        over_many_objects(scorer, encoder, head, torch.randn(B, 6, 5), index, column),
        routed(router, experts, obs),
        optimistic(members, old, obs, index, column),
    ]
    optimizer.zero_grad()
    torch.stack(losses).sum().backward()
    optimizer.step()
    for mine, theirs in zip(old.parameters(), members.parameters()):
        mine.data.lerp_(theirs.data, 0.01)
print(float(torch.stack(losses).sum()))
