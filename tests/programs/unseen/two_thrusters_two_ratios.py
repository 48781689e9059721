"""PPO for a lander with two thrusters: the log-probability keeps a column for each thruster, and the ratio is made and
clipped for every thruster instead of the action.

Round 28
Class: axes
"""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions.normal import Normal

SEED = 289
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)

hp = {"envs": 8, "steps": 20, "epochs": 4, "minibatch": 40, "gamma": 0.96, "lam": 0.95}
hp |= {"clip": 0.2, "vf": 0.5, "ent": 0.001, "lr": 1e-3}


class Hover:
    """Hold a craft at the origin of a plane with a thruster for each direction; it ends where the craft is lost."""

    def __init__(self, n):
        self.n = n
        self.x = np.zeros((n, 4), np.float32)
        self.x[:] = [self._start() for _ in range(n)]

    def _start(self):
        return rng.normal(0.0, 0.3, 4)

    def step(self, thrust):
        thrust = np.clip(thrust, -1.0, 1.0)
        self.x[:, 2:] += 0.2 * thrust + rng.normal(0.0, 0.02, (self.n, 2))
        self.x[:, :2] += 0.2 * self.x[:, 2:]
        distance = np.linalg.norm(self.x[:, :2], axis=1)
        lost = distance > 1.5
        reward = 0.2 - 0.2 * distance - lost
        for i in np.flatnonzero(lost):
            self.x[i] = self._start()
        return self.x.copy(), reward.astype(np.float32), lost.astype(np.float32)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 1))
        self.actor_mean = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 2))
        self.actor_logstd = nn.Parameter(torch.full((1, 2), -0.5))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        mean = self.actor_mean(x)
        probs = Normal(mean, self.actor_logstd.expand_as(mean).exp())
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy().sum(1), self.critic(x)  # BUG GS603


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=hp["lr"], eps=1e-5)
envs = Hover(hp["envs"])
next_obs = torch.from_numpy(envs.x.copy())

for update in range(1, 13):
    rows = []
    for _ in range(hp["steps"]):
        obs = next_obs
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(obs)
        new, reward, lost = envs.step(action.numpy())
        next_obs = torch.from_numpy(new)
        reward, lost = (torch.from_numpy(x)[:, None] for x in (reward, lost))
        rows.append((obs, action, logprob, value, reward, lost))
    b_obs, b_act, b_logprob, b_value, b_reward, b_lost = (torch.stack(x) for x in zip(*rows))

    with torch.no_grad():
        next_value = agent.get_value(next_obs)
    b_adv = torch.zeros_like(b_reward)
    lastgaelam = 0.0
    for t in reversed(range(hp["steps"])):
        alive = 1.0 - b_lost[t]
        delta = b_reward[t] + hp["gamma"] * next_value * alive - b_value[t]
        b_adv[t] = lastgaelam = delta + hp["gamma"] * hp["lam"] * alive * lastgaelam
        next_value = b_value[t]
    b_return = b_adv + b_value
    data = [x.flatten(0, 1) for x in (b_obs, b_act, b_logprob, b_adv, b_return)]

    for _ in range(hp["epochs"]):
        for mb in torch.randperm(hp["envs"] * hp["steps"]).split(hp["minibatch"]):
            o, a, old, adv, ret = (x[mb] for x in data)
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            _, new, entropy, value = agent.get_action_and_value(o, a)
            ratio = (new - old).exp()  # BUG GS603
            limited = ratio.clamp(1 - hp["clip"], 1 + hp["clip"])
            pg = torch.max(-adv * ratio, -adv * limited).mean()  # BUG GS603
            v_loss = 0.5 * (value - ret).pow(2).mean()
            loss = pg + hp["vf"] * v_loss - hp["ent"] * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if update % 4 == 0:
        print(f"update {update}: reward {b_reward.mean():.3f}, craft lost {int(b_lost.sum())}")
