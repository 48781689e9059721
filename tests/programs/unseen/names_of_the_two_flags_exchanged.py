"""Expected SARSA on a CartPole with a short time limit. The two flags that the environment hands back are
taken by the wrong names, so a fallen pole still has a future in the target and one that ran out of time has
none.

Round 34
Class: meaning
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

EPSILON, GAMMA, BATCH = 0.2, 0.98, 64


class Replay:
    def __init__(self, capacity, rng):
        self.rng = rng
        self.obs = np.zeros((capacity, 4), dtype=np.float32)
        self.next_obs = np.zeros((capacity, 4), dtype=np.float32)
        self.action = np.zeros(capacity, dtype=np.int64)
        self.reward = np.zeros(capacity, dtype=np.float32)
        self.done = np.zeros(capacity, dtype=np.float32)
        self.capacity, self.count = capacity, 0

    def add(self, obs, action, reward, next_obs, done):
        i = self.count % self.capacity
        self.obs[i], self.next_obs[i] = obs, next_obs
        self.action[i], self.reward[i], self.done[i] = action, reward, done
        self.count += 1

    def sample(self, size):
        rows = self.rng.integers(0, min(self.count, self.capacity), size)
        arrays = (self.obs, self.action, self.reward, self.next_obs, self.done)
        return (torch.from_numpy(array[rows]) for array in arrays)


def policy_of(q):
    chances = torch.full_like(q, EPSILON / q.shape[1])
    return chances.scatter_add(1, q.argmax(1, keepdim=True), torch.full_like(q[:, :1], 1 - EPSILON))


def update(net, slow, optimizer, replay):
    obs, action, reward, next_obs, done = replay.sample(BATCH)
    with torch.no_grad():
        next_q = slow(next_obs)
        expected = (policy_of(net(next_obs)) * next_q).sum(dim=1)
        target = reward + GAMMA * (1 - done) * expected  # BUG GS805
    q = net(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = nn.functional.mse_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def make_net():
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))


def main():
    torch.manual_seed(347)
    rng = np.random.default_rng(347)
    env = gym.make("CartPole-v1", max_episode_steps=30)
    net, slow = make_net(), make_net()
    slow.load_state_dict(net.state_dict())
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    replay = Replay(2000, rng)
    updates = 0
    for episode in range(50):
        obs, _ = env.reset(seed=episode)
        while True:
            with torch.no_grad():
                chances = policy_of(net(torch.from_numpy(obs)[None]))[0]
            action = torch.multinomial(chances, 1).item()
            next_obs, reward, truncated, terminated, _ = env.step(action)  # BUG GS805
            replay.add(obs, action, reward, next_obs, terminated)  # BUG GS805
            obs = next_obs
            if replay.count >= 200 and replay.count % 5 == 0:
                loss = update(net, slow, optimizer, replay)
                updates += 1
                if updates % 25 == 0:
                    slow.load_state_dict(net.state_dict())
            if terminated or truncated:
                break
    env.close()
    print(f"{updates} updates, last loss {loss:.4f}")


if __name__ == "__main__":
    main()
