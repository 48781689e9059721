"""PPO with a Gaussian policy for a fleet of simulated probes that are accelerated towards a beacon: actions are
squashed where the world takes them, rollouts are kept as tensors of time by probe.

Round 31
Class: axes
"""

import torch
from torch import nn
from torch.distributions import Normal


class ProbeWorld:
    """Position, speed and beacon in the plane; an episode ends at the beacon or outside of the arena."""

    state_dim, action_dim = 6, 2

    def __init__(self, num_envs, generator):
        self.num_envs, self.generator = num_envs, generator
        self.position, self.speed, self.beacon = (torch.zeros(num_envs, 2) for _ in range(3))
        self.place(torch.ones(num_envs, dtype=torch.bool))

    def place(self, where):
        count = int(where.sum())
        self.position[where] = 2 * torch.rand(count, 2, generator=self.generator) - 1
        self.beacon[where] = 2 * torch.rand(count, 2, generator=self.generator) - 1
        self.speed[where] = 0.0

    def state(self):
        return torch.cat([self.position, self.speed, self.beacon - self.position], dim=1)

    def step(self, action):
        before = (self.beacon - self.position).norm(dim=1)
        self.speed = 0.9 * self.speed + 0.1 * action
        self.position = self.position + self.speed
        after = (self.beacon - self.position).norm(dim=1)
        arrived, lost = after < 0.2, self.position.abs().amax(dim=1) > 1.5
        reward = before - after + arrived.float() - lost.float() - 0.01
        done = arrived | lost
        self.place(done)
        return self.state(), reward, done


class ActorPPO(nn.Module):
    def __init__(self, state_dim, action_dim, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, width), nn.Tanh(), nn.Linear(width, action_dim))
        self.action_std_log = nn.Parameter(torch.full((1, action_dim), -0.5))

    def dist(self, state):
        mean = self.net(state)
        return Normal(mean, self.action_std_log.exp().expand_as(mean))

    def get_action(self, state):
        dist = self.dist(state)
        action = dist.sample()
        logprob = dist.log_prob(action)  # BUG GS603
        return action, logprob

    def get_logprob_entropy(self, state, action):
        dist = self.dist(state)
        logprob = dist.log_prob(action)  # BUG GS603
        return logprob, dist.entropy().sum(dim=-1)

    @staticmethod
    def convert_action_for_env(action):
        return action.tanh()


class AgentPPO:
    gamma, lambda_gae, ratio_clip, lambda_entropy = 0.97, 0.95, 0.2, 0.002
    batch_size, repeat_times = 128, 4

    def __init__(self, env):
        self.act = ActorPPO(env.state_dim, env.action_dim)
        self.cri = nn.Sequential(nn.Linear(env.state_dim, 48), nn.Tanh(), nn.Linear(48, 1))
        self.act_optimizer = torch.optim.Adam(self.act.parameters(), lr=2e-3)
        self.cri_optimizer = torch.optim.Adam(self.cri.parameters(), lr=2e-3)
        self.last_state = env.state()

    @torch.no_grad()
    def explore_env(self, env, horizon_len):
        rows, state = [], self.last_state
        for _ in range(horizon_len):
            action, logprob = self.act.get_action(state)
            next_state, reward, done = env.step(self.act.convert_action_for_env(action))
            rows.append((state, action, logprob, reward.unsqueeze(1), 1.0 - done.float().unsqueeze(1)))
            state = next_state
        self.last_state = state
        return [torch.stack(column) for column in zip(*rows)]

    @torch.no_grad()
    def get_advantages(self, rewards, undones, values):
        advantages = torch.zeros_like(values)
        next_value, advantage = self.cri(self.last_state), torch.zeros_like(values[0])
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + self.gamma * undones[t] * next_value - values[t]
            advantages[t] = advantage = delta + self.gamma * self.lambda_gae * undones[t] * advantage
            next_value = values[t]
        return advantages

    def update_net(self, states, actions, logprobs, rewards, undones):
        with torch.no_grad():
            values = self.cri(states)
        advantages = self.get_advantages(rewards, undones, values)
        reward_sums = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-5)
        parts = [x.flatten(0, 1) for x in (states, actions, logprobs, advantages, reward_sums)]
        for _ in range(self.repeat_times):
            for index in torch.randperm(len(parts[0])).split(self.batch_size):
                state, action, logprob, advantage, reward_sum = (x[index] for x in parts)
                obj_critic = nn.functional.smooth_l1_loss(self.cri(state), reward_sum)
                self.optimizer_update(self.cri_optimizer, obj_critic)

                new_logprob, entropy = self.act.get_logprob_entropy(state, action)
                ratio = (new_logprob - logprob).exp()  # BUG GS603
                surrogate1 = advantage * ratio  # BUG GS601 GS603
                clipped = ratio.clamp(1 - self.ratio_clip, 1 + self.ratio_clip)
                surrogate2 = advantage * clipped  # BUG GS601 GS603
                obj_actor = torch.min(surrogate1, surrogate2).mean() + self.lambda_entropy * entropy.mean()
                self.optimizer_update(self.act_optimizer, -obj_actor)

    @staticmethod
    def optimizer_update(optimizer, objective):
        optimizer.zero_grad()
        objective.backward()
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 3.0)
        optimizer.step()


def train_agent(rounds=14, horizon_len=32):
    torch.manual_seed(3105)
    env = ProbeWorld(16, torch.Generator().manual_seed(3105))
    agent = AgentPPO(env)
    for number in range(rounds):
        buffer = agent.explore_env(env, horizon_len)
        agent.update_net(*buffer)
        print(f"round {number}: reward per step {buffer[3].mean():+.3f}")


if __name__ == "__main__":
    train_agent()
