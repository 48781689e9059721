"""Mistakes that can be known without running, each marked `# BUG`, in the forms that people write them in."""

from __future__ import annotations

HEAD = """
import copy
import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.distributions import Categorical
from torch.nn.utils import clip_grad_norm_
from torch.utils.checkpoint import checkpoint
"""
AGENT = """
class Agent:
    def __init__(self):
        self.q = nn.Linear(3, 2)
        self.opt = optim.Adam(self.q.parameters())
"""

BAD: dict[str, str] = {
    "past the wrapper": """
from torch.nn.parallel import DistributedDataParallel as DDP

def train(net, loader):
    net = DDP(net)
    for x in loader:
        loss = net.module(x).mean()  # BUG GS703
        loss.backward()
""",
    "clip after the step": """
def update(net, opt, loss):
    opt.zero_grad()
    loss.backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # BUG GS504
""",
    "clip after the step, cleared at the end": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
for x in data:
    net(x).mean().backward()
    opt.step()
    clip_grad_norm_(net.parameters(), 1.0)  # BUG GS504
    opt.zero_grad()
""",
    "clip after the step and before the scheduler's": """
def train(net, opt, scheduler, loader):
    for x in loader:
        opt.zero_grad()
        loss = net(x).mean()
        loss.backward()
        opt.step()
        if clipping:
            torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)  # BUG GS504
        scheduler.step()
""",
    "clip after the first of two steps": AGENT
    + """
        self.pi = nn.Linear(3, 2)
        self.pi_opt = optim.Adam(self.pi.parameters())

    def update(self, x):
        self.opt.zero_grad()
        self.q(x).mean().backward()
        self.opt.step()
        clip_grad_norm_(self.q.parameters(), 1.0)  # BUG GS504
        self.pi_opt.zero_grad()
        self.pi(x).mean().backward()
        self.pi_opt.step()
""",
    "clip before backward": """
def update(net, opt, x):
    opt.zero_grad()
    loss = net(x).mean()
    clip_grad_norm_(net.parameters(), 1.0)  # BUG GS504
    loss.backward()
    opt.step()
""",
    "clear between backward and step": """
def update(opt, loss):
    loss.backward()
    opt.zero_grad()  # BUG GS405
    opt.step()
""",
    "clear between clip and step": AGENT
    + """
    def update(self, x):
        with torch.autocast("cpu"):
            loss = self.q(x).mean()
        loss.backward()
        clip_grad_norm_(self.q.parameters(), 1.0)
        self.opt.zero_grad(set_to_none=True)  # BUG GS405
        self.opt.step()
""",
    "the network is cleared between backward and step": AGENT
    + """
    def update(self, x):
        self.q(x).mean().backward()
        self.q.zero_grad()  # BUG GS405
        self.opt.step()
""",
    "step before backward": """
def train(net, opt, loader, criterion):
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(net(x), y)
        opt.step()  # BUG GS404
        loss.backward()
""",
    "step before backward, cleared at the end": """
def train(net, opt, loader, criterion):
    for x, y in loader:
        loss = criterion(net(x), y)
        opt.step()  # BUG GS404
        loss.backward()
        opt.zero_grad()
""",
    "never cleared": """
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
scheduler = optim.lr_scheduler.StepLR(opt, 10)
for x in data:
    loss = net(x).mean()
    loss.backward()
    clip_grad_norm_(net.parameters(), 1.0)
    opt.step()  # BUG GS401
    scheduler.step()
    print(loss.item())
""",
    "never cleared, because the method is only named": """
def train(net, loader):
    optimizer = optim.SGD(net.parameters(), 0.1)
    for x in loader:
        optimizer.zero_grad
        net(x).mean().backward()
        optimizer.step()  # BUG GS401
""",
    "never cleared, in a function": """
def train(net, loader):
    optimizer = optim.RMSprop(net.parameters())
    while True:
        for x in loader:
            loss = compute_loss(net, x)
            loss.backward()
            optimizer.step()  # BUG GS401
""",
    "never cleared, with the optimizer of the module": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)

def train(loader):
    for x in loader:
        net(x).mean().backward()
        opt.step()  # BUG GS401

train(data)
""",
    "never cleared, one update per episode": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
for episode in range(100):
    while True:
        x, done = env.step(None)
        if done:
            net(x).mean().backward()
            opt.step()  # BUG GS401
            break
""",
    "clip after the step of an optimizer with a name": """
def update(critic, critic_opt, loss):
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()
    clip_grad_norm_(critic.parameters(), 1.0)  # BUG GS504
""",
    "logarithm of a softmax": "log_prob = torch.log(F.softmax(net(x), dim=-1))  # BUG GS602",
    "logarithm of a method": "log_prob = net(x).softmax(-1).log()  # BUG GS602",
    "logarithm of a softmax that has a name": """
def entropy(logits):
    probs = torch.softmax(logits, dim=-1)
    return -(probs * torch.log(probs)).sum(-1)  # BUG GS602
""",
    "logarithm of gathered probabilities": """
def log_prob(logits, action):
    probs = F.softmax(logits, dim=-1)
    return probs.gather(1, action).squeeze(1).log()  # BUG GS602
""",
    "logarithm of a softmax module": """
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.softmax = nn.Linear(3, 2), nn.Softmax(dim=-1)

    def log_prob(self, x):
        return torch.log(self.softmax(self.head(x)))  # BUG GS602
""",
    "softmax as logits": "dist = Categorical(logits=F.softmax(net(x), dim=-1))  # BUG GS602",
    "probabilities as logits": """
def act(net, x):
    probs = F.softmax(net(x), dim=-1)
    dist = torch.distributions.Categorical(logits=probs)  # BUG GS602
    return dist.sample()
""",
    "softmax into a cross-entropy": "loss = F.cross_entropy(F.softmax(net(x), -1), y)  # BUG GS602",
    "softmax into a criterion": """
criterion = nn.CrossEntropyLoss()
net = nn.Sequential(nn.Linear(3, 4), nn.Softmax(dim=-1))
loss = criterion(net(x), y)  # BUG GS602
""",
    "network of this file that ends in a softmax": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)

model = Net().to(device)
loss = F.cross_entropy(model(x), y)  # BUG GS602
""",
    "dropped clamp": """
for p in net.parameters():
    p.grad.clamp(-1, 1)  # BUG GS506
""",
    "dropped clamp of the data": """
def clip(net):
    for p in net.parameters():
        p.grad.data.clamp(min=-1, max=1)  # BUG GS506
""",
    "dropped clamp by a function": """
for p in net.parameters():
    torch.clamp(p.grad, -1, 1)  # BUG GS506
""",
    "clamp bound to a name that nobody reads": """
def clip(net):
    for p in net.parameters():
        grad = p.grad.clamp(-1, 1)  # BUG GS506
""",
    "target loaded from itself": "self_target = 1\ntarget_net.load_state_dict(target_net.state_dict())  # BUG GS809",
    "target loaded from a copy of itself": AGENT
    + """
    def sync(self):
        self.q_target.load_state_dict(copy.deepcopy(self.q_target.state_dict()))  # BUG GS809
""",
    "target mixed with itself": """
def soft_update(q, target, tau):
    for t, p in zip(target.parameters(), target.parameters()):  # BUG GS809
        t.data.copy_(tau * p.data + (1 - tau) * t.data)
""",
    "target bound by =": AGENT
    + """
        self.target = self.q  # BUG GS306

    def loss(self, s, s2):
        return (self.q(s) - self.target(s2).detach()).pow(2).mean()

    def sync(self):
        self.target.load_state_dict(self.q.state_dict())
""",
    "target bound by = every so often": AGENT
    + """
        self.target_q = copy.deepcopy(self.q)

    def update(self, step, s2):
        value = self.target_q(s2)
        if step % 100 == 0:
            self.target_q = self.q  # BUG GS306
""",
    "target bound by = and softly updated": """
q_net = QNet()
target_net = q_net  # BUG GS306
for s, s2 in data:
    y = target_net(s2).detach()
    soft_update(q_net, target_net, 0.005)
""",
    "generator used up by the optimizer": """
net = nn.Linear(3, 1)
params = net.parameters()
opt = optim.Adam(params)
for x in data:
    opt.zero_grad()
    net(x).mean().backward()
    clip_grad_norm_(params, 1.0)  # BUG GS505
    opt.step()
""",
    "chain used up by the clip before": """
def train(a, b, opt, loader):
    params = itertools.chain(a.parameters(), b.parameters())
    for x in loader:
        opt.zero_grad()
        a(b(x)).mean().backward()
        nn.utils.clip_grad_norm_(params, 1.0)  # BUG GS505
        opt.step()
""",
    "filter used up by a list": """
def train(net, opt, loss):
    trainable = filter(lambda p: p.requires_grad, net.parameters())
    number = sum(p.numel() for p in list(trainable))
    opt.zero_grad()
    loss.backward()
    clip_grad_norm_(trainable, 1.0)  # BUG GS505
    opt.step()
""",
    "clip of a scaled gradient": """
for x in data:
    opt.zero_grad()
    scaler.scale(net(x).mean()).backward()
    clip_grad_norm_(net.parameters(), 1.0)  # BUG GS507
    scaler.step(opt)
    scaler.update()
""",
    "clip of a scaled gradient, in a method": AGENT
    + """
    def update(self, loss):
        self.opt.zero_grad()
        scaled = self.scaler.scale(loss)
        scaled.backward()
        if self.max_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.q.parameters(), self.max_norm)  # BUG GS507
        self.scaler.step(self.opt)
        self.scaler.update()
""",
    "tensor of log-probabilities": """
log_probs, rewards = [], []
for x in data:
    dist = Categorical(logits=net(x))
    log_probs.append(dist.log_prob(dist.sample()))
returns = torch.tensor(rewards)
loss = -(torch.tensor(log_probs) * returns).sum()  # BUG GS201
loss.backward()
""",
    "tensor of log-probabilities beside another term": """
log_probs = []
for x in data:
    dist = Categorical(logits=net(x))
    log_prob = dist.log_prob(dist.sample())
    log_probs.append(log_prob)
advantage = (returns - value).detach()
log_probs = torch.tensor(log_probs)  # BUG GS202
loss = -(log_probs * advantage).mean() + F.mse_loss(value, returns)
loss.backward()
""",
    "tensor of losses": """
losses = []
for x, r in data:
    log_prob = Categorical(logits=net(x)).log_prob(a)
    losses.append(-log_prob * r)
loss = torch.tensor(losses, requires_grad=True).sum()  # BUG GS201
loss.backward()
""",
    "losses made to require grad again": """
def finish_episode(policy, optimizer, returns):
    losses = []
    for log_prob, R in zip(policy.saved_log_probs, returns):
        losses.append(-log_prob * R)
    optimizer.zero_grad()
    loss = torch.tensor(losses, requires_grad=True).sum()  # BUG GS201
    loss.backward()
    optimizer.step()
""",
    "tensor of two losses": """
net = nn.Linear(3, 1)
one, two = F.mse_loss(net(x), y), F.mse_loss(net(z), y)
total = torch.tensor([one, two]).mean()  # BUG GS201
total.backward()
""",
    "checkpoint of constants": """
trunk = nn.Linear(3, 8)
obs = torch.randn(8, 3)
features = checkpoint(trunk, obs, use_reentrant=True)  # BUG GS210
""",
    "reentrant checkpoint by default": """
class Net(nn.Module):
    def forward(self, x):
        return checkpoint(self.block, x)  # BUG GS210
""",
}
