"""An importance-weighted actor-learner for a probe with two thrusters: the log-probabilities keep a column for
each thruster, and so do the corrected targets of the value. After seolhokim/DistributedRL-Pytorch-Ray#3.

Round 36
Class: axes
"""

import copy
from collections import deque

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Normal

ARGS = {
    "seed": 3625,
    "n_actors": 6,
    "traj_length": 16,
    "gamma": 0.96,
    "rho_bar": 1.0,
    "c_bar": 1.0,
    "entropy_coef": 1e-3,
    "critic_coef": 0.5,
    "lr": 1e-3,
    "batch_actors": 4,
    "updates": 60,
    "publish_every": 3,
}


class Probe:
    """Drifts in the plane and is drawn to the origin by its thrusters; it is lost beyond a radius of three."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v = self.rng.uniform(-1.5, 1.5, 2), self.rng.normal(0, 0.1, 2)
        return self.obs()

    def obs(self):
        return np.concatenate([self.x, self.v]).astype(np.float32)

    def step(self, action):
        self.v = 0.95 * self.v + 0.1 * np.clip(action, -1, 1) + self.rng.normal(0, 0.02, 2)
        self.x = self.x + self.v
        distance = float(np.linalg.norm(self.x))
        lost = distance > 3.0
        return self.obs(), -3.0 if lost else 1.0 - 0.5 * distance, lost


class ActorCritic(nn.Module):
    def __init__(self, n_obs=4, n_actions=2, hidden=64):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(n_obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mu, self.v = nn.Linear(hidden, n_actions), nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.full((n_actions,), -0.7))

    def get_dist(self, x):
        return Normal(self.mu(self.base(x)), self.log_std.exp())

    def get_log_prob(self, dist, action):
        return dist.log_prob(action)  # BUG GS603

    def value(self, x):
        return self.v(self.base(x))


class Actor:
    """Plays with a copy of the weights that is some updates old."""

    def __init__(self, index, model):
        self.env, self.model = Probe(ARGS["seed"] + index), copy.deepcopy(model)
        self.state = self.env.reset()

    def set_weights(self, weights):
        self.model.load_state_dict(weights)

    @torch.no_grad()
    def run(self):
        columns = {k: [] for k in ("state", "action", "reward", "next_state", "done", "log_prob")}
        for _ in range(ARGS["traj_length"]):
            state = torch.from_numpy(self.state)
            dist = self.model.get_dist(state)
            action = dist.sample()
            next_state, reward, lost = self.env.step(action.numpy())
            row = (
                state,
                action,
                torch.tensor([reward], dtype=torch.float32),
                torch.from_numpy(next_state),
                torch.tensor([float(lost)]),
                self.model.get_log_prob(dist, action),
            )
            for column, x in zip(columns.values(), row):
                column.append(x)
            self.state = self.env.reset() if lost else next_state
        return {k: torch.stack(v) for k, v in columns.items()}


class Learner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=ARGS["lr"])

    @torch.no_grad()
    def vtrace(self, log_prob, data):
        value, next_value = self.model.value(data["state"]), self.model.value(data["next_state"])
        ratio = (log_prob - data["log_prob"]).exp()  # BUG GS603
        rho, c = ratio.clamp(max=ARGS["rho_bar"]), ratio.clamp(max=ARGS["c_bar"])
        discount = ARGS["gamma"] * (1.0 - data["done"])
        delta = rho * (data["reward"] + discount * next_value - value)

        vs_minus_v, steps = torch.zeros_like(delta[0]), []
        for t in reversed(range(len(delta))):
            vs_minus_v = delta[t] + discount[t] * c[t] * vs_minus_v
            steps.insert(0, vs_minus_v)
        vs = torch.stack(steps) + value
        # the state after a loss belongs to the next game, but its discount is zero
        next_vs = torch.cat([vs[1:], next_value[-1:].expand_as(vs[:1])])
        advantage = rho * (data["reward"] + discount * next_vs - value)
        return vs, advantage

    def train(self, trajectories):
        data = {k: torch.stack([t[k] for t in trajectories], dim=1) for k in trajectories[0]}
        dist = self.model.get_dist(data["state"])
        log_prob = self.model.get_log_prob(dist, data["action"])
        vs, advantage = self.vtrace(log_prob, data)
        actor_loss = -(log_prob * advantage).mean()
        critic_loss = (self.model.value(data["state"]) - vs).pow(2).mean()
        entropy = dist.entropy().sum(-1).mean()
        loss = actor_loss + ARGS["critic_coef"] * critic_loss - ARGS["entropy_coef"] * entropy
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(ARGS["seed"])
    rng = np.random.default_rng(ARGS["seed"])
    learner = Learner(ActorCritic())
    actors = [Actor(i, learner.model) for i in range(ARGS["n_actors"])]
    queue = deque(maxlen=2 * ARGS["n_actors"])
    for update in range(ARGS["updates"]):
        if update % ARGS["publish_every"] == 0:
            for actor in actors:
                actor.set_weights(learner.model.state_dict())
            queue.extend(actor.run() for actor in actors)
        chosen = rng.choice(len(queue), ARGS["batch_actors"], replace=False)
        loss = learner.train([queue[i] for i in chosen])
    print(f"loss {loss:.3f}, mean reward {torch.stack([t['reward'] for t in queue]).mean():.3f}")
