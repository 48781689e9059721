"""Copies of an environment with a time limit, side by side. Where a copy ran out of time, the value of its last state is to
be added to its reward. The line adds it to the rewards of all copies as soon as one has run out: those that go on get it
twice, those that fell get it though nothing follows.

Round 20
Class: meaning
"""

import torch
from torch import nn
from torch.distributions import Categorical


class VectorWalkers:
    """Walkers on a plank, each with a clock of its own. Falling ends, time truncates; both begin anew at once."""

    def __init__(self, num_envs, limit=16):
        self.num_envs, self.limit = num_envs, limit

    def spawn(self, n):
        return torch.stack([torch.rand(n) * 2 - 1, torch.zeros(n)], dim=1)

    def reset(self):
        self.state = self.spawn(self.num_envs)
        self.clock = torch.randint(0, self.limit, (self.num_envs,))
        return self.state.clone()

    def step(self, actions):
        x, v = self.state.unbind(1)
        v = 0.6 * v + 0.25 * (actions.float() - 1) + 0.1 * torch.randn_like(v)
        x = x + v
        self.clock = self.clock + 1
        terminated = x.abs() > 2
        truncated = (self.clock >= self.limit) & ~terminated
        rewards = 1.0 - 0.5 * x.abs() - 2.0 * terminated.float()
        final_obs = torch.stack([x, v], dim=1)
        over = terminated | truncated
        self.state = torch.where(over.unsqueeze(1), self.spawn(self.num_envs), final_obs)
        self.clock = torch.where(over, 0, self.clock)
        return self.state.clone(), rewards, terminated, truncated, {"final_obs": final_obs}


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 3))
        self.critic = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 1))

    def get_values(self, obs):
        return self.critic(obs).squeeze(-1)

    def forward(self, obs, actions=None):
        dist = Categorical(logits=self.actor(obs))
        actions = dist.sample() if actions is None else actions
        return actions, dist.log_prob(actions), dist.entropy(), self.get_values(obs)


def gae(rewards, values, dones, next_value, gamma, lam):
    lastgaelam, advantages = torch.zeros_like(next_value), torch.zeros_like(rewards)
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else next_value
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        advantages[t] = lastgaelam = delta + gamma * lam * (1 - dones[t]) * lastgaelam
    return advantages, advantages + values


def main(num_envs=6, rollout_steps=24, updates=20, epochs=3, gamma=0.97, lam=0.95):
    torch.manual_seed(2006)
    envs, agent = VectorWalkers(num_envs), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
    obs, log = envs.reset(), []
    for update in range(updates):
        rows = {k: [] for k in ("obs", "actions", "logprobs", "values", "rewards", "dones")}
        for _ in range(rollout_steps):
            with torch.no_grad():
                actions, logprobs, _, values = agent(obs)
            next_obs, rewards, terminated, truncated, info = envs.step(actions)
            log.append(rewards.mean().item())
            if truncated.any():
                with torch.no_grad():
                    vals = agent.get_values(info["final_obs"])
                rewards += gamma * vals  # BUG GS805 GS806
            dones = (terminated | truncated).float()
            for key, value in zip(rows, (obs, actions, logprobs, values, rewards, dones)):
                rows[key].append(value)
            obs = next_obs
        data = {k: torch.stack(v) for k, v in rows.items()}
        with torch.no_grad():
            next_value = agent.get_values(obs)
            advantages, returns = gae(data["rewards"], data["values"], data["dones"], next_value, gamma, lam)
        flat = {k: v.flatten(0, 1) for k, v in data.items()}
        advantages, returns = advantages.flatten(), returns.flatten()
        for _ in range(epochs):
            for idx in torch.randperm(len(returns)).split(48):
                _, logprobs, entropy, values = agent(flat["obs"][idx], flat["actions"][idx])
                adv = advantages[idx]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                ratio = torch.exp(logprobs - flat["logprobs"][idx])
                pg_loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
                loss = pg_loss + 0.5 * (values - returns[idx]).pow(2).mean() - 0.01 * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    print("reward per step", sum(log[-100:]) / 100)


if __name__ == "__main__":
    main()
