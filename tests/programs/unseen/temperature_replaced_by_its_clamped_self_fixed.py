"""After every step the temperature's logarithm is clamped where it lies, without a graph.

Round 15
Class: forward errors
"""

import copy

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(1515)


class Body:
    """Where the algorithm keeps what the tracker shows."""

    def __init__(self):
        self.tracked = {}


class SoftActorCritic:
    def __init__(self, body, state_dim=4, gamma=0.96):
        self.body, self.gamma = body, gamma
        self.policy = self.make_net(state_dim, 2)
        self.q1_net, self.q2_net = self.make_net(state_dim + 1, 1), self.make_net(state_dim + 1, 1)
        self.target_q1_net, self.target_q2_net = copy.deepcopy(self.q1_net), copy.deepcopy(self.q2_net)
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=2e-3)
        self.q1_optim = torch.optim.Adam(self.q1_net.parameters(), lr=2e-3)
        self.q2_optim = torch.optim.Adam(self.q2_net.parameters(), lr=2e-3)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha = self.log_alpha.detach().exp()
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=2e-3)
        self.target_entropy = -1.0

    def make_net(self, inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, outputs))

    def calc_log_prob_action(self, states):
        loc, log_scale = self.policy(states).chunk(2, -1)
        dist = Normal(loc, log_scale.clamp(-5, 2).exp())
        raw = dist.rsample()
        actions = torch.tanh(raw)
        return (dist.log_prob(raw) - torch.log(1 - actions.pow(2) + 1e-6)).sum(-1), actions

    def calc_q(self, net, states, actions):
        return net(torch.cat([states, actions], -1)).squeeze(-1)

    def calc_q_targets(self, batch):
        with torch.no_grad():
            log_probs, actions = self.calc_log_prob_action(batch["next_states"])
            lowest = torch.min(
                self.calc_q(self.target_q1_net, batch["next_states"], actions),
                self.calc_q(self.target_q2_net, batch["next_states"], actions),
            )
            return batch["rewards"] + self.gamma * (lowest - self.alpha * log_probs)

    def calc_alpha_loss(self, log_probs):
        return -(self.log_alpha * (log_probs.detach() + self.target_entropy)).mean()

    def step(self, loss, optim):
        optim.zero_grad()
        loss.backward()
        optim.step()

    def train_alpha(self, alpha_loss):
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        with torch.no_grad():
            self.log_alpha.clamp_(-5, 4)
        self.alpha = self.log_alpha.detach().exp()
        self.body.tracked["alpha"] = self.alpha.item()

    def train(self, batch):
        targets = self.calc_q_targets(batch)
        for net, optim in ((self.q1_net, self.q1_optim), (self.q2_net, self.q2_optim)):
            self.step((self.calc_q(net, batch["states"], batch["actions"]) - targets).pow(2).mean(), optim)
        log_probs, actions = self.calc_log_prob_action(batch["states"])
        lowest = torch.min(
            *[self.calc_q(net, batch["states"], actions) for net in (self.q1_net, self.q2_net)]
        )
        policy_loss = (self.alpha * log_probs - lowest).mean()
        self.step(policy_loss, self.optim)
        self.train_alpha(self.calc_alpha_loss(log_probs))
        self.body.tracked["policy_loss"] = policy_loss.item()
        self.update_nets()

    @torch.no_grad()
    def update_nets(self, polyak=0.99):
        pairs = ((self.target_q1_net, self.q1_net), (self.target_q2_net, self.q2_net))
        for target, net in pairs:
            for slow, fast in zip(target.parameters(), net.parameters()):
                slow.mul_(polyak).add_(fast, alpha=1 - polyak)


def memory():
    states, actions = torch.randn(30, 4), torch.rand(30, 1) * 2 - 1
    next_states = 0.9 * states + 0.1 * actions
    return {"states": states, "actions": actions, "rewards": -states[:, 0].pow(2), "next_states": next_states}


agent = SoftActorCritic(Body())
for frame in range(50):
    agent.train(memory())
    if frame % 10 == 0:
        print(frame, agent.body.tracked)
