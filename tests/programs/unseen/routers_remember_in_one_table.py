"""Routers at the crossings of a small town, each with a memory of its own and a word from its neighbours, learn by
REINFORCE where to send the cars whose goal was shown once, at the first crossing.

Round 31
Class: the line
"""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3102)

CROSSINGS, CLUES, STEPS, HIDDEN = 4, 3, 5, 24


class Town:
    """Every crossing sees its clue at the start only, and is paid when it sends the last cars that way."""

    def __init__(self, batch):
        self.batch = batch

    def reset(self):
        self.clue = torch.randint(CLUES, (CROSSINGS, self.batch))
        self.time = 0
        return self.observe()

    def observe(self):
        shown = nn.functional.one_hot(self.clue, CLUES).float()
        noise = 0.1 * torch.randn(CROSSINGS, self.batch, CLUES)
        return shown + noise if self.time == 0 else noise

    def step(self, exits):
        self.time += 1
        done = self.time == STEPS
        own = (exits == self.clue).float()
        agreed = own.mean(dim=0, keepdim=True)
        reward = 0.5 * own + 0.5 * agreed if done else torch.zeros(CROSSINGS, self.batch)
        return self.observe(), reward, done


class Routers(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Linear(CLUES, HIDDEN)
        self.cell = nn.GRUCell(2 * HIDDEN, HIDDEN)
        self.exits = nn.Linear(HIDDEN, CLUES)
        self.baseline = nn.Linear(HIDDEN, 1)

    def first_memory(self, batch):
        return torch.zeros(CROSSINGS, batch, HIDDEN)

    def forward(self, seen, memory):
        features = torch.tanh(self.look(seen))
        words = memory.mean(dim=0)
        for i in range(CROSSINGS):
            memory[i] = self.cell(torch.cat([features[i], words], dim=-1), memory[i])  # BUG GS101
        return Categorical(logits=self.exits(memory)), self.baseline(memory).squeeze(-1), memory


def play(town, routers):
    seen, done = town.reset(), False
    memory = routers.first_memory(town.batch)
    log_probs, values, entropies, rewards = [], [], [], []
    while not done:
        choice, value, memory = routers(seen, memory)
        exits = choice.sample()
        seen, reward, done = town.step(exits)
        log_probs.append(choice.log_prob(exits))
        values.append(value)
        entropies.append(choice.entropy())
        rewards.append(reward)
    return torch.stack(log_probs), torch.stack(values), torch.stack(entropies), torch.stack(rewards)


def main():
    town, routers = Town(batch=32), Routers()
    optimizer = torch.optim.Adam(routers.parameters(), lr=4e-3)
    for episode in range(150):
        log_probs, values, entropies, rewards = play(town, routers)
        returns = rewards.flip(0).cumsum(0).flip(0)
        advantages = returns - values.detach()
        policy_loss = -(advantages * log_probs).mean()
        value_loss = (values - returns).pow(2).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(routers.parameters(), 5.0)
        optimizer.step()
        if episode % 50 == 0:
            print(f"episode {episode}: reward {rewards[-1].mean():.3f}, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
