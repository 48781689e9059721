"""The repaired twin of a program in which the following goes wrong.
A latent world model with an actor and a value that learn from imagined games: the optimizer of the value was
copied from the line above and holds the actor's modules, so the value network is never stepped. After
juliusfrost/dreamer-pytorch#79.

Round 36
Class: the line
"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical
from torch.optim import Adam

N_ACTIONS, OBS, DETER, HORIZON = 3, 4, 32, 6
SEED = 3609


class Ferry:
    """Keep a ferry on the line across a river whose current changes now and then."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.x, self.v, self.current, self.t = self.rng.uniform(-1, 1), 0.0, self.rng.normal(0, 0.1), 0
        return self._obs()

    def _obs(self):
        return np.array([self.x, self.v, self.current, self.t / 30], dtype=np.float32)

    def step(self, action):
        self.t += 1
        if self.rng.random() < 0.05:
            self.current = self.rng.normal(0, 0.1)
        self.v = 0.8 * self.v + 0.1 * (action - 1) + 0.2 * self.current
        self.x = float(np.clip(self.x + self.v, -2, 2))
        return self._obs(), 1.0 - abs(self.x), self.t >= 30


def get_parameters(modules):
    return [p for module in modules for p in module.parameters()]


class FreezeParameters:
    def __init__(self, modules):
        self.params = get_parameters(modules)

    def __enter__(self):
        self.states = [p.requires_grad for p in self.params]
        for p in self.params:
            p.requires_grad = False

    def __exit__(self, *_):
        for p, state in zip(self.params, self.states):
            p.requires_grad = state


def head(n_out):
    return nn.Sequential(nn.Linear(DETER, 48), nn.ELU(), nn.Linear(48, n_out))


class AgentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.observation_encoder = nn.Sequential(nn.Linear(OBS, DETER), nn.Tanh())
        self.transition = nn.GRUCell(N_ACTIONS, DETER)
        self.observation_decoder = head(OBS)
        self.reward_model = head(1)
        self.action_decoder = head(N_ACTIONS)
        self.value_model = head(1)

    def policy(self, feat):
        return Categorical(logits=self.action_decoder(feat))


class DreamerAlgo:
    def __init__(self, model, model_lr=3e-3, actor_lr=1e-3, value_lr=3e-3, discount=0.95, lam=0.9):
        self.model, self.discount, self.lam = model, discount, lam
        self.model_modules = [
            model.observation_encoder,
            model.transition,
            model.observation_decoder,
            model.reward_model,
        ]
        self.actor_modules = [model.action_decoder]
        self.value_modules = [model.value_model]
        self.model_optimizer = Adam(get_parameters(self.model_modules), lr=model_lr)
        self.actor_optimizer = Adam(get_parameters(self.actor_modules), lr=actor_lr)
        self.value_optimizer = Adam(get_parameters(self.value_modules), lr=value_lr)

    def model_loss(self, obs, action, reward, next_obs):
        feat = self.model.observation_encoder(obs)
        following = self.model.transition(F.one_hot(action, N_ACTIONS).float(), feat)
        image_loss = F.mse_loss(self.model.observation_decoder(feat), obs)
        image_loss = image_loss + F.mse_loss(self.model.observation_decoder(following), next_obs)
        consistency = F.mse_loss(following, self.model.observation_encoder(next_obs).detach())
        reward_loss = F.mse_loss(self.model.reward_model(following).squeeze(-1), reward)
        return image_loss + consistency + reward_loss, feat.detach()

    @torch.no_grad()
    def imagine(self, feat):
        feats, actions = [feat], []
        for _ in range(HORIZON):
            action = self.model.policy(feat).sample()
            feat = self.model.transition(F.one_hot(action, N_ACTIONS).float(), feat)
            feats.append(feat)
            actions.append(action)
        return torch.stack(feats), torch.stack(actions)

    @torch.no_grad()
    def compute_return(self, feats):
        reward = self.model.reward_model(feats[1:]).squeeze(-1)
        value = self.model.value_model(feats).squeeze(-1)
        last, returns = value[-1], []
        for t in reversed(range(HORIZON)):
            last = reward[t] + self.discount * ((1 - self.lam) * value[t + 1] + self.lam * last)
            returns.insert(0, last)
        return torch.stack(returns), value[:-1]

    def optimize_agent(self, batch):
        model_loss, feat = self.model_loss(*batch)
        with FreezeParameters(self.model_modules + self.value_modules):
            feats, actions = self.imagine(feat)
            returns, baseline = self.compute_return(feats)
        dist = self.model.policy(feats[:-1])
        actor_loss = -(dist.log_prob(actions) * (returns - baseline)).mean() - 0.01 * dist.entropy().mean()
        value_loss = 0.5 * F.mse_loss(self.model.value_model(feats[:-1]).squeeze(-1), returns)

        self.model_optimizer.zero_grad()
        self.actor_optimizer.zero_grad()
        self.value_optimizer.zero_grad()
        model_loss.backward()
        actor_loss.backward()
        value_loss.backward()
        self.model_optimizer.step()
        self.actor_optimizer.step()
        self.value_optimizer.step()
        return model_loss.item(), actor_loss.item(), value_loss.item()


torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)
env, model = Ferry(SEED), AgentModel()
algo, replay = DreamerAlgo(model), []
obs = env.reset()
for itr in range(320):
    with torch.no_grad():
        action = model.policy(model.observation_encoder(torch.from_numpy(obs)[None])).sample().item()
    next_obs, reward, cut = env.step(action)
    replay.append((obs, action, np.float32(reward), next_obs))
    obs = env.reset() if cut else next_obs
    if itr >= 100 and itr % 4 == 0:
        rows = [replay[i] for i in rng.integers(len(replay), size=32)]
        losses = algo.optimize_agent([torch.from_numpy(np.stack(c)) for c in zip(*rows)])
print("model {:.3f}, actor {:.3f}, value {:.3f}".format(*losses))
