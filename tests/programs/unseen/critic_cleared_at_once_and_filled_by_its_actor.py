"""DDPG for a heat pump: the critic's gradients are cleared behind its step instead of in front of its backward, so that
its next step also consumes what the actor's backward has left there.

Round 28
Class: the line
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class HeatPump:
    """Hold a room at twenty degrees while the weather outside wanders."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.room, self.outside = self.rng.uniform(14, 26), self.rng.uniform(-5, 15)
        return self._state()

    def _state(self):
        return np.array([(self.room - 20) / 5, (self.outside - 5) / 10], dtype=np.float32)

    def step(self, power):
        self.room += 2.0 * float(power) + 0.05 * (self.outside - self.room) + 0.75
        self.outside = np.clip(self.outside + self.rng.normal(0, 0.5), -5, 15)
        reward = -abs(self.room - 20) / 5 - 0.05 * float(power) ** 2
        lost = not 0 < self.room < 40
        return self._state(), reward - 2.0 * lost, lost


def build(n_in, n_out, last=None):
    layers = [nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n_out)]
    return nn.Sequential(*layers, *([last] if last else []))


class OUNoise:
    def __init__(self, rng, theta=0.15, sigma=0.25):
        self.rng, self.theta, self.sigma, self.x = rng, theta, sigma, 0.0

    def __call__(self):
        self.x += -self.theta * self.x + self.sigma * self.rng.normal()
        return self.x


class DDPG:
    gamma, tau = 0.93, 0.02

    def __init__(self):
        self.actor, self.actor_slow = build(2, 1, nn.Tanh()), build(2, 1, nn.Tanh())
        self.critic, self.critic_slow = build(3, 1), build(3, 1)
        self.actor_slow.load_state_dict(self.actor.state_dict())
        self.critic_slow.load_state_dict(self.critic.state_dict())
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=5e-4)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=2e-3)

    def act(self, state):
        with torch.no_grad():
            return self.actor(torch.from_numpy(state)).numpy()

    def optimize(self, s, a, r, s2, lost):
        with torch.no_grad():
            q2 = self.critic_slow(torch.cat([s2, self.actor_slow(s2)], dim=1))
            target = r + self.gamma * (1 - lost) * q2
        critic_loss = F.mse_loss(self.critic(torch.cat([s, a], dim=1)), target)
        critic_loss.backward()
        self.critic_optim.step()  # BUG GS304 GS401
        self.critic_optim.zero_grad()  # BUG GS304 GS401

        self.actor_optim.zero_grad()
        actor_loss = -self.critic(torch.cat([s, self.actor(s)], dim=1)).mean()  # BUG GS304
        actor_loss.backward()  # BUG GS304 GS401
        self.actor_optim.step()

        for fast, slow in ((self.actor, self.actor_slow), (self.critic, self.critic_slow)):
            with torch.no_grad():
                for p, q in zip(fast.parameters(), slow.parameters()):
                    q += self.tau * (p - q)
        return critic_loss.item(), actor_loss.item()


def main(steps=360, warmup=80, batch=32):
    rng = np.random.default_rng(293)
    torch.manual_seed(293)
    env, agent, noise = HeatPump(rng), DDPG(), OUNoise(rng)
    memory, rewards = [], []
    s = env.reset()
    for step in range(steps):
        a = np.clip(agent.act(s) + noise(), -1, 1).astype(np.float32)
        s2, r, lost = env.step(a[0])
        memory.append((s, a, [r], s2, [lost]))
        rewards.append(r)
        s = env.reset() if lost or step % 40 == 39 else s2
        if step >= warmup and step % 3 == 0:
            picked = rng.integers(0, len(memory), batch)
            columns = zip(*(memory[i] for i in picked))
            losses = agent.optimize(*(torch.as_tensor(np.array(x, dtype=np.float32)) for x in columns))
    print(f"mean reward {np.mean(rewards[-80:]):.3f}, critic {losses[0]:.4f}, actor {losses[1]:.4f}")


if __name__ == "__main__":
    main()
