"""A world model of the pendulum: a recurrent network with a mixture of Gaussians over the next observation and a
reward, trained on swings of a random hand, and then a few steps planned by shooting through it.

Round 31
Class: axes
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as f
from torch.distributions import Normal

OBS, ACTION, HIDDEN, GAUSSIANS = 3, 1, 32, 3


class MDRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(OBS + ACTION, HIDDEN)
        self.gmm_linear = nn.Linear(HIDDEN, (2 * OBS + 1) * GAUSSIANS + 1)

    def forward(self, actions, obs, hidden=None):
        """actions [T, B, 1], obs [T, B, 3]: parameters of the mixtures over the next observations, rewards."""
        seq_len, bs = actions.size(0), actions.size(1)
        outs, hidden = self.rnn(torch.cat([actions, obs], dim=-1), hidden)
        gmm_outs = self.gmm_linear(outs)

        stride = GAUSSIANS * OBS
        mus = gmm_outs[:, :, :stride].view(seq_len, bs, GAUSSIANS, OBS)
        sigmas = gmm_outs[:, :, stride : 2 * stride].view(seq_len, bs, GAUSSIANS, OBS)
        sigmas = sigmas.clamp(-5, 3).exp()
        pi = gmm_outs[:, :, 2 * stride : 2 * stride + GAUSSIANS].view(seq_len, bs, GAUSSIANS)
        logpi = f.log_softmax(pi, dim=-1)
        return mus, sigmas, logpi, gmm_outs[:, :, -1], hidden


def gmm_loss(batch, mus, sigmas, logpi):
    log_probs = Normal(mus, sigmas).log_prob(batch.unsqueeze(-2)).sum(dim=-1)
    return -torch.logsumexp(logpi + log_probs, dim=-1).mean()


def random_swings(env, rng, episodes, seed):
    """[episodes, T + 1, 3] observations, [episodes, T, 1] torques and [episodes, T] rewards."""
    all_obs, all_actions, all_rewards = [], [], []
    for episode in range(episodes):
        obs, _ = env.reset(seed=seed + episode)
        torque, truncated = 0.0, False
        observations, actions, rewards = [obs], [], []
        while not truncated:
            torque = float(np.clip(0.8 * torque + rng.normal(0, 1.0), -2, 2))
            obs, reward, _, truncated, _ = env.step(np.array([torque], dtype=np.float32))
            observations.append(obs)
            actions.append([torque])
            rewards.append(reward)
        all_obs.append(observations)
        all_actions.append(actions)
        all_rewards.append(rewards)
    arrays = (np.array(part, dtype=np.float32) for part in (all_obs, all_actions, all_rewards))
    obs, actions, rewards = (torch.from_numpy(array) for array in arrays)
    return obs / torch.tensor([1.0, 1.0, 4.0]), actions / 2, rewards / 8


def train(model, optimizer, data, steps, batch_size=24, window=12):
    obs, actions, rewards = data
    for step in range(steps):
        episode = torch.randint(len(obs), (batch_size,))
        start = torch.randint(actions.size(1) - window + 1, (batch_size,))
        rows, times = episode.unsqueeze(0), start.unsqueeze(0) + torch.arange(window).unsqueeze(1)
        mus, sigmas, logpi, predicted, _ = model(actions[rows, times], obs[rows, times])
        gmm = gmm_loss(obs[rows, times + 1], mus, sigmas, logpi)
        mse = f.mse_loss(predicted, rewards[rows, times])
        loss = (gmm + mse) / (OBS + 1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step}: mixture {gmm.item():.3f}, reward {mse.item():.4f}")


@torch.no_grad()
def plan(model, obs, plans=64, horizon=6):
    torques = torch.rand(horizon, plans, ACTION) * 2 - 1
    state, hidden, total = obs.expand(1, plans, OBS), None, torch.zeros(plans)
    for torque in torques:
        mus, _, logpi, reward, hidden = model(torque.unsqueeze(0), state, hidden)
        component = logpi.softmax(dim=-1).argmax(dim=-1)[..., None, None].expand(-1, -1, 1, OBS)
        state = mus.gather(2, component).squeeze(2)
        total += reward.squeeze(0)
    return torques[0, total.argmax()].item()


def main():
    torch.manual_seed(3115)
    env = gym.make("Pendulum-v1", max_episode_steps=40)
    data = random_swings(env, np.random.default_rng(3115), episodes=20, seed=3115)
    model = MDRNN()
    train(model, torch.optim.Adam(model.parameters(), lr=5e-3), data, steps=150)

    obs, _ = env.reset(seed=1)
    score = 0.0
    for _ in range(15):
        scaled = torch.from_numpy(obs) / torch.tensor([1.0, 1.0, 4.0])
        obs, reward, _, _, _ = env.step(np.array([2 * plan(model, scaled)], dtype=np.float32))
        score += reward
    print(f"fifteen planned steps: {score:.1f}")
    env.close()


if __name__ == "__main__":
    main()
