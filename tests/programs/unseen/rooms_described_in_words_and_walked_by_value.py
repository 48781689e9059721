"""Deep Q-learning on a text adventure: rooms are told in words, a recurrent network reads them and values the four
ways out.

Round 31
Class: meaning
"""

import numpy as np
import torch
from torch import nn

LOOKS, THINGS = ["dark", "bright", "small", "large"], ["lamp", "key"]
ROOMS = ["hall", "cellar", "kitchen", "attic", "garden", "cave"]
WORDS = ["<pad>", "you", "are", "in", "a", "the", "find", *LOOKS, *ROOMS, *THINGS]
INDEX = {word: i for i, word in enumerate(WORDS)}


class House:
    """Six rooms in two rows; the thing that is looked for lies in a room of its own."""

    def __init__(self, rng, patience=15):
        self.rng, self.patience = rng, patience
        self.place_of = {"lamp": 5, "key": 2}

    def tell(self):
        look = self.rng.choice(LOOKS)
        text = f"you are in a {look} {ROOMS[self.room]} find the {self.thing}"
        return np.array([INDEX[word] for word in text.split()])

    def reset(self):
        self.room, self.thing, self.turns = int(self.rng.choice([0, 1, 3, 4])), self.rng.choice(THINGS), 0
        return self.tell()

    def step(self, action):
        row, column = divmod(self.room, 3)
        row = min(max(row + (0, 1, 0, 0)[action] - (1, 0, 0, 0)[action], 0), 1)
        column = min(max(column + (0, 0, 0, 1)[action] - (0, 0, 1, 0)[action], 0), 2)
        self.room = 3 * row + column
        self.turns += 1
        found = self.room == self.place_of[self.thing]
        return self.tell(), 1.0 if found else -0.05, found, self.turns >= self.patience


class TextQNetwork(nn.Module):
    def __init__(self, width=24, actions=4):
        super().__init__()
        self.embedding = nn.Embedding(len(WORDS), width, padding_idx=0)
        self.encoder = nn.GRU(width, 32, batch_first=True)
        self.head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, tokens):
        _, last = self.encoder(self.embedding(tokens))
        return self.head(last.squeeze(0))


class ReplayBuffer:
    def __init__(self, capacity, rng):
        self.capacity, self.rng, self.storage, self.place = capacity, rng, [], 0

    def add(self, *transition):
        if len(self.storage) < self.capacity:
            self.storage.append(transition)
        else:
            self.storage[self.place] = transition
        self.place = (self.place + 1) % self.capacity

    def sample(self, size):
        chosen = self.rng.integers(len(self.storage), size=size)
        obs, action, reward, next_obs, done = (np.stack(x) for x in zip(*[self.storage[i] for i in chosen]))
        return (
            torch.from_numpy(obs),
            torch.from_numpy(action).unsqueeze(1),
            torch.from_numpy(reward.astype(np.float32)).unsqueeze(1),
            torch.from_numpy(next_obs),
            torch.from_numpy(done.astype(np.float32)).unsqueeze(1),
        )


class DQN:
    def __init__(self, double=False, gamma=0.95, tau=0.02, lr=2e-3):
        self.double, self.gamma, self.tau = double, gamma, tau
        self.actor, self.actor_target = TextQNetwork(), TextQNetwork()
        self.actor_target.load_state_dict(self.actor.state_dict())
        self.actor_target.requires_grad_(False)
        self.params = {name: p.detach() for name, p in self.actor.named_parameters()}
        named = self.actor_target.named_parameters()
        self.target_params = {name: p.detach().clone() for name, p in named}  # BUG GS307
        self.optimizer = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def get_action(self, obs, epsilon, rng):
        if rng.random() < epsilon:
            return int(rng.integers(4))
        with torch.no_grad():
            return self.actor(torch.from_numpy(obs).unsqueeze(0)).argmax(dim=1).item()

    def learn(self, obs, actions, rewards, next_obs, dones):
        with torch.no_grad():
            q_next = self.actor_target(next_obs)  # BUG GS307
            best = (self.actor(next_obs) if self.double else q_next).argmax(dim=1, keepdim=True)
            y = rewards + self.gamma * q_next.gather(1, best) * (1 - dones)
        loss = self.criterion(self.actor(obs).gather(1, actions), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.soft_update()
        return loss.item()

    @torch.no_grad()
    def soft_update(self):
        for name, param in self.params.items():
            self.target_params[name].lerp_(param, self.tau)  # BUG GS307


def main(steps=900, learn_every=3):
    torch.manual_seed(3112)
    rng = np.random.default_rng(3112)
    env, agent, memory = House(rng), DQN(), ReplayBuffer(2000, rng)
    obs, found = env.reset(), 0
    for step in range(steps):
        action = agent.get_action(obs, max(0.1, 1 - step / 500), rng)
        next_obs, reward, terminated, truncated = env.step(action)
        memory.add(obs, action, reward, next_obs, terminated)
        found += terminated
        obs = env.reset() if terminated or truncated else next_obs
        if step >= 100 and step % learn_every == 0:
            loss = agent.learn(*memory.sample(32))
            if step % 300 == 0:
                print(f"step {step}: loss {loss:.4f}, found {found}")


if __name__ == "__main__":
    main()
