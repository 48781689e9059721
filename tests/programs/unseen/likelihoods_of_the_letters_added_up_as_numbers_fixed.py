"""A recurrent generator of molecules is rewarded for what it writes. The log-likelihood of every letter is taken out
as a number before it is multiplied with the reward, and the sum is wrapped into a tensor that asks for a gradient:
backward finds something to do, and not one weight of the generator ever changes.
Repaired here.

Round 21
Class: the line
"""

import torch
import torch.nn.functional as F
from torch import nn

TOKENS = "<>CNOF=()1"
START, END = 0, 1


class StackFreeRNN(nn.Module):
    def __init__(self, vocabulary, hidden_size=48):
        super().__init__()
        self.hidden_size = hidden_size
        self.encoder = nn.Embedding(vocabulary, hidden_size)
        self.rnn = nn.GRUCell(hidden_size, hidden_size)
        self.decoder = nn.Linear(hidden_size, vocabulary)

    def forward(self, token, hidden):
        hidden = self.rnn(self.encoder(token), hidden)
        return self.decoder(hidden), hidden

    @torch.no_grad()
    def evaluate(self, predict_len=12):
        hidden, token, written = torch.zeros(1, self.hidden_size), torch.tensor([START]), [START]
        for _ in range(predict_len):
            output, hidden = self(token, hidden)
            token = torch.distributions.Categorical(logits=output).sample()
            written.append(token.item())
            if written[-1] == END:
                break
        return written


def pretrain(generator, optimizer, steps=40):
    """Short chains of carbon with a few branches, so that the generator knows what a string looks like."""
    corpus = ["<CCO>", "<CCN>", "<CC(O)C>", "<C=CC>", "<CC(N)C>", "<CCCCO>", "<C1CC1>", "<CC=O>"]
    for step in range(steps):
        ids = torch.tensor([TOKENS.index(c) for c in corpus[step % len(corpus)]])
        hidden, loss = torch.zeros(1, generator.hidden_size), 0.0
        for i in range(len(ids) - 1):
            output, hidden = generator(ids[i : i + 1], hidden)
            loss = loss + F.cross_entropy(output, ids[i + 1 : i + 2])
        optimizer.zero_grad()
        (loss / len(ids)).backward()
        optimizer.step()


def get_reward(written):
    """Oxygen is wanted, brackets have to close, and the string has to end."""
    text = "".join(TOKENS[i] for i in written)
    if not text.endswith(">") or text.count("(") != text.count(")"):
        return 0.0
    return 0.5 + min(text.count("O"), 4)


class Reinforcement:
    def __init__(self, generator, optimizer, get_reward):
        self.generator, self.optimizer, self.get_reward = generator, optimizer, get_reward
        self.baseline = 0.0

    def policy_gradient(self, n_batch=8, gamma=0.97, grad_clipping=5.0):
        rl_loss, total_reward = torch.zeros(()), 0.0
        for _ in range(n_batch):
            trajectory = self.generator.evaluate()
            reward = self.get_reward(trajectory)
            discounted_reward = (reward - self.baseline) * gamma ** (len(trajectory) - 2)
            total_reward += reward
            hidden = torch.zeros(1, self.generator.hidden_size)
            for p in range(len(trajectory) - 1):
                output, hidden = self.generator(torch.tensor([trajectory[p]]), hidden)
                log_probs = F.log_softmax(output, dim=1)
                top_i = trajectory[p + 1]
                rl_loss = rl_loss - log_probs[0, top_i] * discounted_reward
                discounted_reward = discounted_reward / gamma
        rl_loss = rl_loss / n_batch
        self.optimizer.zero_grad()
        rl_loss.backward()
        nn.utils.clip_grad_norm_(self.generator.parameters(), grad_clipping)
        self.optimizer.step()
        self.baseline += 0.1 * (total_reward / n_batch - self.baseline)
        return total_reward / n_batch, rl_loss.item()


torch.manual_seed(8)
generator = StackFreeRNN(len(TOKENS))
optimizer = torch.optim.Adam(generator.parameters(), lr=5e-3)
pretrain(generator, optimizer)
agent = Reinforcement(generator, optimizer, get_reward)
for iteration in range(50):
    reward, loss = agent.policy_gradient()
    if iteration % 10 == 9:
        print(f"iteration {iteration + 1}: reward {reward:.2f}, loss {loss:.3f}")
