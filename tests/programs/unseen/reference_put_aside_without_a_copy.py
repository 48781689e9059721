"""To save memory a trainer keeps one model and exchanges its weights when the reference has to score. The
first weights were put aside without a copy and move along with the training, so the divergence from them is
zero for ever.

Round 34
Class: llm-rl
"""

import torch
from torch import nn
from torch.nn import functional as F

VOCAB, PROMPT, ANSWER, BATCH = 12, 3, 6, 32


class Model(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, VOCAB)

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.out(self.norm(hidden))


def pretrain(model, steps=15):
    """A short supervised phase: every word is followed by its successor."""
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        start = torch.randint(VOCAB, (BATCH, 1))
        text = (start + torch.arange(PROMPT + ANSWER)) % VOCAB
        logits = model(text[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Trainer:
    def __init__(self, model, beta=0.2, lr=2e-3):
        self.model = model
        self.beta = beta
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.reference = {k: v.detach() for k, v in model.state_dict().items()}  # BUG GS808 GS306

    @torch.no_grad()
    def generate(self, prompts):
        tokens = prompts
        for _ in range(ANSWER):
            word = torch.multinomial(self.model(tokens)[:, -1].softmax(-1), 1)
            tokens = torch.cat([tokens, word], dim=1)
        return tokens

    def log_probs(self, tokens):
        logits = self.model(tokens[:, :-1])[:, PROMPT - 1 :]
        return logits.log_softmax(-1).gather(2, tokens[:, PROMPT:, None]).squeeze(2)

    @torch.no_grad()
    def reference_log_probs(self, tokens):
        trained = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        self.model.load_state_dict(self.reference)  # BUG GS808
        scores = self.log_probs(tokens)
        self.model.load_state_dict(trained)
        return scores

    def update(self):
        tokens = self.generate(torch.randint(VOCAB, (BATCH, PROMPT)))
        reference = self.reference_log_probs(tokens)  # BUG GS808
        rewards = (tokens[:, PROMPT:] % 3 == 0).float().mean(1)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)

        log_probs = self.log_probs(tokens)
        difference = reference - log_probs
        divergence = difference.exp() - difference - 1
        loss = -(log_probs * advantages[:, None]).mean() + self.beta * divergence.mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return rewards.mean().item(), divergence.mean().item()


def main(updates=40):
    torch.manual_seed(364)
    model = Model()
    pretrain(model)
    trainer = Trainer(model)
    for step in range(1, updates + 1):
        reward, divergence = trainer.update()
        if step % 10 == 0:
            print(f"{step}: reward {reward:.3f}, divergence {divergence:.4f}")


if __name__ == "__main__":
    main()
