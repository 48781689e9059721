"""A vector rollout of shape [time, copies, joints] keeps the joints' axis of the log-probability, and PPO's ratio is
formed for every joint.

Round 22
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal

TIME, COPIES, OBS, JOINTS = 10, 6, 5, 3


class VecReach:
    def __init__(self):
        self.goal = torch.randn(COPIES, JOINTS)
        self.place = torch.zeros(COPIES, JOINTS)
        self.age = torch.randint(0, 12, (COPIES,))

    def observe(self):
        return torch.cat([(self.goal - self.place)[:, :JOINTS], self.place[:, : OBS - JOINTS]], dim=1)

    def step(self, action):
        self.place = self.place + 0.2 * action.clamp(-1, 1)
        reward = -(self.goal - self.place).abs().mean(dim=1)
        self.age += 1
        done = self.age >= 12
        self.age[done] = 0
        self.goal = torch.where(done[:, None], torch.randn(COPIES, JOINTS), self.goal)
        self.place = torch.where(done[:, None], torch.zeros(COPIES, JOINTS), self.place)
        return self.observe(), reward, done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(OBS, 32), nn.ELU(), nn.Linear(32, JOINTS))
        self.value = nn.Sequential(nn.Linear(OBS, 32), nn.ELU(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(JOINTS))

    def dist(self, obs):
        return Normal(self.mean(obs), self.log_std.exp())


torch.manual_seed(2208)
env, net = VecReach(), ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
obs = env.observe()
for iteration in range(12):
    store = {k: [] for k in ("obs", "act", "logp", "rew", "done", "val")}
    with torch.no_grad():
        for _ in range(TIME):
            pi = net.dist(obs)
            act = pi.sample()
            store["obs"].append(obs)
            store["act"].append(act)
            store["logp"].append(pi.log_prob(act))  # BUG GS603
            store["val"].append(net.value(obs))
            obs, rew, done = env.step(act)
            store["rew"].append(rew.unsqueeze(1))
            store["done"].append(done.float().unsqueeze(1))
        roll = {k: torch.stack(v) for k, v in store.items()}
        nxt, gae = net.value(obs), torch.zeros(COPIES, 1)
        adv = torch.zeros_like(roll["rew"])
        for t in reversed(range(TIME)):
            live = 1 - roll["done"][t]
            gae = roll["rew"][t] + 0.97 * live * nxt - roll["val"][t] + 0.97 * 0.95 * live * gae
            adv[t], nxt = gae, roll["val"][t]
        ret = adv + roll["val"]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(3):
        pi = net.dist(roll["obs"])
        logp = pi.log_prob(roll["act"])  # BUG GS603
        ratio = (logp - roll["logp"]).exp()
        surrogate = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        value_loss = (net.value(roll["obs"]) - ret).pow(2).mean()
        loss = -surrogate + 0.5 * value_loss - 0.001 * pi.entropy().sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(iteration, round(roll["rew"].mean().item(), 3))
