"""A robot with one joint: its actions have no axis of their own, and one is added for the sum of the squashing's correction.
It is added in front, so that the correction of the whole batch is taken from every sample's density.

Round 16
Class: axes
"""

import copy

import numpy as np
import torch
from torch import nn
from torch.distributions import MultivariateNormal, Normal

torch.manual_seed(1606)
rng = np.random.default_rng(1606)
spec = {"state_dim": 3, "action_dim": 1, "batch": 40, "gamma": 0.95, "tau": 0.02, "alpha": 0.1, "lr": 1e-3}


def get_pd(params):
    """One joint gives a Normal over scalars, several give one over vectors."""
    loc, log_scale = params.chunk(2, -1)
    scale = log_scale.clamp(-4, 1).exp()
    if spec["action_dim"] == 1:
        return Normal(loc.squeeze(-1), scale.squeeze(-1))
    return MultivariateNormal(loc, torch.diag_embed(scale.pow(2)))


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        inputs = spec["state_dim"] + spec["action_dim"]
        self.model = nn.Sequential(nn.Linear(inputs, 40), nn.ReLU(), nn.Linear(40, 1))

    def forward(self, state, action):
        return self.model(torch.cat([state, action.reshape(len(state), -1)], -1)).view(-1)


class Replay:
    def __init__(self):
        self.columns = {key: [] for key in ("states", "actions", "rewards", "next_states", "dones")}

    def add(self, *transition):
        for column, value in zip(self.columns.values(), transition):
            column.append(value)

    def sample(self):
        rows = rng.integers(len(self.columns["rewards"]), size=spec["batch"])
        return {
            key: torch.as_tensor(np.stack([column[row] for row in rows]), dtype=torch.float32)
            for key, column in self.columns.items()
        }


class SoftActorCritic:
    def __init__(self):
        self.net = nn.Sequential(
            nn.Linear(spec["state_dim"], 40), nn.ReLU(), nn.Linear(40, 2 * spec["action_dim"])
        )
        self.q1_net, self.q2_net = QNet(), QNet()
        self.target_q1_net = copy.deepcopy(self.q1_net).requires_grad_(False)
        self.target_q2_net = copy.deepcopy(self.q2_net).requires_grad_(False)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=spec["lr"])
        self.q1_optim = torch.optim.Adam(self.q1_net.parameters(), lr=spec["lr"])
        self.q2_optim = torch.optim.Adam(self.q2_net.parameters(), lr=spec["lr"])

    def calc_log_prob_action(self, pd):
        mus = pd.rsample()
        actions = torch.tanh(mus)
        if actions.dim() == 1:  # a lone joint
            actions = actions.unsqueeze(dim=0)  # BUG GS603 GS604 GS601
        correction = torch.log(1 - actions.pow(2) + 1e-6).sum(1)  # BUG GS603 GS604 GS601
        return pd.log_prob(mus) - correction, actions

    def act(self, state):
        with torch.no_grad():
            pd = get_pd(self.net(torch.as_tensor(state, dtype=torch.float32)[None]))
            return torch.tanh(pd.sample()).item()

    def calc_q_targets(self, batch):
        with torch.no_grad():
            log_probs, actions = self.calc_log_prob_action(get_pd(self.net(batch["next_states"])))
            q1 = self.target_q1_net(batch["next_states"], actions)
            q2 = self.target_q2_net(batch["next_states"], actions)
            soft = torch.min(q1, q2) - spec["alpha"] * log_probs
            return batch["rewards"] + spec["gamma"] * (1 - batch["dones"]) * soft

    def calc_policy_loss(self, batch):
        log_probs, actions = self.calc_log_prob_action(get_pd(self.net(batch["states"])))
        q_preds = torch.min(self.q1_net(batch["states"], actions), self.q2_net(batch["states"], actions))
        return (spec["alpha"] * log_probs - q_preds).mean()

    def train(self, batch):
        q_targets = self.calc_q_targets(batch)
        losses = []
        for net, optim in ((self.q1_net, self.q1_optim), (self.q2_net, self.q2_optim)):
            q_preds = net(batch["states"], batch["actions"])
            losses.append(self.train_step(nn.functional.mse_loss(q_preds, q_targets), optim))
        losses.append(self.train_step(self.calc_policy_loss(batch), self.optim))
        for slow, fast in ((self.target_q1_net, self.q1_net), (self.target_q2_net, self.q2_net)):
            for old, new in zip(slow.parameters(), fast.parameters()):
                old.data.lerp_(new.data, spec["tau"])
        return losses

    def train_step(self, loss, optim):
        optim.zero_grad()
        loss.backward()
        optim.step()
        return loss.item()


agent, memory = SoftActorCritic(), Replay()
state = rng.normal(size=3)
for frame in range(300):
    action = agent.act(state)
    next_state = np.clip(0.9 * state + np.array([0.3, 0.1, -0.2]) * action, -3, 3)
    reward, done = -np.square(next_state).sum(), bool(np.abs(next_state).max() < 0.1)
    memory.add(state, action, reward, next_state, float(done))
    state = rng.normal(size=3) if done or frame % 40 == 39 else next_state
    if frame >= 60 and frame % 4 == 0:
        losses = agent.train(memory.sample())
        if frame % 80 == 0:
            print(frame, losses)
