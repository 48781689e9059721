"""The memory model of a world-model agent, a recurrent network with a mixture of Gaussians for the next
latent: the weights of the mixture are normalised along the batch, so those of one prediction do not add up
to one. After ctallec/world-models#10.

Round 37
Class: axes
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal

SEQ_LEN, BSIZE, LSIZE, ASIZE, RSIZE, GAUSSIANS = 10, 16, 3, 1, 32, 4


class BallRoom:
    """A ball in a room: an action kicks it, and now and then a draught decides where it goes."""

    def __init__(self, rng):
        self.rng = rng

    def rollout(self, length):
        x, v, height = self.rng.uniform(-1, 1), 0.0, self.rng.uniform(0.2, 1)
        observations, actions, rewards, terminals = [(x, v, height)], [], [], []
        for _ in range(length):
            action = self.rng.uniform(-1, 1)
            v = 0.8 * v + 0.2 * action + self.rng.choice([-0.3, 0.0, 0.3])
            x, height = float(np.clip(x + 0.3 * v, -1.5, 1.5)), max(0.0, 0.9 * height)
            observations.append((x, v, height))
            actions.append((action,))
            rewards.append(-abs(x))
            terminals.append(float(abs(x) >= 1.5))
        return observations, actions, rewards, terminals

    def batch(self):
        columns = [np.array(c, dtype=np.float32) for c in zip(*(self.rollout(SEQ_LEN) for _ in range(BSIZE)))]
        latents, actions, rewards, terminals = (torch.from_numpy(c).transpose(0, 1) for c in columns)
        return latents[:-1], actions, rewards, terminals, latents[1:]


def gmm_loss(batch, mus, sigmas, logpi):
    """Minus the log-likelihood of the batch under the mixture."""
    batch = batch.unsqueeze(-2)
    g_log_probs = logpi + Normal(mus, sigmas).log_prob(batch).sum(-1)
    return -torch.logsumexp(g_log_probs, dim=-1).mean()


class MDRNN(nn.Module):
    def __init__(self, latents, actions, hiddens, gaussians):
        super().__init__()
        self.latents, self.gaussians = latents, gaussians
        self.rnn = nn.LSTM(latents + actions, hiddens)
        self.gmm_linear = nn.Linear(hiddens, (2 * latents + 1) * gaussians + 2)

    def forward(self, actions, latents):
        seq_len, bs = actions.size(0), actions.size(1)
        outs, _ = self.rnn(torch.cat([actions, latents], dim=-1))
        gmm_outs = self.gmm_linear(outs)

        stride = self.gaussians * self.latents
        mus = gmm_outs[:, :, :stride].view(seq_len, bs, self.gaussians, self.latents)
        sigmas = gmm_outs[:, :, stride : 2 * stride].view(seq_len, bs, self.gaussians, self.latents)
        sigmas = torch.exp(sigmas.clamp(-4, 4))
        pi = gmm_outs[:, :, 2 * stride : 2 * stride + self.gaussians].view(seq_len, bs, self.gaussians)
        logpi = F.log_softmax(pi, dim=-2)  # BUG GS604
        return mus, sigmas, logpi, gmm_outs[:, :, -2], gmm_outs[:, :, -1]


def get_loss(mdrnn, latent_obs, action, reward, terminal, latent_next_obs):
    mus, sigmas, logpi, rs, ds = mdrnn(action, latent_obs)
    gmm = gmm_loss(latent_next_obs, mus, sigmas, logpi)
    bce = F.binary_cross_entropy_with_logits(ds, terminal)
    mse = F.mse_loss(rs, reward)
    return (gmm + bce + mse) / (LSIZE + 2), gmm


torch.manual_seed(3730)
room = BallRoom(np.random.default_rng(3730))
mdrnn = MDRNN(LSIZE, ASIZE, RSIZE, GAUSSIANS)
optimizer = torch.optim.RMSprop(mdrnn.parameters(), lr=2e-3, alpha=0.9)
for e in range(4):
    total = 0.0
    for i in range(20):
        loss, gmm = get_loss(mdrnn, *room.batch())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += gmm.item()
    print(f"epoch {e} gmm {total / 20:.3f}")
