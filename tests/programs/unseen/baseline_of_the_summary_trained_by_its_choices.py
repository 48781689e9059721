"""An extractive summariser picks sentences with a pointer network and is trained with REINFORCE against a
critic's baseline; reward minus baseline weighs the log-probabilities with the baseline's graph, so the
policy's term pushes the critic as well. After ChenRocks/fast_abs_rl#49.

Round 37
Class: meaning
"""

import random

import numpy as np
import torch
from torch import autograd, nn
from torch.distributions import Categorical
from torch.nn import functional as F

EMB, HIDDEN, N_SENT, N_PICK = 12, 24, 7, 3


class PtrExtractor(nn.Module):
    """Chooses one sentence after the other; what was chosen is not offered again."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(EMB, HIDDEN, batch_first=True)
        self.decoder = nn.GRUCell(HIDDEN, HIDDEN)
        self.attend = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, sentences):
        memory, last = self.encoder(sentences.unsqueeze(0))
        memory, state = memory[0], last[0]
        item = torch.zeros(1, HIDDEN)
        indices, dists, states = [], [], []
        taken = torch.zeros(N_SENT, dtype=torch.bool)
        for _ in range(N_PICK):
            state = self.decoder(item, state)
            score = (self.attend(memory) @ state[0]).masked_fill(taken, -1e9)
            dist = Categorical(logits=score)
            pick = dist.sample()
            taken = taken.clone()
            taken[pick] = True
            indices.append(pick)
            dists.append(dist)
            states.append(state[0].detach())
            item = memory[pick].unsqueeze(0)
        return indices, dists, states


class PtrScorer(nn.Module):
    """The critic: what reward is to be expected at each choice."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.GRU(EMB, HIDDEN, batch_first=True)
        self.score = nn.Sequential(nn.Linear(2 * HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))

    def forward(self, sentences, states):
        _, last = self.encoder(sentences.unsqueeze(0))
        return [self.score(torch.cat([last[0, 0], state])).squeeze() for state in states]


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self._ext, self._scr = PtrExtractor(), PtrScorer()

    def forward(self, article):
        indices, dists, states = self._ext(article)
        return indices, dists, self._scr(article, states)


def overlap(article, picks, abstract):
    """A stand-in for ROUGE: how near the chosen sentences come to those of the abstract."""
    chosen = article[torch.stack(picks)]
    return [F.cosine_similarity(s, abstract[i], dim=0).item() for i, s in enumerate(chosen)]


def a2c_train_step(agent, optimizer, batch, gamma=0.95):
    optimizer.zero_grad()
    indices, probs, baselines, rewards, avg_reward = [], [], [], [], 0.0
    for article, abstract in batch:
        inds, ps, bs = agent(article)
        rs = overlap(article, inds, abstract)
        avg_reward += sum(rs) / len(rs)
        disc, running = [], 0.0
        for r in reversed(rs):
            running = r + gamma * running
            disc.insert(0, running)
        indices += inds
        probs += ps
        baselines += bs
        rewards += disc

    reward = torch.tensor(rewards)
    reward = (reward - reward.mean()) / (reward.std() + 1e-6)
    baseline = torch.stack(baselines)
    losses = []
    for action, p, r, b in zip(indices, probs, reward, baseline):
        advantage = r - b  # BUG GS303
        losses.append(-p.log_prob(action) * (advantage / len(indices)))
    critic_loss = F.mse_loss(baseline, reward)
    autograd.backward([critic_loss, *losses])
    grad_norm = nn.utils.clip_grad_norm_(agent.parameters(), 2.0)
    optimizer.step()
    return avg_reward / len(batch), grad_norm.item()


def articles(rng, n):
    for _ in range(n):
        article = torch.from_numpy(rng.normal(size=(N_SENT, EMB)).astype(np.float32))
        best = article[:, 0].argsort(descending=True)[:N_PICK]
        yield article, article[best]


random.seed(37)
torch.manual_seed(3704)
rng = np.random.default_rng(3704)
agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
for step in range(45):
    reward, norm = a2c_train_step(agent, optimizer, list(articles(rng, 8)))
print("reward", round(reward, 3), "norm", round(norm, 3))
