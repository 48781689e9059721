"""PPO for a drone that hovers until it crashes or its battery is empty: in the advantage estimate the mask, which holds
gamma and the end, multiplies the present value too. After AI4Finance-Foundation/ElegantRL#183.
Repaired here.

Round 35
Class: meaning
"""

import random

import numpy as np
import torch
import torch.nn as nn

SEED = 3526


class Arguments:
    def __init__(self):
        self.gamma, self.lambda_gae_adv = 0.95, 0.95
        self.net_dim, self.learning_rate = 48, 1e-3
        self.target_step, self.batch_size, self.repeat_times = 256, 64, 3
        self.ratio_clip, self.lambda_entropy = 0.2, 0.01


class HoverEnv:
    state_dim, action_dim = 3, 1

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.height, self.speed, self.battery = self.rng.uniform(0.8, 1.2), 0.0, 1.0
        return self.state()

    def state(self):
        return np.array([self.height - 1, self.speed, self.battery], dtype=np.float32)

    def step(self, action):
        thrust = float(np.tanh(action[0]))
        self.speed = 0.9 * self.speed + 0.15 * thrust + self.rng.normal(0, 0.02)
        self.height += self.speed
        self.battery -= 0.015 + 0.01 * abs(thrust)
        crashed = self.height <= 0.0 or self.height >= 2.0
        reward = 1.0 - abs(self.height - 1.0) - 4.0 * crashed
        return self.state(), reward, crashed or self.battery <= 0.0


class ActorPPO(nn.Module):
    def __init__(self, mid_dim, state_dim, action_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(state_dim, mid_dim),
            nn.Tanh(),
            nn.Linear(mid_dim, mid_dim),
            nn.Tanh(),
            nn.Linear(mid_dim, action_dim),
        )
        self.a_std_log = nn.Parameter(torch.zeros(action_dim) - 0.5)

    def get_dist(self, state):
        return torch.distributions.Normal(self.net(state), self.a_std_log.exp())

    def get_action(self, state):
        dist = self.get_dist(state)
        action = dist.sample()
        return action, dist.log_prob(action).sum(-1)

    def get_logprob_entropy(self, state, action):
        dist = self.get_dist(state)
        return dist.log_prob(action).sum(-1), dist.entropy().sum(-1).mean()


class CriticPPO(nn.Module):
    def __init__(self, mid_dim, state_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, mid_dim), nn.ReLU(), nn.Linear(mid_dim, 1))

    def forward(self, state):
        return self.net(state).squeeze(-1)


class AgentPPO:
    def __init__(self, args, env):
        self.args = args
        self.act = ActorPPO(args.net_dim, env.state_dim, env.action_dim)
        self.cri = CriticPPO(args.net_dim, env.state_dim)
        self.act_optim = torch.optim.Adam(self.act.parameters(), lr=args.learning_rate)
        self.cri_optim = torch.optim.Adam(self.cri.parameters(), lr=args.learning_rate * 3)
        self.state = env.reset()

    @torch.no_grad()
    def explore_env(self, env):
        trajectory = []
        for _ in range(self.args.target_step):
            state = torch.from_numpy(self.state)
            action, logprob = self.act.get_action(state)
            self.state, reward, done = env.step(action.numpy())
            mask = 0.0 if done else self.args.gamma
            trajectory.append((state, torch.tensor(reward), torch.tensor(mask), action, logprob))
            if done:
                self.state = env.reset()
        return [torch.stack(items).float() for items in zip(*trajectory)]

    @torch.no_grad()
    def get_reward_sum_gae(self, buf_reward, buf_mask, buf_value):
        buf_advantage = torch.empty_like(buf_reward)
        pre_advantage = self.cri(torch.from_numpy(self.state))  # what follows the last step
        for i in range(len(buf_reward) - 1, -1, -1):
            buf_advantage[i] = buf_reward[i] + buf_mask[i] * pre_advantage - buf_value[i]
            pre_advantage = buf_value[i] + buf_advantage[i] * self.args.lambda_gae_adv
        return buf_value + buf_advantage, buf_advantage

    def update_net(self, buffer):
        state, reward, mask, action, logprob = buffer
        with torch.no_grad():
            value = self.cri(state)
        r_sum, advantage = self.get_reward_sum_gae(reward, mask, value)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-5)
        for _ in range(int(self.args.repeat_times * len(state) / self.args.batch_size)):
            indices = torch.randint(len(state), (self.args.batch_size,))
            new_logprob, entropy = self.act.get_logprob_entropy(state[indices], action[indices])
            ratio = (new_logprob - logprob[indices]).exp()
            adv, clip = advantage[indices], self.args.ratio_clip
            surrogate = torch.min(adv * ratio, adv * ratio.clamp(1 - clip, 1 + clip))
            self.optim_update(self.act_optim, -(surrogate.mean() + entropy * self.args.lambda_entropy))
            obj_critic = nn.functional.smooth_l1_loss(self.cri(state[indices]), r_sum[indices])
            self.optim_update(self.cri_optim, obj_critic)
        return obj_critic.item()

    @staticmethod
    def optim_update(optimizer, objective):
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()


def train_agent():
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    args, env = Arguments(), HoverEnv(SEED)
    agent = AgentPPO(args, env)
    for _ in range(8):
        buffer = agent.explore_env(env)
        obj_critic = agent.update_net(buffer)
    print(f"reward {buffer[1].mean():.3f} critic {obj_critic:.3f}")


if __name__ == "__main__":
    train_agent()
