"""On-policy distillation: the student writes, the teacher says how likely it finds each token; generalised JSD with a
temperature, plus cross-entropy on given answers; labels of -100 are left out."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
VOCAB, LENGTH, T, BETA = 12, 8, 2.0, 0.5


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class TinyLM(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, width), nn.Linear(width, VOCAB, bias=False)
        self.layers = nn.ModuleList([Block(width), Block(width)])

    def hidden(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, tokens):
        return self.head(self.hidden(tokens))


def generalised_jsd(student_logits, teacher_logits, mask):
    student, teacher = (x.div(T).log_softmax(-1) for x in (student_logits, teacher_logits))
    weights = torch.log(torch.tensor([BETA, 1 - BETA]))
    mixture = torch.logsumexp(torch.stack([teacher + weights[0], student + weights[1]]), 0)
    to_teacher = F.kl_div(mixture, teacher, reduction="none", log_target=True).sum(-1)
    to_student = F.kl_div(mixture, student, reduction="none", log_target=True).sum(-1)
    divergence = BETA * to_teacher + (1 - BETA) * to_student
    return T**2 * divergence[mask].mean()


student, teacher = TinyLM(8), TinyLM(32)
teacher.eval()
optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
for step in range(12):
    tokens = torch.randint(1, VOCAB, (4, 3 if step % 2 else LENGTH))
    while tokens.shape[1] < LENGTH:
        with torch.no_grad():
            tokens = torch.cat([tokens, student(tokens)[:, -1:].softmax(-1).squeeze(1).multinomial(1)], 1)
    labels = tokens[:, 1:].masked_fill(torch.rand(4, LENGTH - 1) < 0.2, -100)
    with torch.inference_mode():
        wanted = teacher(tokens[:, :-1])
    logits = student(tokens[:, :-1])
    loss = generalised_jsd(logits, wanted.clone(), labels != -100)
    loss = loss + 0.1 * F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
