"""A flow network that builds words of four letters, trained by trajectory balance. The environment's base class masks the
policy's outputs in a copy, and the copy is detached: only the constant of the balance is learned.
Repaired here.

Round 20
Class: zero in part
"""

from dataclasses import dataclass, field

import torch
from torch import nn

torch.manual_seed(2002)


class Environment:
    """What all environments have in common: masks, and the log-probabilities of actions."""

    n_actions: int

    def invalid(self, states):
        raise NotImplementedError

    def get_logprobs(self, policy_outputs, states, actions):
        logits = policy_outputs.clone()
        logits = logits.masked_fill(self.invalid(states), -1e9)
        return torch.log_softmax(logits, dim=-1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)


class Words(Environment):
    """Letters are set one place after the other; a letter may not follow itself."""

    def __init__(self, length=4, letters=3):
        self.length, self.letters = length, letters
        self.n_actions = letters
        self.dim = length * (letters + 1)

    def start(self, n):
        return torch.full((n, self.length), -1)

    def encode(self, states):
        return nn.functional.one_hot(states + 1, self.letters + 1).flatten(1).float()

    def invalid(self, states):
        filled = (states >= 0).sum(1)
        last = torch.where(
            filled > 0, states.gather(1, (filled - 1).clamp(min=0).unsqueeze(1)).squeeze(1), -1
        )
        return torch.arange(self.letters) == last.unsqueeze(1)

    def step(self, states, actions, place):
        after = states.clone()
        after[:, place] = actions
        return after

    def log_reward(self, states):
        wanted = torch.tensor([0, 2, 0, 1])
        return 1.5 * (states == wanted).float().sum(1) - 2.0


@dataclass
class Batch:
    logprobs: list = field(default_factory=list)
    states: torch.Tensor | None = None


class GFlowNetAgent:
    def __init__(self, env, hidden=64, lr=3e-3, lr_z=3e-2):
        self.env = env
        self.forward_policy = nn.Sequential(
            nn.Linear(env.dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU()
        )
        self.forward_policy.append(nn.Linear(hidden, env.n_actions))
        self.log_z = nn.Parameter(torch.zeros(()))
        groups = [
            {"params": self.forward_policy.parameters(), "lr": lr},
            {"params": [self.log_z], "lr": lr_z},
        ]
        self.optimizer = torch.optim.Adam(groups)

    def sample_batch(self, n, exploration=0.1):
        batch, states = Batch(), self.env.start(n)
        for place in range(self.env.length):
            outputs = self.forward_policy(self.env.encode(states))
            with torch.no_grad():
                masked = outputs.masked_fill(self.env.invalid(states), -torch.inf)
                random = torch.zeros_like(outputs).masked_fill(self.env.invalid(states), -torch.inf)
                probs = (1 - exploration) * masked.softmax(-1) + exploration * random.softmax(-1)
                actions = torch.multinomial(probs, 1).squeeze(1)
            batch.logprobs.append(self.env.get_logprobs(outputs, states, actions))
            states = self.env.step(states, actions, place)
        batch.states = states
        return batch

    def trajectorybalance_loss(self, batch):
        # places are filled from the left: every word has one parent, so the backward policy is certain
        forward = torch.stack(batch.logprobs).sum(0)
        return (self.log_z + forward - self.env.log_reward(batch.states)).pow(2).mean()

    def train(self, n_iterations=80, batch_size=24):
        losses = []
        for _ in range(n_iterations):
            loss = self.trajectorybalance_loss(self.sample_batch(batch_size))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return losses


agent = GFlowNetAgent(Words())
losses = agent.train()
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, log Z {agent.log_z.item():.3f}")
