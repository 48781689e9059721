"""How installed libraries are made to train for a moment, and which of their files are mutated then."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

# The examples show one planted bug each; without it they are right programs. Some updates are enough.
EXAMPLES = {
    "dqn": {
        "default=120": "default=60",
        "self.online(next_state).max(1).values": "self.online(next_state).max(1).values.detach()",
    },
    "a2c_shared_trunk": {
        "default=80": "default=30",
        "torch.cat(returns) - values  #": "torch.cat(returns) - values.detach()  #",
    },
    "recurrent_policy": {"default=60": "default=15", "self.encoder(state).detach()": "self.encoder(state)"},
    "sac": {
        "default=80": "default=30",
        "        self.critic_optimizer.zero_grad()  # wrong: belongs before `critic_loss.backward()`\n": "",
        "        critic_loss.backward(": "        self.critic_optimizer.zero_grad()\n        critic_loss.backward(",
    },
    "ppo": {
        "default=40": "default=12",
        "            self.optimizer.step()\n": "",
        "0.5)  # wrong\n": "0.5)\n            self.optimizer.step()\n",
    },
}


@dataclass(frozen=True)
class Driver:
    text: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Library:
    package: str
    origin: str
    drivers: dict[str, Driver]
    renamed: str = ""
    replaced: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "renamed", self.renamed or self.package)

    def prepare(self, path: Path) -> None:
        """What has to be another text in the copy, line for line."""
        text = before = path.read_text(encoding="utf-8")
        for old, new in self.replaced.items():
            text = text.replace(old, new)
        if text != before:
            path.write_text(text, encoding="utf-8")


BASELINE = """\
import torch
from stable_baselines3 import {kind}

torch.manual_seed(0)
model = {kind}("MlpPolicy", "{env}", seed=1, device="cpu", policy_kwargs={{"net_arch": [32, 32]}}, {options})
model.learn({steps})
"""
REPLAY = "learning_starts=64, batch_size=32, buffer_size=1000"


def baseline(kind: str, env: str, steps: int, options: str, *files: str) -> Driver:
    name = kind.lower()
    text = BASELINE.format(kind=kind, env=env, steps=steps, options=options)
    return Driver(text, (f"{name}/{name}.py", *files))


CONTINUOUS, DISCRETE = "Pendulum-v1", "CartPole-v1"
INSTALLED = (
    Library(
        "stable_baselines3",
        "stable-baselines3",
        {
            "dqn": baseline("DQN", DISCRETE, 300, f"{REPLAY}, target_update_interval=50, train_freq=4"),
            "ppo": baseline(
                "PPO", DISCRETE, 160, "n_steps=64, batch_size=32, n_epochs=3, ent_coef=0.01",
                "common/distributions.py", "common/buffers.py",
            ),
            "a2c": baseline("A2C", DISCRETE, 250, "n_steps=5, ent_coef=0.01"),
            "td3": baseline("TD3", CONTINUOUS, 240, REPLAY, "td3/policies.py"),
            "sac": baseline("SAC", CONTINUOUS, 240, REPLAY, "sac/policies.py", "common/distributions.py"),
        },
    ),
)  # fmt: skip

AGENT = """\
import torch
from agents.algorithms import build, preset
from agents.make import make_envs

torch.manual_seed(0)
agent = build(preset("{kind}", "{env}", {options}), make_envs("{env}", {number}, "sync"))
while agent.updates < {updates}:
    agent.advance()
"""


def agent(kind: str, env: str, updates: int, options: str, number: int = 1) -> Driver:
    text = AGENT.format(kind=kind, env=env, updates=updates, options=options, number=number)
    return Driver(text, (f"{kind}.py", "agent.py", "networks.py", "losses/value.py", "losses/policy.py",
                         "losses/actor_critic.py", "losses/returns.py", "policies.py"))  # fmt: skip


SMALL = "seed=1, hidden=(32, 32)"
AGENTS = Library(
    "gradsan.rl",
    "gradsan.rl",
    {
        "dqn": agent(
            "dqn", DISCRETE, 60, f"{SMALL}, learning_starts=100, train_every=64, updates_per_round=16"
        ),
        "ppo": agent("ppo", DISCRETE, 40, SMALL, 4),
        "a2c": agent("a2c", DISCRETE, 40, SMALL, 4),
        "sac": agent("sac", CONTINUOUS, 60, f"{SMALL}, learning_starts=100"),
        "td3": agent("td3", CONTINUOUS, 60, f"{SMALL}, learning_starts=100"),
        "reinforce": agent("reinforce", DISCRETE, 8, SMALL),
    },
    renamed="agents",
    # Their own check of each loss is switched off: it would be one more tool.
    replaced={"gradsan.rl": "agents", "self.contracts.check(name, loss)": "pass"},
)
