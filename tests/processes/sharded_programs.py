"""Programs for two ranks whose network is sharded (FSDP2): right ones, and wrong ones with their rule and line."""

from __future__ import annotations

from rank_programs import HEAD

SHARD = """
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
mesh = init_device_mesh("cpu", (world,))
"""
SHARDED = """
fully_shard(agent.trunk, mesh=mesh)
fully_shard(agent, mesh=mesh)
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
"""
SHARDED_HEAD = HEAD + SHARD
SHARDED_TAIL = """
bits = b"".join(p.to_local().detach().numpy().tobytes() for p in agent.parameters())
with open(os.environ["OUT"] + str(rank), "w") as file:
    file.write(hashlib.sha256(bits + torch.get_rng_state().numpy().tobytes()).hexdigest())
"""
ROUND = """
torch.manual_seed(rank)
for _ in range(20):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    opt.step()
"""

SHARDED_PROGRAMS = {
    "sharded": SHARDED + ROUND,
    "sharded in half precision": SHARDED.replace(
        "mesh=mesh)", "mesh=mesh, mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))"
    )
    + ROUND,
    "sharded, and kept whole for backward": SHARDED.replace(
        "mesh=mesh)", "mesh=mesh, reshard_after_forward=False)"
    )
    + ROUND,
    "sharded, exchanged every other backward": SHARDED
    + """
torch.manual_seed(rank)
for _ in range(15):
    opt.zero_grad()
    for turn in range(2):
        agent.set_requires_gradient_sync(turn == 1)
        (loss_of(agent, batch()) / 2).backward()
    opt.step()
""",
    "sharded, with a head that is frozen": "agent.value.requires_grad_(False)\n"
    + SHARDED.replace("agent.parameters(),", "[p for p in agent.parameters() if p.requires_grad],")
    + ROUND,
    "sharded, with an optimizer for each part": """
fully_shard(agent.trunk, mesh=mesh)
fully_shard(agent, mesh=mesh)
heads = [*agent.policy.parameters(), *agent.value.parameters()]
both = torch.optim.SGD(agent.trunk.parameters(), lr=0.01), torch.optim.Adam(heads, lr=0.01)
torch.manual_seed(rank)
for _ in range(20):
    agent.zero_grad()
    loss_of(agent, batch()).backward()
    for opt in both:
        opt.step()
""",
}
SHARDED_BUGS = {
    "an optimizer that is older than the shards": (
        "GS206",
        """
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
fully_shard(agent.trunk, mesh=mesh)  # BUG
fully_shard(agent, mesh=mesh)
torch.manual_seed(rank)
for _ in range(12):
    agent.zero_grad()
    loss_of(agent, batch()).backward()
    opt.step()
""",
    ),
    "shards that are never cleared": (
        "GS401",
        SHARDED
        + """
torch.manual_seed(rank)
for _ in range(12):
    loss_of(agent, batch()).backward()
    opt.step()  # BUG
""",
    ),
    "shards that are clipped too late": (
        "GS504",
        SHARDED
        + """
torch.manual_seed(rank)
for _ in range(12):
    opt.zero_grad()
    loss_of(agent, batch()).backward()
    opt.step()
    torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)  # BUG
""",
    ),
}


def whole(code: str) -> str:
    return SHARDED_HEAD + code + SHARDED_TAIL
