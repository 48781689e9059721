"""A reward model learns from the best of several answers to a prompt, by a softmax over the answers of that prompt.

Round 29
Class: llm-rl
"""

import torch
from torch import nn

VOCAB, WIDTH, LENGTH, CANDIDATES, BATCH = 24, 32, 8, 6, 12


class RewardModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, prompts, answers):
        """prompts [B, L], answers [B, K, L] → scores [B, K]"""
        batch, candidates, _ = answers.shape
        text = torch.cat([prompts.unsqueeze(1).expand(-1, candidates, -1), answers], dim=-1)
        _, last = self.encoder(self.embedding(text.flatten(0, 1)))
        return self.score(last[0]).view(batch, candidates)


class Annotator:
    """Likes answers that take up the words of the prompt, and dislikes repetition."""

    def __init__(self, generator):
        self.generator = generator

    def draw(self, size):
        prompts = torch.randint(VOCAB, (size, LENGTH), generator=self.generator)
        answers = torch.randint(VOCAB, (size, CANDIDATES, LENGTH), generator=self.generator)
        taken_up = (answers.unsqueeze(-1) == prompts[:, None, None, :]).any(-1).float().sum(-1)
        repeated = (answers[..., 1:] == answers[..., :-1]).float().sum(-1)
        high = (answers > VOCAB // 2).float().mean(-1)
        return prompts, answers, (taken_up - repeated + 4 * high).argmax(dim=1)


def preference_loss(scores, best):
    log_share = scores.log_softmax(dim=1)
    return -log_share.gather(1, best.unsqueeze(1)).mean()


torch.manual_seed(2925)
annotator = Annotator(torch.Generator().manual_seed(2925))
model = RewardModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=10)
right = 0.0
for step in range(80):
    prompts, answers, best = annotator.draw(BATCH)
    scores = model(prompts, answers)
    loss = preference_loss(scores, best)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    right = 0.95 * right + 0.05 * (scores.argmax(1) == best).float().mean().item()
print(f"accuracy {right:.2f}")
