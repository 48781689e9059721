"""Programs for two ranks: right ones, whose weights are the same on every rank or different on purpose, and wrong
ones, each with its rule and the marked line."""

from __future__ import annotations

HEAD = """
import hashlib, os, torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class Agent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh())
        self.policy, self.value = torch.nn.Linear(16, 2), torch.nn.Linear(16, 1)
    def forward(self, x):
        h = self.trunk(x)
        return self.policy(h), self.value(h)
agent = Agent()
def batch():
    return torch.randn(8, 4)
def loss_of(model, x):
    logits, value = model(x)
    returns = x.sum(1, keepdim=True)
    chosen = logits.log_softmax(1)[:, :1]
    return -(chosen * (returns - value).detach()).mean() + (value - returns).pow(2).mean()
"""
TAIL = """
bits = b"".join(p.detach().numpy().tobytes() for p in agent.parameters()) + torch.get_rng_state().numpy().tobytes()
with open(os.environ["OUT"] + str(rank), "w") as file:
    file.write(hashlib.sha256(bits).hexdigest())
"""
WRAPPED = """
model = DistributedDataParallel(agent{options})
opt = torch.optim.{optimizer}(model.parameters(), lr=0.01)
torch.manual_seed(rank)
"""
PLAIN = """
for _ in range(40):
    opt.zero_grad()
    loss_of(model, batch()).backward()
    opt.step()
"""


def wrapped(options: str = "", optimizer: str = "Adam") -> str:
    return WRAPPED.format(options=options, optimizer=optimizer)


PROGRAMS = {
    "plain": wrapped() + PLAIN,
    "static graph": wrapped(", static_graph=True", "SGD") + PLAIN,
    "bucket views": wrapped(", gradient_as_bucket_view=True", "RMSprop") + PLAIN,
    "half the traffic": wrapped()
    + "from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook\n"
    + "model.register_comm_hook(None, fp16_compress_hook)\n"
    + PLAIN,
    "accumulation": wrapped()
    + """
for _ in range(20):
    opt.zero_grad()
    with model.no_sync():
        (loss_of(model, batch()) / 2).backward()
    (loss_of(model, batch()) / 2).backward()
    opt.step()
""",
    "heads now and then": wrapped(", find_unused_parameters=True")
    + """
for step in range(40):
    opt.zero_grad()
    logits, value = model(batch())
    (value.pow(2).mean() if (step + rank) % 3 else logits.logsumexp(1).mean()).backward()
    opt.step()
""",
    "clipped": wrapped()
    + """
for _ in range(40):
    opt.zero_grad()
    loss_of(model, batch()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    opt.step()
""",
    "evaluated past the wrapper": wrapped()
    + """
for step in range(40):
    with torch.no_grad():
        old = model.module(batch())[1]
    opt.zero_grad()
    loss_of(model, batch() + 0 * old.mean()).backward()
    opt.step()
""",
    "averaged by hand": """
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
for p in agent.parameters():
    dist.broadcast(p.data, 0)
torch.manual_seed(rank)
for _ in range(40):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    for p in agent.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
""",
    "averaged in one piece": """
opt = torch.optim.SGD(agent.parameters(), lr=0.01)
torch.manual_seed(rank)
for _ in range(40):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    flat = torch.cat([p.grad.flatten() for p in agent.parameters()])
    dist.all_reduce(flat)
    at = 0
    for p in agent.parameters():
        p.grad.copy_(flat[at : at + p.numel()].view_as(p) / world)
        at += p.numel()
    opt.step()
""",
    "each its own": """
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
torch.manual_seed(rank)
for _ in range(40):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    opt.step()
""",
    "weights averaged now and then": """
opt = torch.optim.SGD(agent.parameters(), lr=0.01)
for p in agent.parameters():
    dist.broadcast(p.data, 0)
torch.manual_seed(rank)
for step in range(40):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    opt.step()
    if step % 5 == 4:
        for p in agent.parameters():
            dist.all_reduce(p.data)
            p.data /= world
""",
    "a learner and an actor": """
opt = torch.optim.Adam(agent.parameters(), lr=0.01) if rank == 0 else None
torch.manual_seed(rank)
for _ in range(20):
    if rank == 0:
        opt.zero_grad()
        loss_of(agent, batch()).backward()
        opt.step()
    for p in agent.parameters():
        dist.broadcast(p.data, 0)
""",
}

BUGS = {
    "one head forgotten when averaging by hand": (
        "GS701",
        """
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
torch.manual_seed(rank)
for _ in range(20):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    for p in [*agent.trunk.parameters(), *agent.policy.parameters()]:
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()  # BUG
""",
    ),
    "every fourth step is not averaged": (
        "GS701",
        wrapped()
        + """
import contextlib
for step in range(20):
    opt.zero_grad()
    with model.no_sync() if step % 4 == 3 else contextlib.nullcontext():
        loss_of(model, batch()).backward()
    opt.step()  # BUG
""",
    ),
    "a head of one rank": (
        "GS702",
        wrapped()
        + """
for step in range(20):
    opt.zero_grad()
    logits, value = model(batch())  # BUG
    loss = logits.logsumexp(1).mean()
    if rank == 0 or step < 2:
        loss = loss + value.pow(2).mean()
    loss.backward()
    opt.step()
""",
    ),
    "the network by its old name": (
        "GS703",
        wrapped()
        + """
for _ in range(20):
    opt.zero_grad()
    logits, value = agent(batch())  # BUG
    (logits.logsumexp(1).mean() + value.pow(2).mean()).backward()
    opt.step()
""",
    ),
    "targets that are ignored": (
        "GS704",
        wrapped()
        + """
for _ in range(20):
    opt.zero_grad()
    logits, value = model(batch())
    labels = torch.randint(2, (8,))
    labels[2 + 4 * rank:] = -100
    loss = torch.nn.functional.cross_entropy(logits, labels)  # BUG
    (loss + value.pow(2).mean()).backward()
    opt.step()
""",
    ),
}
