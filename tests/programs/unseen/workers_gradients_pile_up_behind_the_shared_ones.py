"""Asynchronous actor-critic with a shared network and local ones. The optimizer clears the shared gradients, which
drops its hold on the worker's; the worker's own are never cleared and grow from push to push.

Round 18
Class: gradients by hand
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

UPDATE_GLOBAL_ITER, GAMMA, MAX_EP_STEP = 5, 0.9, 40
N_S, N_A = 3, 3


def v_wrap(np_array, dtype=np.float32):
    return torch.from_numpy(np_array.astype(dtype))


class Pendulum:
    """Swings in discrete pushes; upright is best."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-0.6, 0.6), 0.0, 0
        return self.obs()

    def obs(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.speed])

    def step(self, a):
        self.speed = np.clip(self.speed + 0.3 * np.sin(self.angle) + 0.3 * (a - 1), -2, 2)
        self.angle += 0.2 * self.speed
        self.t += 1
        return self.obs(), float(np.cos(self.angle)) - 0.1 * self.speed**2, abs(self.angle) > 1.5


class Net(nn.Module):
    def __init__(self, s_dim, a_dim):
        super().__init__()
        self.pi1, self.pi2 = nn.Linear(s_dim, 32), nn.Linear(32, a_dim)
        self.v1, self.v2 = nn.Linear(s_dim, 32), nn.Linear(32, 1)

    def forward(self, x):
        logits = self.pi2(torch.tanh(self.pi1(x)))
        values = self.v2(torch.tanh(self.v1(x)))
        return logits, values

    def choose_action(self, s):
        with torch.no_grad():
            logits, _ = self.forward(s)
        return torch.distributions.Categorical(logits=logits).sample().numpy()[0]

    def loss_func(self, s, a, v_t):
        logits, values = self.forward(s)
        td = v_t - values
        m = torch.distributions.Categorical(logits=logits)
        a_loss = -m.log_prob(a) * td.detach().squeeze(1)
        return (a_loss + td.pow(2).squeeze(1)).mean()


def push_and_pull(opt, lnet, gnet, done, s_, bs, ba, br):
    v_s_ = 0.0 if done else lnet.forward(v_wrap(s_[None, :]))[-1].detach().numpy()[0, 0]
    buffer_v_target = []
    for r in br[::-1]:
        v_s_ = r + GAMMA * v_s_
        buffer_v_target.append(v_s_)
    buffer_v_target.reverse()
    loss = lnet.loss_func(
        v_wrap(np.vstack(bs)), v_wrap(np.array(ba), np.int64), v_wrap(np.array(buffer_v_target)[:, None])
    )
    opt.zero_grad()  # BUG GS401
    loss.backward()
    for lp, gp in zip(lnet.parameters(), gnet.parameters()):
        gp._grad = lp.grad  # BUG GS401
    opt.step()  # BUG GS401
    lnet.load_state_dict(gnet.state_dict())


def work(env, lnet, gnet, opt):
    """A worker: yields after each push, so that the workers take turns."""
    while True:
        s, buffers, ep_r = env.reset(), ([], [], []), 0.0
        for t in range(MAX_EP_STEP):
            a = lnet.choose_action(v_wrap(s[None, :]))
            s_, r, done = env.step(a)
            ep_r += r
            for buffer, item in zip(buffers, (s, a, r)):
                buffer.append(item)
            if (t + 1) % UPDATE_GLOBAL_ITER == 0 or done:
                push_and_pull(opt, lnet, gnet, done, s_, *buffers)
                buffers = ([], [], [])
                yield ep_r
            if done:
                break
            s = s_


torch.manual_seed(1803)
gnet = Net(N_S, N_A)
opt = torch.optim.Adam(gnet.parameters(), lr=1e-3, betas=(0.92, 0.999))
locals_ = [Net(N_S, N_A) for _ in range(3)]
for lnet in locals_:
    lnet.load_state_dict(gnet.state_dict())
workers = [work(Pendulum(seed), lnet, gnet, opt) for seed, lnet in enumerate(locals_)]
for _ in range(40):
    res = [next(worker) for worker in workers]
print(res)
