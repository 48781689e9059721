"""Policy gradients with standardised returns in a small dungeon with one treasure: a batch of short walks, one update,
and the next batch.

Round 31
Class: magnitude
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE, HORIZON, WALKS, BATCHES, GAMMA = 5, 10, 9, 80, 0.95
MOVES = np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class Dungeon:
    """The walk ends at the treasure or when the torch has burnt down; how long it burns is part of the state."""

    def __init__(self, rng):
        self.rng = rng
        self.treasure = np.array([3, 3])

    def reset(self):
        self.place, self.time = self.rng.integers(0, 3, size=2), 0
        return self.state()

    def state(self):
        y, x = self.place
        return np.array([y / SIZE, x / SIZE, self.time / HORIZON], dtype=np.float32)

    def step(self, action):
        self.place = np.clip(self.place + MOVES[action], 0, SIZE - 1)
        self.time += 1
        found = bool((self.place == self.treasure).all())
        return self.state(), float(found), found or self.time == HORIZON


def make_policy():
    return nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, len(MOVES)))


def discounted(rewards):
    out, running = np.zeros(len(rewards), dtype=np.float32), 0.0
    for t in reversed(range(len(rewards))):
        running = rewards[t] + GAMMA * running
        out[t] = running
    return out


def walk(env, policy, rng):
    states, actions, rewards, done = [], [], [], False
    state = env.reset()
    while not done:
        with torch.no_grad():
            probs = F.softmax(policy(torch.from_numpy(state)), dim=-1).numpy().astype(np.float64)
        action = rng.choice(len(MOVES), p=probs / probs.sum())
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    return states, actions, discounted(rewards)


def gather(env, policy, rng):
    states, actions, returns = [], [], []
    for _ in range(WALKS):
        s, a, r = walk(env, policy, rng)
        states.extend(s)
        actions.extend(a)
        returns.append(r)
    found = np.mean([r[0] > 0 for r in returns])
    returns = torch.from_numpy(np.concatenate(returns))
    return torch.from_numpy(np.stack(states)), torch.tensor(np.array(actions)), returns, found


def update(policy, optimizer, states, actions, returns):
    advantages = (returns - returns.mean()) / returns.std()  # BUG GS503
    log_probs = F.log_softmax(policy(states), dim=-1)
    chosen = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    entropy = -(log_probs.exp() * log_probs).sum(dim=-1).mean()
    loss = -(advantages * chosen).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main(seed=3193):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    env, policy = Dungeon(rng), make_policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    history = []
    for batch in range(BATCHES):
        states, actions, returns, found = gather(env, policy, rng)
        loss = update(policy, optimizer, states, actions, returns)
        history.append(found)
        if batch % 20 == 0:
            print(f"batch {batch}: loss {loss:.3f}, treasures {np.mean(history[-20:]):.2f}")


if __name__ == "__main__":
    main()
