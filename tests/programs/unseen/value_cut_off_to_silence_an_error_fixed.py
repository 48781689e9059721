"""A soft actor-critic whose author met an error about a modified tensor and was advised to detach the value in the actor's
loss. The error is gone; so is all that told the actor which actions are good. It only learns to be uncertain.
Repaired here.

Round 20
Class: zero in part
"""

import argparse
import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import Normal


class flatten_mlp(nn.Module):
    def __init__(self, input_dims, hidden_size, action_dims):
        super().__init__()
        self.fc1 = nn.Linear(input_dims + action_dims, hidden_size)
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.q_value = nn.Linear(hidden_size, 1)

    def forward(self, obs, action):
        x = torch.relu(self.fc1(torch.cat([obs, action], dim=1)))
        return self.q_value(torch.relu(self.fc2(x)))


class tanh_gaussian_actor(nn.Module):
    def __init__(self, input_dims, action_dims, hidden_size, log_std_min=-5, log_std_max=1):
        super().__init__()
        self.fc1 = nn.Linear(input_dims, hidden_size)
        self.mean = nn.Linear(hidden_size, action_dims)
        self.log_std = nn.Linear(hidden_size, action_dims)
        self.log_std_min, self.log_std_max = log_std_min, log_std_max

    def forward(self, obs):
        x = torch.relu(self.fc1(obs))
        return self.mean(x), self.log_std(x).clamp(self.log_std_min, self.log_std_max).exp()

    def sample(self, obs, epsilon=1e-6):
        pi = Normal(*self(obs))
        pretanh = pi.rsample()
        action = torch.tanh(pretanh)
        log_prob = pi.log_prob(pretanh) - torch.log(1 - action.pow(2) + epsilon)
        return action, log_prob.sum(dim=1, keepdim=True)


class replay_buffer:
    def __init__(self, size):
        self.size, self.storage = size, []

    def add(self, *row):
        self.storage = [*self.storage[-self.size + 1 :], row]

    def sample(self, n, rng):
        rows = [self.storage[i] for i in rng.integers(len(self.storage), size=n)]
        return [torch.as_tensor(np.array(x, dtype=np.float32)) for x in zip(*rows)]


class Thermostat:
    """Two rooms share a wall; each has a heater, and should be at the degree that the panel shows."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.rooms, self.panel = self.rng.uniform(-1, 1, 2), self.rng.uniform(-0.8, 0.8)
        return np.array([*self.rooms, self.panel])

    def step(self, heat):
        mix = 0.1 * (self.rooms[::-1] - self.rooms)
        self.rooms = np.clip(self.rooms + mix + 0.3 * heat, -2, 2)
        return np.array([*self.rooms, self.panel]), -float(np.abs(self.rooms - self.panel).sum())


class sac_agent:
    def __init__(self, env, args):
        self.args, self.env = args, env
        self.qf1, self.qf2 = flatten_mlp(3, args.hidden_size, 2), flatten_mlp(3, args.hidden_size, 2)
        self.target_qf1, self.target_qf2 = copy.deepcopy(self.qf1), copy.deepcopy(self.qf2)
        self.actor_net = tanh_gaussian_actor(3, 2, args.hidden_size)
        self.qf1_optim = torch.optim.Adam(self.qf1.parameters(), lr=args.q_lr)
        self.qf2_optim = torch.optim.Adam(self.qf2.parameters(), lr=args.q_lr)
        self.actor_optim = torch.optim.Adam(self.actor_net.parameters(), lr=args.p_lr)
        self.buffer, self.rng = replay_buffer(args.buffer_size), env.rng

    def learn(self):
        obs, total = self.env.reset(), []
        for step in range(self.args.steps):
            with torch.no_grad():
                action = self.actor_net.sample(torch.as_tensor(obs, dtype=torch.float32)[None])[0][0].numpy()
            obs_, reward = self.env.step(action)
            self.buffer.add(obs, action, [reward], obs_)
            obs = self.env.reset() if step % 20 == 19 else obs_
            total.append(reward)
            if step >= self.args.batch_size:
                self.update_network()
        return np.mean(total[-100:])

    def update_network(self):
        obses, actions, rewards, obses_ = self.buffer.sample(self.args.batch_size, self.rng)
        with torch.no_grad():
            actions_, log_prob_ = self.actor_net.sample(obses_)
            next_q = torch.min(self.target_qf1(obses_, actions_), self.target_qf2(obses_, actions_))
            target_q_value = rewards + self.args.gamma * (next_q - self.args.alpha * log_prob_)
        qf1_loss = (self.qf1(obses, actions) - target_q_value).pow(2).mean()
        qf2_loss = (self.qf2(obses, actions) - target_q_value).pow(2).mean()
        for optim, loss in ((self.qf1_optim, qf1_loss), (self.qf2_optim, qf2_loss)):
            optim.zero_grad()
            loss.backward()
            optim.step()
        pi_actions, log_prob = self.actor_net.sample(obses)
        q_actions_ = torch.min(self.qf1(obses, pi_actions), self.qf2(obses, pi_actions))
        actor_loss = (self.args.alpha * log_prob - q_actions_).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()
        for net, target in ((self.qf1, self.target_qf1), (self.qf2, self.target_qf2)):
            for param, target_param in zip(net.parameters(), target.parameters()):
                target_param.data.copy_(self.args.tau * param.data + (1 - self.args.tau) * target_param.data)


parse = argparse.ArgumentParser()
parse.add_argument("--hidden-size", type=int, default=48)
parse.add_argument("--batch-size", type=int, default=64)
parse.add_argument("--buffer-size", type=int, default=1000)
parse.add_argument("--steps", type=int, default=220)
parse.add_argument("--gamma", type=float, default=0.9)
parse.add_argument("--alpha", type=float, default=0.1)
parse.add_argument("--tau", type=float, default=0.02)
parse.add_argument("--q-lr", type=float, default=3e-3)
parse.add_argument("--p-lr", type=float, default=1e-3)
torch.manual_seed(2010)
print("mean reward", sac_agent(Thermostat(np.random.default_rng(2010)), parse.parse_args([])).learn())
