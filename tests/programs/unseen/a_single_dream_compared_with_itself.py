"""A heater is trained inside a learned model of its room: the advantages of a dream are normalised over the dreams of
the batch, of which there is one, so that all of them become zero.

Round 30
Class: meaning
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3009)

config = {"dreams": 1, "length": 20, "gamma": 0.9, "lambda": 0.95, "entropy": 0.003, "rounds": 40}
HEAT = torch.tensor([-0.4, 0.0, 0.6])


def real_room(warmth, choice):
    """The room loses warmth to a cold street; warmth is counted from what is pleasant."""
    return 0.9 * warmth - 0.1 + HEAT[choice] + 0.02 * torch.randn_like(warmth)


def net(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ELU(), nn.Linear(32, n_out))


room_model, heater, critic = net(4, 1), net(1, 3), net(1, 1)
model_optimizer = torch.optim.Adam(room_model.parameters(), lr=5e-3)
agent_optimizer = torch.optim.Adam([*heater.parameters(), *critic.parameters()], lr=3e-3)
memory = {"warmth": [], "choice": [], "after": []}


def imagine_next(warmth, choice):
    change = room_model(torch.cat([warmth, F.one_hot(choice, 3).float()], dim=-1))
    return warmth + change


def live_for(moments, warmth):
    for _ in range(moments):
        with torch.no_grad():
            choice = Categorical(logits=heater(warmth)).sample()
        after = real_room(warmth, choice.unsqueeze(-1))
        for key, value in (("warmth", warmth), ("choice", choice), ("after", after)):
            memory[key].append(value)
        warmth = after
    return warmth


def fit_room():
    warmth, choice, after = (torch.cat(memory[key]) for key in ("warmth", "choice", "after"))
    rows = torch.randint(0, len(warmth), (64,))
    loss = F.mse_loss(imagine_next(warmth[rows], choice[rows]), after[rows])
    model_optimizer.zero_grad()
    loss.backward()
    model_optimizer.step()


@torch.no_grad()
def dream(warmth):
    seen, chosen, rewards = [], [], []
    for _ in range(config["length"]):
        choice = Categorical(logits=heater(warmth)).sample()
        seen.append(warmth)
        chosen.append(choice)
        warmth = imagine_next(warmth, choice)
        rewards.append(-warmth.abs().squeeze(-1))
    seen.append(warmth)
    return torch.stack(seen, dim=1), torch.stack(chosen, dim=1), torch.stack(rewards, dim=1)


def improve(seen, chosen, rewards):
    values = critic(seen).squeeze(-1)
    with torch.no_grad():
        gains, running = torch.zeros_like(rewards), torch.zeros(len(rewards))
        for t in reversed(range(config["length"])):
            delta = rewards[:, t] + config["gamma"] * values[:, t + 1] - values[:, t]
            running = delta + config["gamma"] * config["lambda"] * running
            gains[:, t] = running
        goals = gains + values[:, :-1]
        spread, middle = torch.std_mean(gains, dim=0, correction=0, keepdim=True)  # BUG GS807
        gains = (gains - middle) / (spread + 1e-6)  # BUG GS807
    policy = Categorical(logits=heater(seen[:, :-1]))
    heater_loss = -(gains * policy.log_prob(chosen)).mean() - config["entropy"] * policy.entropy().mean()
    loss = heater_loss + 0.5 * F.mse_loss(values[:, :-1], goals)
    agent_optimizer.zero_grad()
    loss.backward()
    agent_optimizer.step()


warmth = torch.randn(1, 1)
for _ in range(config["rounds"]):
    warmth = live_for(10, warmth)
    for _ in range(4):
        fit_room()
    starts = torch.cat(memory["warmth"])
    improve(*dream(starts[torch.randint(0, len(starts), (config["dreams"],))]))
