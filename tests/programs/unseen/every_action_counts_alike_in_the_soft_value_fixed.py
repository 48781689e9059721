"""The repaired twin of a program in which the following goes wrong.
Soft actor-critic for discrete actions: the value of a state is the plain mean over the actions, in the
target as in the actor's loss, where the policy's probabilities should weigh them. After
p-christ/Deep-Reinforcement-Learning-Algorithms-with-PyTorch#60.

Round 37
Class: meaning
"""

import copy
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(inputs, outputs, hidden=64):
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )


class ReplayBuffer:
    def __init__(self, size):
        self.memory = deque(maxlen=size)

    def add(self, *experience):
        self.memory.append(experience)

    def sample(self, batch_size):
        states, actions, rewards, next_states, dones = zip(*random.sample(self.memory, batch_size))
        return (
            torch.from_numpy(np.stack(states)).float(),
            torch.tensor(actions).unsqueeze(1),
            torch.tensor(rewards, dtype=torch.float32).unsqueeze(1),
            torch.from_numpy(np.stack(next_states)).float(),
            torch.tensor(dones, dtype=torch.float32).unsqueeze(1),
        )


class SACDiscrete:
    agent_name = "SAC-Discrete"

    def __init__(self, state_size, action_size, gamma=0.98, tau=0.01, lr=2e-3):
        self.gamma, self.tau, self.action_size = gamma, tau, action_size
        self.critic_local, self.critic_local_2 = mlp(state_size, action_size), mlp(state_size, action_size)
        self.critic_target = copy.deepcopy(self.critic_local)
        self.critic_target_2 = copy.deepcopy(self.critic_local_2)
        self.actor_local = mlp(state_size, action_size)
        self.critic_optimizer = torch.optim.Adam(self.critic_local.parameters(), lr=lr)
        self.critic_optimizer_2 = torch.optim.Adam(self.critic_local_2.parameters(), lr=lr)
        self.actor_optimizer = torch.optim.Adam(self.actor_local.parameters(), lr=lr)
        self.target_entropy = 0.6 * np.log(action_size)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    @property
    def alpha(self):
        return self.log_alpha.exp().detach()

    def produce_action_info(self, state):
        log_probs = F.log_softmax(self.actor_local(state), dim=1)
        return log_probs.exp(), log_probs

    @torch.no_grad()
    def pick_action(self, state):
        probs, _ = self.produce_action_info(torch.as_tensor(state, dtype=torch.float32).unsqueeze(0))
        return torch.multinomial(probs, 1).item()

    def soft_value(self, probs, log_probs, min_q):
        return (probs * (min_q - self.alpha * log_probs)).sum(dim=1, keepdim=True)

    def critic_losses(self, states, actions, rewards, next_states, dones):
        with torch.no_grad():
            probs, log_probs = self.produce_action_info(next_states)
            min_q = torch.min(self.critic_target(next_states), self.critic_target_2(next_states))
            following = self.soft_value(probs, log_probs, min_q)
            next_q_value = rewards + (1.0 - dones) * self.gamma * following
        qf1 = self.critic_local(states).gather(1, actions)
        qf2 = self.critic_local_2(states).gather(1, actions)
        return F.mse_loss(qf1, next_q_value), F.mse_loss(qf2, next_q_value)

    def actor_loss(self, states):
        probs, log_probs = self.produce_action_info(states)
        with torch.no_grad():
            min_q = torch.min(self.critic_local(states), self.critic_local_2(states))
        entropy = -(probs * log_probs).sum(dim=1)
        return -self.soft_value(probs, log_probs, min_q).mean(), entropy.detach()

    def take_optimisation_step(self, optimizer, network, loss):
        optimizer.zero_grad()
        loss.backward()
        if network is not None:
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()

    def learn(self, batch):
        loss_1, loss_2 = self.critic_losses(*batch)
        self.take_optimisation_step(self.critic_optimizer, self.critic_local, loss_1)
        self.take_optimisation_step(self.critic_optimizer_2, self.critic_local_2, loss_2)
        policy_loss, entropy = self.actor_loss(batch[0])
        self.take_optimisation_step(self.actor_optimizer, self.actor_local, policy_loss)
        alpha_loss = (self.log_alpha * (entropy - self.target_entropy)).mean()
        self.take_optimisation_step(self.alpha_optim, None, alpha_loss)
        with torch.no_grad():
            for local, target in (
                (self.critic_local, self.critic_target),
                (self.critic_local_2, self.critic_target_2),
            ):
                for p, q in zip(local.parameters(), target.parameters()):
                    q.lerp_(p, self.tau)
        return entropy.mean().item()


random.seed(3723)
np.random.seed(3723)
torch.manual_seed(3723)
env = gym.make("CartPole-v1")
agent, buffer = SACDiscrete(4, 2), ReplayBuffer(5000)
state, _ = env.reset(seed=3723)
for t in range(600):
    action = agent.pick_action(state)
    next_state, reward, terminated, truncated, _ = env.step(action)
    buffer.add(state, action, 0.1 * reward, next_state, terminated)
    state = env.reset()[0] if terminated or truncated else next_state
    if t >= 100 and t % 8 == 0:
        entropy = agent.learn(buffer.sample(64))
print("entropy", round(entropy, 4))
