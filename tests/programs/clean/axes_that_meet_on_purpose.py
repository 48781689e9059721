"""Broadcasts and reductions over rows that are right: pairs of quantiles, an ensemble along a new axis, attention,
masked token losses, agents with advantages of their own, groups, a KL per dimension that is summed later."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

torch.manual_seed(5)
B, T, A, N, E, G = 6, 5, 3, 7, 4, 3


class Dueling(nn.Module):
    """Distributional and dueling: the mean runs over the actions of `[B, A, N]`."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.value, self.advantage = nn.Linear(16, N), nn.Linear(16, A * N)

    def forward(self, obs):
        hidden = self.trunk(obs)
        each = self.advantage(hidden).view(-1, A, N)
        return self.value(hidden).view(-1, 1, N) + each - each.mean(1, keepdim=True)


def quantile_loss(net, old, obs, action, reward, following):
    """QR-DQN: predictions along axis 1, targets along axis 2, a level for every prediction."""
    levels = ((torch.arange(N) + 0.5) / N).view(1, N, 1)
    with torch.no_grad():
        ahead = old(following)
        target = reward[:, None] + 0.9 * ahead[torch.arange(B), ahead.mean(-1).argmax(1)]
    error = target.unsqueeze(1) - net(obs)[torch.arange(B), action].unsqueeze(2)
    huber = F.huber_loss(error, torch.zeros_like(error), reduction="none")
    return ((levels - (error.detach() < 0).float()).abs() * huber).sum(1).mean()


def truncated_quantile_loss(nets, obs):
    """TQC: `[E, B, N]` sorted together; the targets lie along the last axis but one."""
    predicted = torch.stack([net(obs) for net in nets], 1)
    with torch.no_grad():
        kept = torch.stack([net(obs) for net in nets], 1).flatten(1).sort(-1)[0][:, : 2 * N]
    error = kept[:, None, None, :] - predicted[:, :, :, None]
    level = ((torch.arange(N) + 0.5) / N)[None, None, :, None]
    return ((level - (error < 0).float()).abs() * error.abs()).mean()


def categorical_loss(head, obs, action):
    """C51: a softmax over the atoms of `[B, A, N]`, an expectation over them."""
    log_probs = head(obs).view(B, A, N).log_softmax(-1)
    chosen = log_probs[torch.arange(B), action]
    return -(torch.full((B, N), 1 / N) * chosen).sum(-1).mean()


def pooled_value(score, body, value, sets):
    """Attention over the members of a set: the softmax runs over rows, and so does the sum behind it."""
    weight = score(sets).softmax(1)
    return value((weight * body(sets)).sum(1)).squeeze(-1).pow(2).mean()


def token_loss(head, hidden, tokens, mask, advantage):
    log_probs = Categorical(logits=head(hidden)).log_prob(tokens)
    ratio = (log_probs - log_probs.detach()).exp()
    surrogate = torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None])
    return -((surrogate * mask).sum(1) / mask.sum(1)).mean()


def group_loss(head, prompts, rewards):
    """GRPO: rewards of one prompt's answers are normalised along the group."""
    advantage = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    dist = Categorical(logits=head(prompts)[:, None].expand(-1, G, -1))
    return -(dist.log_prob(dist.sample()) * advantage).mean()


def agents_loss(actor, obs, advantage):
    """Agents along axis 1, two action dimensions each: summed over the dimensions, not over the agents."""
    dist = Normal(actor(obs), 1.0)
    action = dist.sample()
    log_prob = dist.log_prob(action).sum(-1)
    ratio = (log_prob - log_prob.detach()).exp()
    return -(ratio * advantage).mean() - 0.01 * dist.entropy().sum(-1).mean()


def soft_actor_loss(actor, critics, obs):
    dist = Normal(actor(obs), 0.3)
    raw = dist.rsample()
    log_prob = (dist.log_prob(raw) - torch.log(1 - raw.tanh().pow(2) + 1e-6)).sum(1, keepdim=True)
    values = torch.stack([critic(torch.cat([obs, raw.tanh()], -1)) for critic in critics])
    return (0.1 * log_prob - values.min(0)[0]).mean()


def ensemble_loss(members, obs, target):
    """`[E, B, 1]` against one target `[B, 1]`, and a layer whose units are members against the same."""
    stacked = torch.stack([member(obs) for member in members])
    return (stacked - target).pow(2).mean() + stacked.mean(0).pow(2).mean()


def trust_region(actor, obs, weight):
    """A KL per dimension that is summed before it meets a weight per sample."""
    dist = Normal(actor(obs), 1.0)
    old = Normal(dist.loc.detach(), 1.0)
    each = kl_divergence(old, dist)
    return (each.sum(-1, keepdim=True) * weight).mean()


def rollout_loss(actor, critic, obs, returns):
    """Steps by environments, `[T, N]`."""
    dist = Independent(Normal(actor(obs), 1.0), 1)
    advantage = returns - critic(obs).squeeze(-1).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    log_prob = dist.log_prob(dist.sample())
    ratio = (log_prob - log_prob.detach()).exp()
    return -(ratio * advantage).mean() + (returns - critic(obs).squeeze(-1)).pow(2).mean()


def by_hand(net, obs):
    """Layer norm written out, then a contrastive softmax along both axes of `[B, B]`."""
    x = net(obs)
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
    alike = x @ x.t()
    labels = torch.arange(B)
    rows, columns = alike.log_softmax(1), alike.log_softmax(0)
    return -(rows[labels, labels] + columns[labels, labels]).mean()


net, old = Dueling(), Dueling()
tqc = nn.ModuleList(nn.Linear(4, N) for _ in range(2))
atoms, tokens, prompt = nn.Linear(4, A * N), nn.Linear(4, 9), nn.Linear(4, A)
score, body, value = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 1)
actor, soft, critic = nn.Linear(4, 2), nn.Linear(4, 2), nn.Linear(4, 1)
critics = nn.ModuleList(nn.Linear(6, 1) for _ in range(2))
members = nn.ModuleList(nn.Linear(4, 1) for _ in range(E))
plain = nn.Linear(4, 8)
trained = nn.ModuleList(
    [net, tqc, atoms, tokens, prompt, score, body, value, actor, soft, critic, critics, members, plain]
)
optimizer = torch.optim.Adam(trained.parameters(), lr=1e-3)
for step in range(6):
    obs, action = torch.randn(B, 4), torch.randint(A, (B,))
    mask = (torch.arange(T)[None] < torch.randint(2, T + 1, (B, 1))).float()
    losses = [
        quantile_loss(net, old, obs, action, torch.randn(B), torch.randn(B, 4)),
        truncated_quantile_loss(tqc, obs),
        categorical_loss(atoms, obs, action),
        pooled_value(score, body, value, torch.randn(B, T, 4)),
        token_loss(tokens, torch.randn(B, T, 4), torch.randint(9, (B, T)), mask, torch.randn(B)),
        group_loss(prompt, obs, torch.randn(B, G)),
        agents_loss(actor, torch.randn(B, N, 4), torch.randn(B, N)),
        soft_actor_loss(soft, critics, obs),
        ensemble_loss(members, obs, torch.randn(B, 1)),
        trust_region(actor, obs, torch.rand(B, 1)),
        rollout_loss(actor, critic, torch.randn(T, N, 4), torch.randn(T, N)),
        by_hand(plain, obs),
    ]
    optimizer.zero_grad()
    torch.stack(losses).sum().backward()
    optimizer.step()
print(float(torch.stack(losses).sum()))
