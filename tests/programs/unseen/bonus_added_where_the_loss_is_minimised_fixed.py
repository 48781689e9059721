"""A clipped surrogate is negated and the entropy added with its coefficient, in one line.

Round 13
Class: meaning
"""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1314)
rng = np.random.default_rng(1314)
STEPS, ENVS, ACTIONS = 16, 4, 3


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, ACTIONS))

    def get_action(self, x, action=None):
        dist = Categorical(logits=self.fc(x))
        action = dist.sample() if action is None else action
        return action, dist.log_prob(action), dist.entropy()


pg, vf = Policy(), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
pg_optimizer = torch.optim.Adam(pg.parameters(), lr=1e-3)
v_optimizer = torch.optim.Adam(vf.parameters(), lr=1e-3)
obs = torch.randn(ENVS, 4)
for update in range(30):
    all_obs, all_actions, all_logprobs = (
        torch.zeros(STEPS, ENVS, 4),
        torch.zeros(STEPS, ENVS).long(),
        torch.zeros(STEPS, ENVS),
    )
    rewards, values = torch.zeros(STEPS, ENVS), torch.zeros(STEPS + 1, ENVS)
    for step in range(STEPS):
        with torch.no_grad():
            action, logprob, _ = pg.get_action(obs)
            values[step] = vf(obs).squeeze(-1)
        all_obs[step], all_actions[step], all_logprobs[step] = obs, action, logprob
        rewards[step] = (action == (obs[:, 0] > 0).long()).float() + 0.1 * obs[:, 1]
        obs = 0.7 * obs + 0.7 * torch.randn(ENVS, 4)
    with torch.no_grad():
        values[STEPS] = vf(obs).squeeze(-1)
        advantages, last = torch.zeros_like(rewards), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            last = rewards[t] + 0.95 * values[t + 1] - values[t] + 0.95 * 0.9 * last
            advantages[t] = last
        returns = advantages + values[:-1]
    flat = [x.reshape(-1, *x.shape[2:]) for x in (all_obs, all_actions, all_logprobs, advantages, returns)]
    inds = np.arange(STEPS * ENVS)
    for _ in range(2):
        rng.shuffle(inds)
        for start in range(0, len(inds), 16):
            b_obs, b_actions, b_logprobs, b_adv, b_ret = (x[inds[start : start + 16]] for x in flat)
            b_adv = (b_adv - b_adv.mean()) / (b_adv.std() + 1e-8)
            _, newlogproba, entropy = pg.get_action(b_obs, b_actions)
            ratio = (newlogproba - b_logprobs).exp()
            clip_adv = torch.where(b_adv > 0, 1.2 * b_adv, 0.8 * b_adv)
            policy_loss = -torch.min(ratio * b_adv, clip_adv).mean() - 0.01 * entropy.mean()
            pg_optimizer.zero_grad()
            policy_loss.backward()
            nn.utils.clip_grad_norm_(pg.parameters(), 0.5)
            pg_optimizer.step()
            v_loss = (vf(b_obs).squeeze(-1) - b_ret).pow(2).mean()
            v_optimizer.zero_grad()
            v_loss.backward()
            v_optimizer.step()
