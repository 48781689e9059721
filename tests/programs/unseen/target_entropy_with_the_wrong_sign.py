"""The temperature should rise where the policy's entropy is below its target; the target enters with the other sign, so
the difference is never positive and the temperature falls whatever the policy does.

Round 15
Class: meaning
"""

import copy
import math
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1507)


@dataclass
class Config:
    actions: int = 6
    hidden: int = 32
    envs: int = 10
    batch: int = 50
    discount: float = 0.9
    share: float = 0.95  # of the largest entropy


@dataclass
class Agent:
    config: Config
    nets: nn.ModuleDict = field(init=False)
    target: nn.Module = field(init=False)
    log_temp: torch.Tensor = field(init=False)

    def __post_init__(self):
        c = self.config
        self.nets = nn.ModuleDict({"policy": self.build(), "q": self.build()})
        self.target = copy.deepcopy(self.nets["q"]).requires_grad_(False)
        self.log_temp = torch.full((), -2.0, requires_grad=True)
        self.optims = {name: torch.optim.Adam(net.parameters(), lr=4e-3) for name, net in self.nets.items()}
        self.optims["temp"] = torch.optim.Adam([self.log_temp], lr=1e-2)
        self.target_entropy = c.share * math.log(c.actions)

    def build(self):
        c = self.config
        return nn.Sequential(nn.Linear(c.actions, c.hidden), nn.Tanh(), nn.Linear(c.hidden, c.actions))

    def apply(self, name, loss):
        self.optims[name].zero_grad()
        loss.backward()
        self.optims[name].step()
        return loss.item()


def critic_loss(agent, batch):
    obs, action, reward, after = batch
    with torch.no_grad():
        log_probs = agent.nets["policy"](after).log_softmax(-1)
        soft = (log_probs.exp() * (agent.target(after) - agent.log_temp.exp() * log_probs)).sum(-1)
        goal = reward + agent.config.discount * soft
    return (agent.nets["q"](obs).gather(1, action[:, None])[:, 0] - goal).square().mean()


def actor_loss(agent, batch):
    log_probs = agent.nets["policy"](batch[0]).log_softmax(-1)
    with torch.no_grad():
        q, temp = agent.nets["q"](batch[0]), agent.log_temp.exp()
    return (log_probs.exp() * (temp * log_probs - q)).sum(-1).mean()


def temperature_loss(agent, batch):
    with torch.no_grad():
        log_probs = agent.nets["policy"](batch[0]).log_softmax(-1)
        difference = log_probs - agent.target_entropy  # BUG GS802
        probs = log_probs.exp()
    return -(agent.log_temp.exp() * difference * probs).sum(-1).mean()  # BUG GS802


def collect(agent, replay, obs):
    """One step of all copies: the prize is for the action that the largest entry names."""
    with torch.no_grad():
        action = Categorical(logits=agent.nets["policy"](obs)).sample()
    reward = (action == obs.argmax(-1)).float() * 2 - 0.3
    after = torch.randn_like(obs)
    replay.append((obs, action, reward, after))
    return after


def sample(replay, size):
    columns = [torch.cat(column) for column in zip(*replay[-100:])]
    index = torch.randint(len(columns[0]), (size,))
    return [column[index] for column in columns]


config = Config()
agent, replay = Agent(config), []
obs = torch.randn(config.envs, config.actions)
for step in range(150):
    obs = collect(agent, replay, obs)
    batch = sample(replay, config.batch)
    agent.apply("q", critic_loss(agent, batch))
    agent.apply("policy", actor_loss(agent, batch))
    agent.apply("temp", temperature_loss(agent, batch))
    with torch.no_grad():
        for slow, fast in zip(agent.target.parameters(), agent.nets["q"].parameters()):
            slow.lerp_(fast, 0.05)
    if step % 50 == 0:
        print(
            step,
            agent.log_temp.exp().item(),
            Categorical(logits=agent.nets["policy"](obs)).entropy().mean().item(),
        )
