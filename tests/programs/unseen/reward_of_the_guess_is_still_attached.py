"""Two bots talk about a hidden picture; the one that asks guesses its features after every answer, and both are
rewarded by how much nearer the guess has come. The reward is made of the guesses as they are, so REINFORCE teaches
the guessing part too, in proportion to the log-probabilities of words.

Round 19
Class: weights
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

FEATURES, WORDS, HIDDEN, ROUNDS = 6, 10, 32, 4


class Answerer(nn.Module):
    """Sees the picture and says one word a round."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(FEATURES + WORDS, HIDDEN)
        self.word = nn.Linear(HIDDEN, WORDS)

    def forward(self, picture, heard, state):
        state = self.cell(torch.cat([picture, heard], 1), state)
        return torch.distributions.Categorical(logits=self.word(state)), state


class Questioner(nn.Module):
    """Hears the words, asks with a word of its own and guesses the picture."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(WORDS, HIDDEN)
        self.word = nn.Linear(HIDDEN, WORDS)
        self.regress = nn.Sequential(nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, FEATURES))

    def forward(self, heard, state):
        state = self.cell(heard, state)
        return torch.distributions.Categorical(logits=self.word(state)), self.regress(state), state


def one_hot(word):
    return F.one_hot(word, WORDS).float()


class Dialogue:
    def __init__(self, rl_scale=0.5):
        self.abot, self.qbot = Answerer(), Questioner()
        parameters = [*self.abot.parameters(), *self.qbot.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=2e-3)
        self.rl_scale = rl_scale

    def play(self, picture):
        count = len(picture)
        a_state = q_state = picture.new_zeros(count, HIDDEN)
        said = picture.new_zeros(count, WORDS)
        _, guess, q_state = self.qbot(said, q_state)
        previous = (guess - picture).pow(2).mean(1)
        feature_loss, rl_loss, total = previous.mean(), 0.0, 0.0
        for _ in range(ROUNDS):
            speaking, a_state = self.abot(picture, said, a_state)
            answer = speaking.sample()
            asking, guess, q_state = self.qbot(one_hot(answer), q_state)
            question = asking.sample()
            said = one_hot(question)
            distance = (guess - picture).pow(2).mean(1)
            reward = previous - distance  # BUG GS303 GS304
            log_prob = speaking.log_prob(answer) + asking.log_prob(question)
            rl_loss = rl_loss - (log_prob * reward).mean()  # BUG GS303 GS304
            feature_loss = feature_loss + distance.mean()
            total += reward.mean().item()
            previous = distance
        return feature_loss / (ROUNDS + 1), rl_loss, total

    def update(self, picture):
        feature_loss, rl_loss, total = self.play(picture)
        self.optimizer.zero_grad()
        (feature_loss + self.rl_scale * rl_loss).backward()
        self.optimizer.step()
        return feature_loss.item(), total


torch.manual_seed(1907)
pictures = torch.randint(0, 2, (256, FEATURES)).float()
dialogue = Dialogue()
for epoch in range(4):
    for rows in torch.randperm(len(pictures)).split(16):
        loss, gained = dialogue.update(pictures[rows])
    print(f"epoch {epoch}: feature loss {loss:.3f}, gained {gained:.3f}")
