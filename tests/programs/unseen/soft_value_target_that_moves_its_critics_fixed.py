"""The repaired twin of a program in which the following goes wrong.
The first soft actor-critic, with a value network beside the two critics and one optimizer for the three: the
value's target is made of the critics and left attached, so the value's loss pulls the critics along. After
philtabor/Youtube-Code-Repository#23.

Round 36
Class: stays alive
"""

import copy

import gymnasium as gym
import numpy as np
import torch as T
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal


class ReplayBuffer:
    def __init__(self, max_size, input_shape, n_actions):
        self.mem_size, self.mem_cntr = max_size, 0
        self.state_memory = np.zeros((max_size, *input_shape), dtype=np.float32)
        self.new_state_memory = np.zeros((max_size, *input_shape), dtype=np.float32)
        self.action_memory = np.zeros((max_size, n_actions), dtype=np.float32)
        self.reward_memory = np.zeros(max_size, dtype=np.float32)
        self.terminal_memory = np.zeros(max_size, dtype=bool)

    def store_transition(self, state, action, reward, state_, done):
        index = self.mem_cntr % self.mem_size
        self.state_memory[index] = state
        self.new_state_memory[index] = state_
        self.action_memory[index] = action
        self.reward_memory[index] = reward
        self.terminal_memory[index] = done
        self.mem_cntr += 1

    def sample_buffer(self, batch_size):
        batch = np.random.choice(min(self.mem_cntr, self.mem_size), batch_size)
        memories = (
            self.state_memory,
            self.action_memory,
            self.reward_memory,
            self.new_state_memory,
            self.terminal_memory,
        )
        return tuple(T.tensor(memory[batch]) for memory in memories)


class ActorNetwork(nn.Module):
    def __init__(self, n_inputs, n_actions, max_action, fc_dims=64):
        super().__init__()
        self.max_action, self.reparam_noise = max_action, 1e-6
        self.fc1, self.fc2 = nn.Linear(n_inputs, fc_dims), nn.Linear(fc_dims, fc_dims)
        self.mu, self.sigma = nn.Linear(fc_dims, n_actions), nn.Linear(fc_dims, n_actions)

    def sample_normal(self, state):
        prob = F.relu(self.fc2(F.relu(self.fc1(state))))
        probabilities = Normal(self.mu(prob), self.sigma(prob).clamp(-4.0, 1.0).exp())
        actions = probabilities.rsample()
        squashed = T.tanh(actions)
        log_probs = probabilities.log_prob(actions) - T.log(1 - squashed.pow(2) + self.reparam_noise)
        return squashed * self.max_action, log_probs.sum(1)


def network(n_inputs, fc_dims=64):
    return nn.Sequential(
        nn.Linear(n_inputs, fc_dims), nn.ReLU(), nn.Linear(fc_dims, fc_dims), nn.ReLU(), nn.Linear(fc_dims, 1)
    )


class Agent:
    def __init__(self, env, gamma=0.98, tau=0.01, reward_scale=0.5, batch_size=64):
        n_inputs, n_actions = env.observation_space.shape[0], env.action_space.shape[0]
        self.gamma, self.tau, self.scale, self.batch_size = gamma, tau, reward_scale, batch_size
        self.memory = ReplayBuffer(10_000, env.observation_space.shape, n_actions)
        self.actor = ActorNetwork(n_inputs, n_actions, float(env.action_space.high[0]))
        self.critic_1, self.critic_2 = network(n_inputs + n_actions), network(n_inputs + n_actions)
        self.value = network(n_inputs)
        self.target_value = copy.deepcopy(self.value)
        self.actor_optimizer = T.optim.Adam(self.actor.parameters(), lr=1e-3)
        judges = [*self.value.parameters(), *self.critic_1.parameters(), *self.critic_2.parameters()]
        self.critic_optimizer = T.optim.Adam(judges, lr=1e-3)

    def choose_action(self, observation):
        with T.no_grad():
            actions, _ = self.actor.sample_normal(T.tensor(observation)[None])
        return actions[0].numpy()

    def q(self, critic, state, action):
        return critic(T.cat([state, action], dim=1)).view(-1)

    def learn(self):
        state, action, reward, state_, done = self.memory.sample_buffer(self.batch_size)

        actions, log_probs = self.actor.sample_normal(state)
        critic_value = T.min(self.q(self.critic_1, state, actions), self.q(self.critic_2, state, actions))
        value_target = (critic_value - log_probs).detach()
        value_loss = 0.5 * F.mse_loss(self.value(state).view(-1), value_target)

        with T.no_grad():
            value_ = self.target_value(state_).view(-1)
            q_hat = self.scale * reward + self.gamma * value_ * (~done)
        critic_1_loss = 0.5 * F.mse_loss(self.q(self.critic_1, state, action), q_hat)
        critic_2_loss = 0.5 * F.mse_loss(self.q(self.critic_2, state, action), q_hat)
        self.critic_optimizer.zero_grad()
        (value_loss + critic_1_loss + critic_2_loss).backward()
        self.critic_optimizer.step()

        actions, log_probs = self.actor.sample_normal(state)
        critic_value = T.min(self.q(self.critic_1, state, actions), self.q(self.critic_2, state, actions))
        actor_loss = (log_probs - critic_value).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        self.update_network_parameters()
        return value_loss.item(), actor_loss.item()

    @T.no_grad()
    def update_network_parameters(self):
        for p, p_target in zip(self.value.parameters(), self.target_value.parameters()):
            p_target.copy_(self.tau * p + (1 - self.tau) * p_target)


if __name__ == "__main__":
    SEED = 3613
    np.random.seed(SEED)
    T.manual_seed(SEED)
    env = gym.make("Pendulum-v1")
    agent = Agent(env)
    observation, _ = env.reset(seed=SEED)
    for step in range(300):
        action = agent.choose_action(observation)
        observation_, reward, terminated, truncated, _ = env.step(action)
        agent.memory.store_transition(observation, action, reward, observation_, terminated)
        observation = env.reset()[0] if terminated or truncated else observation_
        if agent.memory.mem_cntr >= 160:
            losses = agent.learn()
    print("value {:.4f}, actor {:.4f}".format(*losses))
