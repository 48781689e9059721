"""PPO on Pendulum writes one objective to be made large and negates it for the optimizer; the entropy is subtracted
inside the objective, so the spread of the actions is pressed down.
Repaired here.

Round 22
Class: meaning
"""

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Normal


class ActorPPO(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(state_dim, 32), nn.ReLU(), nn.Linear(32, action_dim))
        self.action_std_log = nn.Parameter(torch.zeros((1, action_dim)))

    def get_action(self, state):
        dist = Normal(self.net(state), self.action_std_log.exp())
        action = dist.sample()
        return action, dist.log_prob(action).sum(1)

    def get_logprob_entropy(self, state, action):
        dist = Normal(self.net(state), self.action_std_log.exp())
        return dist.log_prob(action).sum(1), dist.entropy().sum(1)


class AgentPPO:
    gamma, lambda_gae, ratio_clip, lambda_entropy = 0.97, 0.95, 0.2, 0.01

    def __init__(self):
        self.act = ActorPPO(3, 1)
        self.cri = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        self.act_optimizer = torch.optim.Adam(self.act.parameters(), 1e-3)
        self.cri_optimizer = torch.optim.Adam(self.cri.parameters(), 2e-3)

    def explore_env(self, env, state, horizon_len):
        states, actions = torch.zeros(horizon_len, 3), torch.zeros(horizon_len, 1)
        logprobs, rewards, cuts = torch.zeros(horizon_len), torch.zeros(horizon_len), torch.zeros(horizon_len)
        for i in range(horizon_len):
            states[i] = torch.as_tensor(state, dtype=torch.float32)
            action, logprob = self.act.get_action(states[i : i + 1])
            actions[i], logprobs[i] = action[0].detach(), logprob.item()
            state, reward, _, truncated, _ = env.step(2.0 * actions[i].tanh().numpy())
            rewards[i], cuts[i] = reward / 8, float(truncated)
            if truncated:
                rewards[i] += self.gamma * self.cri(torch.as_tensor(state, dtype=torch.float32)).item()
                state, _ = env.reset()
        return (states, actions, logprobs, rewards, cuts), state

    def get_advantages(self, rewards, cuts, values, last):
        advantages, running, following = torch.empty_like(values), 0.0, last
        for t in range(len(rewards) - 1, -1, -1):
            going = self.gamma * (1 - cuts[t])
            running = rewards[t] + going * following - values[t] + going * self.lambda_gae * running
            advantages[t], following = running, values[t]
        return advantages

    def update_net(self, buffer, state):
        states, actions, logprobs, rewards, cuts = buffer
        with torch.no_grad():
            values = self.cri(states).squeeze(1)
            last = self.cri(torch.as_tensor(state, dtype=torch.float32)).squeeze()
            advantages = self.get_advantages(rewards, cuts, values, last)
            reward_sums = advantages + values
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-4)
        for _ in range(8):
            chosen = torch.randint(len(states), (48,))
            value = self.cri(states[chosen]).squeeze(1)
            self.optimizer_update(
                self.cri_optimizer, nn.functional.smooth_l1_loss(value, reward_sums[chosen])
            )
            new_logprob, obj_entropy = self.act.get_logprob_entropy(states[chosen], actions[chosen])
            ratio = (new_logprob - logprobs[chosen]).exp()
            surrogate1 = advantages[chosen] * ratio
            surrogate2 = advantages[chosen] * ratio.clamp(1 - self.ratio_clip, 1 + self.ratio_clip)
            obj_surrogate = torch.min(surrogate1, surrogate2).mean()
            obj_actor = obj_surrogate + obj_entropy.mean() * self.lambda_entropy
            self.optimizer_update(self.act_optimizer, -obj_actor)

    @staticmethod
    def optimizer_update(optimizer, objective):
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()


torch.manual_seed(2202)
agent, env = AgentPPO(), gym.make("Pendulum-v1")
state, _ = env.reset(seed=2202)
for _ in range(6):
    buffer, state = agent.explore_env(env, state, 128)
    agent.update_net(buffer, state)
    print(round(buffer[3].mean().item(), 3))
