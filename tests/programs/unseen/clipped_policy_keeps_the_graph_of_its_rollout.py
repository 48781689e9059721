"""PPO on CartPole: the rollout is made with gradients on and its log-probabilities go into the ratio as they are, and the
second epoch's backward runs into the freed graph of the rollout.

Round 28
Class: the line
"""

import gymnasium as gym
import torch
import torch.nn as nn
from torch.distributions import Categorical

learning_rate = 1e-3
gamma = 0.98
lmbda = 0.95
eps_clip = 0.2
K_epoch = 3
T_horizon = 64


class PPO(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = []
        self.fc_pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
        self.fc_v = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.parameters(), lr=learning_rate)

    def pi(self, x):
        return Categorical(logits=self.fc_pi(x))

    def v(self, x):
        return self.fc_v(x).squeeze(-1)

    def act(self, s):
        dist = self.pi(s)
        a = dist.sample()
        return a.item(), dist.log_prob(a)  # BUG GS402 GS209

    def put_data(self, transition):
        self.memory.append(transition)

    def make_batch(self):
        s, a, r, s_next, log_prob, terminated, ended = zip(*self.memory)
        self.memory = []
        return (
            torch.stack(s),
            torch.tensor(a),
            torch.tensor(r),
            torch.stack(s_next),
            torch.stack(log_prob),  # BUG GS402 GS209
            torch.tensor(terminated),
            torch.tensor(ended),
        )

    def train_net(self):
        s, a, r, s_next, old_log_prob, terminated, ended = self.make_batch()
        with torch.no_grad():
            value = self.v(s)
            delta = r + gamma * self.v(s_next) * (1 - terminated) - value
            advantage = torch.zeros_like(delta)
            running = torch.zeros(())
            for t in reversed(range(len(delta))):
                running = delta[t] + gamma * lmbda * (1 - ended[t]) * running
                advantage[t] = running
            td_target = advantage + value
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)

        for _ in range(K_epoch):
            ratio = torch.exp(self.pi(s).log_prob(a) - old_log_prob)  # BUG GS402 GS209
            surr1 = ratio * advantage
            surr2 = torch.clamp(ratio, 1 - eps_clip, 1 + eps_clip) * advantage
            loss = -torch.min(surr1, surr2).mean() + 0.5 * nn.functional.smooth_l1_loss(self.v(s), td_target)

            self.optimizer.zero_grad()
            loss.backward()  # BUG GS402
            nn.utils.clip_grad_norm_(self.parameters(), 0.5)
            self.optimizer.step()


def main(updates=20):
    torch.manual_seed(288)
    env = gym.make("CartPole-v1")
    model = PPO()
    s, _ = env.reset(seed=288)
    s, length, lengths = torch.from_numpy(s), 0, []
    for _ in range(updates):
        for _ in range(T_horizon):
            a, log_prob = model.act(s)
            s_next, r, terminated, truncated, _ = env.step(a)
            s_next = torch.from_numpy(s_next)
            ended = terminated or truncated
            model.put_data((s, a, r / 10.0, s_next, log_prob, float(terminated), float(ended)))
            s, length = s_next, length + 1
            if ended:
                lengths.append(length)
                length = 0
                s = torch.from_numpy(env.reset()[0])
        model.train_net()
    env.close()
    print(f"average length of the last episodes {sum(lengths[-10:]) / len(lengths[-10:]):.1f}")


main()
