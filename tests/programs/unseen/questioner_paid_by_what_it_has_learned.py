"""A questioner asks about a hidden object, an honest answerer replies, and after every round the questioner guesses
the object's features; rounds that bring the guess closer are rewarded with REINFORCE.

Round 31
Class: the line
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(3108)

FEATURES, ROUNDS, HIDDEN, BATCH = 6, 3, 32, 64


class Answerer:
    """Says the feature that it is asked for, with a little noise."""

    def __init__(self, objects):
        self.objects = objects

    def __call__(self, question):
        answer = self.objects.gather(1, question.unsqueeze(1))
        return answer + 0.05 * torch.randn_like(answer)


class Questioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = nn.GRUCell(FEATURES + 1, HIDDEN)
        self.ask = nn.Linear(HIDDEN, FEATURES)
        self.feature_net = nn.Sequential(nn.Linear(HIDDEN, 32), nn.ReLU(), nn.Linear(32, FEATURES))

    def start(self, batch):
        return torch.zeros(batch, HIDDEN)

    def question(self, state):
        dist = Categorical(logits=self.ask(state))
        question = dist.sample()
        return question, dist.log_prob(question), dist.entropy()

    def listen(self, state, question, answer):
        fact = torch.cat([F.one_hot(question, FEATURES).float(), answer], dim=1)
        return self.history(fact, state)

    def guess(self, state):
        return self.feature_net(state)


def make_objects(batch):
    """The first features are worth asking for: they vary most, and the last ones follow from them."""
    base = torch.randn(batch, 3) * torch.tensor([2.0, 1.5, 1.0])
    return torch.cat([base, 0.2 * base + 0.1 * torch.randn(batch, 3)], dim=1)


def dialog(bot, objects):
    answerer, state = Answerer(objects), bot.start(len(objects))
    prev_dist = (bot.guess(state) - objects).pow(2).mean(dim=1)
    log_probs, entropies, rewards, feature_loss = [], [], [], 0.0
    for _ in range(ROUNDS):
        question, log_prob, entropy = bot.question(state)
        state = bot.listen(state, question, answerer(question))
        dist = (bot.guess(state) - objects).pow(2).mean(dim=1)
        reward = prev_dist - dist  # BUG GS303
        prev_dist = dist
        log_probs.append(log_prob)
        entropies.append(entropy)
        rewards.append(reward)
        feature_loss = feature_loss + dist.mean() / ROUNDS
    return torch.stack(log_probs), torch.stack(entropies), torch.stack(rewards), feature_loss, dist


def main():
    bot = Questioner()
    optimizer = torch.optim.Adam(bot.parameters(), lr=3e-3)
    baseline = torch.zeros(ROUNDS, 1)
    for step in range(200):
        log_probs, entropies, rewards, feature_loss, dist = dialog(bot, make_objects(BATCH))
        returns = rewards.flip(0).cumsum(dim=0).flip(0)  # BUG GS303
        policy_loss = -(log_probs * (returns - baseline)).mean()  # BUG GS303
        loss = policy_loss + feature_loss - 0.01 * entropies.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(bot.parameters(), 5.0)
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * returns.detach().mean(dim=1, keepdim=True)
        if step % 50 == 0:
            print(f"step {step}: distance {dist.mean().item():.3f}, policy loss {policy_loss.item():.3f}")


if __name__ == "__main__":
    main()
