"""Words are drawn from the smallest set that holds most of the probability, and scored among all words on both sides.

Round 23
Class: llm-rl
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2314)
CFG = {"vocab": 14, "width": 24, "answers": 20, "length": 6, "top_p": 0.8, "clip": 0.2, "lr": 2e-3}


def nucleus(logits, top_p):
    """Logits whose tail beyond `top_p` is struck out."""
    ordered, order = logits.sort(-1, descending=True)
    mass = ordered.softmax(-1).cumsum(-1)
    out = (mass - ordered.softmax(-1)) > top_p
    return logits.masked_fill(torch.zeros_like(out).scatter(-1, order, out), float("-inf"))


def build(vocab, width, **_):
    return nn.ModuleDict(
        {
            "embed": nn.Embedding(vocab, width),
            "body": nn.Sequential(nn.Linear(2 * width, width), nn.Tanh()),
            "head": nn.Linear(width, vocab),
        }
    )


def logits_of(net, ids):
    x = net["embed"](ids)
    past = x.cumsum(1) / torch.arange(1, ids.shape[1] + 1)[:, None]
    return net["head"](net["body"](torch.cat([x, past], -1)))


@torch.no_grad()
def generate(net):
    ids, kept = torch.randint(CFG["vocab"], (CFG["answers"], 1)), []
    for _ in range(CFG["length"]):
        logits = logits_of(net, ids)[:, -1]
        word = nucleus(logits, CFG["top_p"]).softmax(-1).multinomial(1)
        kept.append(logits.log_softmax(-1).gather(1, word))
        ids = torch.cat((ids, word), 1)
    return ids, torch.cat(kept, 1)


def surrogate(net, ids, old, advantage):
    new = -F.cross_entropy(logits_of(net, ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    ratio = (new.view_as(old) - old).exp()
    return -torch.min(ratio * advantage, ratio.clamp(1 - CFG["clip"], 1 + CFG["clip"]) * advantage).mean()


net = build(**CFG)
optimizer = torch.optim.Adam(net.parameters(), CFG["lr"])
for _ in range(18):
    ids, old = generate(net)
    score = (ids[:, 1:] >= 10).float().mean(1, keepdim=True)
    advantage = (score - score.mean()) / (score.std() + 1e-6)
    for _ in range(2):
        loss = surrogate(net, ids, old, advantage)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
