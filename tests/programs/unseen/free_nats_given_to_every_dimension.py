"""A world model forgives a few nats of divergence: they are granted to every latent dimension before the sum, none of
which ever needs that many, and the prior of the dynamics receives nothing but zeros.

Round 14
Class: zero in part
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

BELIEF, LATENT, ACTION, OBS, EMBED = 16, 40, 2, 6, 12
CHUNK, BATCH, FREE_NATS = 10, 7, 1.5


def bottle(module, *inputs):
    steps, batch = inputs[0].shape[:2]
    out = module(torch.cat([x.flatten(0, 1) for x in inputs], dim=-1))
    return out.view(steps, batch, *out.shape[1:])


class TransitionModel(nn.Module):
    min_std_dev = 0.2

    def __init__(self):
        super().__init__()
        self.embed_state_action = nn.Linear(LATENT + ACTION, BELIEF)
        self.rnn = nn.GRUCell(BELIEF, BELIEF)
        self.prior = nn.Sequential(nn.Linear(BELIEF, 24), nn.ELU(), nn.Linear(24, 2 * LATENT))
        self.posterior = nn.Sequential(nn.Linear(BELIEF + EMBED, 24), nn.ELU(), nn.Linear(24, 2 * LATENT))

    def distribution(self, head, x):
        mean, raw = head(x).chunk(2, dim=-1)
        return mean, F.softplus(raw) + self.min_std_dev

    def forward(self, actions, embeddings, nonterminals):
        belief, state = torch.zeros(BATCH, BELIEF), torch.zeros(BATCH, LATENT)
        beliefs, states, priors, posteriors = [], [], [], []
        for t in range(CHUNK):
            joined = torch.cat([state * nonterminals[t], actions[t]], dim=1)
            belief = self.rnn(F.elu(self.embed_state_action(joined)), belief)
            priors.append(self.distribution(self.prior, belief))
            mean, std = self.distribution(self.posterior, torch.cat([belief, embeddings[t]], dim=1))
            state = mean + std * torch.randn_like(mean)
            posteriors.append((mean, std))
            beliefs.append(belief)
            states.append(state)
        stacked = (torch.stack(column) for pair in (priors, posteriors) for column in zip(*pair, strict=True))
        return torch.stack(beliefs), torch.stack(states), *stacked


class PlanningAgent:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(OBS, 24), nn.ELU(), nn.Linear(24, EMBED))
        self.transition = TransitionModel()
        self.observation_model = nn.Sequential(nn.Linear(BELIEF + LATENT, 24), nn.ELU(), nn.Linear(24, OBS))
        self.reward_model = nn.Sequential(nn.Linear(BELIEF + LATENT, 24), nn.ELU(), nn.Linear(24, 1))
        modules = (self.encoder, self.transition, self.observation_model, self.reward_model)
        self.parameters = [p for module in modules for p in module.parameters()]
        self.optimiser = torch.optim.Adam(self.parameters, lr=5e-4, eps=1e-4)
        self.free_nats = torch.full((1,), FREE_NATS)
        self.metrics = {"observation": [], "reward": [], "kl": []}

    def divergence(self, prior, posterior):
        div = kl_divergence(Normal(*posterior), Normal(*prior))
        return torch.max(div, self.free_nats).sum(dim=2).mean(dim=(0, 1))  # BUG GS208

    def fit(self, observations, actions, rewards, nonterminals):
        embeddings = bottle(self.encoder, observations)
        beliefs, states, p_mean, p_std, q_mean, q_std = self.transition(actions, embeddings, nonterminals)
        predicted = bottle(self.observation_model, beliefs, states)
        observation_loss = F.mse_loss(predicted, observations, reduction="none").sum(dim=2).mean(dim=(0, 1))
        reward_loss = F.mse_loss(bottle(self.reward_model, beliefs, states).squeeze(-1), rewards)
        kl_loss = self.divergence((p_mean, p_std), (q_mean, q_std))
        self.optimiser.zero_grad()
        (observation_loss + reward_loss + kl_loss).backward()
        nn.utils.clip_grad_norm_(self.parameters, 100.0)
        self.optimiser.step()
        for name, loss in zip(self.metrics, (observation_loss, reward_loss, kl_loss), strict=True):
            self.metrics[name].append(loss.item())


def sequences():
    """A spring pushed by the actions, seen through a fixed mixture."""
    mixture = torch.randn(2, OBS, generator=torch.Generator().manual_seed(1))
    actions, place, speed = torch.randn(CHUNK, BATCH, ACTION), 1.0 * torch.randn(BATCH), torch.zeros(BATCH)
    seen, rewards = [], []
    for t in range(CHUNK):
        speed = 0.9 * speed - 0.3 * place + 0.5 * actions[t].sum(-1)
        place = place + 0.5 * speed
        seen.append(1.0 * torch.stack([place, speed], dim=1) @ mixture)
        rewards.append(-place.abs())
    return torch.stack(seen), actions, torch.stack(rewards), torch.ones(CHUNK, BATCH, 1)


torch.manual_seed(1406)
agent = PlanningAgent()
for update in range(50):
    agent.fit(*sequences())
print({name: round(values[-1], 3) for name, values in agent.metrics.items()})
