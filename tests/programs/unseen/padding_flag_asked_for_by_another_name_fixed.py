"""A return-conditioned policy learns chunks of actions from logged episodes: the data set files the flags of the padded
steps under one name, the policy asks for another, gets none and learns the padding behind the end as well.
Repaired here.

Round 24
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CHUNK, OBS, ACT = 8, 3, 2


def log_episodes(count, seed):
    """A puck is pushed to the middle, well by some and badly by others; who is there stops."""
    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(count):
        place, skill = rng.uniform(-2, 2, 2), rng.uniform(0.2, 1.0)
        observations, actions, rewards = [], [], []
        for clock in range(int(rng.integers(10, 16))):
            action = np.clip(-skill * place + rng.normal(scale=0.3, size=ACT), -1, 1)
            observations.append([*place, clock / 16])
            actions.append(action)
            place = place + 0.5 * action
            rewards.append(-np.linalg.norm(place))
            if rewards[-1] > -0.2:
                break
        to_go = np.cumsum(rewards[::-1])[::-1]
        episodes.append((np.array(observations), np.array(actions), to_go.copy()))
    return episodes


class ChunkDataset(Dataset):
    def __init__(self, episodes):
        self.episodes = episodes
        self.index = [(e, t) for e, (obs, _, _) in enumerate(episodes) for t in range(len(obs))]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        episode, t = self.index[i]
        observations, actions, to_go = self.episodes[episode]
        wanted = np.arange(t, t + CHUNK)
        inside = np.minimum(wanted, len(actions) - 1)  # the last action is repeated to fill the chunk
        return {
            "observation": torch.tensor(observations[t], dtype=torch.float32),
            "return_to_go": torch.tensor(to_go[t : t + 1] / 10, dtype=torch.float32),
            "action": torch.tensor(actions[inside], dtype=torch.float32),
            "action_is_pad": torch.from_numpy(wanted >= len(actions)),
        }


class ChunkPolicy(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(OBS + 1, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.steps = nn.Parameter(0.1 * torch.randn(CHUNK, width))
        self.decoder = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, ACT))

    def predict(self, observation, return_to_go):
        code = self.encoder(torch.cat([observation, return_to_go], dim=-1))
        return self.decoder(code.unsqueeze(-2) + self.steps)

    def forward(self, batch):
        is_pad = batch.get("action_is_pad")
        predicted = self.predict(batch["observation"], batch["return_to_go"])
        losses = (predicted - batch["action"]).pow(2).mean(dim=-1)
        if is_pad is None:  # a data set without padding
            return losses.mean()
        valid = (~is_pad).float()
        return (losses * valid).sum() / valid.sum()


@torch.no_grad()
def evaluate(policy, wish, seed, episodes=5):
    rng, total = np.random.default_rng(seed), 0.0
    for _ in range(episodes):
        place, left = rng.uniform(-2, 2, 2), wish
        for clock in range(12):
            observation = torch.tensor([*place, clock / 16], dtype=torch.float32)
            chunk = policy.predict(observation, torch.tensor([left / 10], dtype=torch.float32))
            place = place + 0.5 * np.clip(chunk[0].numpy(), -1, 1)
            reward = -float(np.linalg.norm(place))
            left, total = left - reward, total + reward
            if reward > -0.2:
                break
    return total / episodes


def main():
    torch.manual_seed(2420)
    loader = DataLoader(ChunkDataset(log_episodes(50, seed=20)), batch_size=32, shuffle=True, drop_last=True)
    policy = ChunkPolicy()
    optimizer = torch.optim.AdamW(policy.parameters(), lr=2e-3)
    for epoch in range(5):
        for batch in loader:
            loss = policy(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}, return {evaluate(policy, wish=-3.0, seed=7):.2f}")


if __name__ == "__main__":
    main()
