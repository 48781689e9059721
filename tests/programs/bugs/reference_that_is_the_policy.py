"""The reference model of a preference loss is the policy itself, and live: the margin is zero, and so is its gradient."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(8, 16), nn.Embedding(6, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(16, 8)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(6))

    def forward(self, tokens):
        size = tokens.shape[1]
        embedded = self.token(tokens) + self.place(torch.arange(size))
        return self.head(self.blocks(embedded, mask=self.mask[:size, :size], is_causal=True))


def log_prob(model, tokens):
    log_probs = model(tokens[:, :-1]).log_softmax(-1)
    return log_probs.gather(2, tokens[:, 1:, None]).squeeze(-1).sum(-1)


def train(parameters, loss_of, updates):
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    for _ in range(updates):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def preference_loss(policy, reference):
    chosen, rejected = torch.randint(8, (2, 16, 6))
    mine, mine_rejected = log_prob(policy, chosen), log_prob(policy, rejected)
    theirs, theirs_rejected = log_prob(reference, chosen), log_prob(reference, rejected)  # BUG GS209
    margin = (mine - mine_rejected) - (theirs - theirs_rejected)
    return -nn.functional.logsigmoid(0.1 * margin).mean()


def main():
    torch.manual_seed(0)
    policy = Model()
    train(policy.parameters(), lambda: -log_prob(policy, torch.randint(8, (16, 6))).mean(), 20)
    reference = policy
    train(policy.parameters(), lambda: preference_loss(policy, reference), 20)


main()
