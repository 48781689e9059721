"""REDQ with all its backwards before all its steps: the loss of the policy leaves its slope in the critics, and their
optimizers step with it whenever the policy is due.
Repaired here.

Round 24
Class: the line
"""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal


class Mlp(nn.Module):
    def __init__(self, input_size, output_size, hidden=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(input_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.last_fc_layer = nn.Linear(hidden, output_size)

    def forward(self, x):
        return self.last_fc_layer(self.body(x))


class TanhGaussianPolicy(Mlp):
    def __init__(self, obs_dim, action_dim, action_limit):
        super().__init__(obs_dim, 2 * action_dim)
        self.action_limit = action_limit

    def forward(self, obs):
        mean, log_std = super().forward(obs).chunk(2, dim=-1)
        normal = Normal(mean, log_std.clamp(-5, 1).exp())
        before = normal.rsample()
        log_prob = normal.log_prob(before) - 2 * (np.log(2) - before - nn.functional.softplus(-2 * before))
        return self.action_limit * torch.tanh(before), log_prob.sum(dim=1, keepdim=True)


class REDQSACAgent:
    def __init__(self, obs_dim, act_dim, limit, num_Q=4, num_min=2, policy_update_delay=3):
        self.policy_net = TanhGaussianPolicy(obs_dim, act_dim, limit)
        self.q_net_list = [Mlp(obs_dim + act_dim, 1) for _ in range(num_Q)]
        self.q_target_net_list = [Mlp(obs_dim + act_dim, 1) for _ in range(num_Q)]
        for target, net in zip(self.q_target_net_list, self.q_net_list):
            target.load_state_dict(net.state_dict())
        self.policy_optimizer = torch.optim.Adam(self.policy_net.parameters(), lr=1e-3)
        self.q_optimizer_list = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in self.q_net_list]
        self.num_Q, self.num_min, self.delay = num_Q, num_min, policy_update_delay
        self.gamma, self.polyak, self.alpha, self.updates = 0.98, 0.99, 0.1, 0

    def get_target(self, rews, obs_next, done):
        chosen = np.random.choice(self.num_Q, self.num_min, replace=False)
        with torch.no_grad():
            a_tilda, log_prob = self.policy_net(obs_next)
            x = torch.cat([obs_next, a_tilda], 1)
            q = torch.cat([self.q_target_net_list[i](x) for i in chosen], 1).min(1, keepdim=True).values
            return rews + self.gamma * (1 - done) * (q - self.alpha * log_prob)

    def train(self, obs, acts, rews, obs_next, done):
        y_q = self.get_target(rews, obs_next, done)
        q_prediction = torch.cat([q_net(torch.cat([obs, acts], 1)) for q_net in self.q_net_list], 1)
        q_loss = nn.functional.mse_loss(q_prediction, y_q.expand(-1, self.num_Q)) * self.num_Q
        for q_optimizer in self.q_optimizer_list:
            q_optimizer.zero_grad()
        q_loss.backward()

        self.updates += 1
        due = self.updates % self.delay == 0
        if due:
            a_tilda, log_prob = self.policy_net(obs)
            for q_net in self.q_net_list:
                q_net.requires_grad_(False)
            x = torch.cat([obs, a_tilda], 1)
            q_a_tilda = torch.cat([q_net(x) for q_net in self.q_net_list], 1)
            policy_loss = (self.alpha * log_prob - q_a_tilda.mean(1, keepdim=True)).mean()
            self.policy_optimizer.zero_grad()
            policy_loss.backward()
            for q_net in self.q_net_list:
                q_net.requires_grad_(True)
        for q_optimizer in self.q_optimizer_list:
            q_optimizer.step()
        if due:
            self.policy_optimizer.step()
        with torch.no_grad():
            for target, net in zip(self.q_target_net_list, self.q_net_list):
                for old, new in zip(target.parameters(), net.parameters()):
                    old.mul_(self.polyak).add_(new, alpha=1 - self.polyak)
        return q_loss.item()


torch.manual_seed(2412)
np.random.seed(12)
env = gym.make("Pendulum-v1", max_episode_steps=50)
agent, memory = REDQSACAgent(3, 1, 2.0), []
for episode in range(5):
    o, _ = env.reset(seed=episode)
    for _ in range(50):
        with torch.no_grad():
            a = agent.policy_net(torch.as_tensor(o).unsqueeze(0))[0].squeeze(0).numpy()
        o2, r, terminated, truncated, _ = env.step(a)
        memory.append((o, a, [0.1 * r], o2, [float(terminated)]))
        o = o2
        if len(memory) > 100:
            rows = [memory[i] for i in np.random.randint(len(memory), size=32)]
            loss = agent.train(*(torch.tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)))
print("updates", agent.updates, "loss of the critics", round(loss, 3))
