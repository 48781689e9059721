"""Right code that is near a mistake: nothing may be reported."""

from __future__ import annotations

from bad_code import AGENT

GOOD: dict[str, str] = {
    "clip in its place": """
def update(net, opt, loss):
    opt.zero_grad()
    loss.backward()
    clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
""",
    "norm measured after the step": """
def update(net, opt, loss):
    opt.zero_grad()
    loss.backward()
    opt.step()
    norm = clip_grad_norm_(net.parameters(), float("inf"))
    return norm
""",
    "clip between the steps of two optimizers": """
def update(a, b, opt_a, opt_b, loss):
    opt_a.zero_grad()
    opt_b.zero_grad()
    loss.backward()
    opt_a.step()
    clip_grad_norm_(b.parameters(), 1.0)
    opt_b.step()
""",
    "clip of what the caller steps": """
def update(actor, critic, critic_opt, loss):
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()
    if True:
        clip_grad_norm_(actor.parameters(), 1.0)
    actor_opt.step()
""",
    "clip of gradient that is kept for the next step": """
def update(net, opt, loss):
    loss.backward()
    opt.step()
    clip_grad_norm_(net.parameters(), 1.0)
""",
    "clip of what a helper may have filled after the step": """
def update(net, opt, loss, fill):
    opt.zero_grad()
    loss.backward()
    opt.step()
    opt.zero_grad()
    fill(net)
    clip_grad_norm_(net.parameters(), 1.0)
""",
    "a helper fills, and a probe's gradient is cleared": """
def train(net, data, opt, fill):
    for batch in data:
        fill(net, batch)
        opt.step()
        probe = net(batch).mean()
        probe.backward()
        opt.zero_grad()
""",
    "a clamp that is tried out": """
def test_types(p):
    with pytest.raises(TypeError):
        p.grad.clamp("a", 1)
    with timer:
        p.grad.clamp(-1, 1)
""",
    "a helper may unscale": """
def update(net, opt, scaler, loss, prepare):
    opt.zero_grad()
    scaler.scale(loss).backward()
    prepare(opt)
    clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
""",
    "cleared through the name of the method": """
def train(net, loader):
    optimizer = optim.SGD(net.parameters(), 0.1)
    clear = optimizer.zero_grad
    for x in loader:
        clear()
        net(x).mean().backward()
        optimizer.step()
""",
    "clip before the second backward": """
def update(net, opt, one, two):
    opt.zero_grad()
    one.backward()
    clip_grad_norm_(net.parameters(), 1.0)
    two.backward()
    opt.step()
""",
    "clip after a helper that may backward": """
def update(net, opt, loss):
    opt.zero_grad()
    accumulate(net)
    clip_grad_norm_(net.parameters(), 1.0)
    loss.backward()
    opt.step()
""",
    "another optimizer is cleared between": """
def update(opt, other, loss):
    loss.backward()
    other.zero_grad()
    opt.step()
""",
    "cleared, then backward again": """
def update(opt, one, two):
    one.backward()
    save_gradients()
    opt.zero_grad()
    two.backward()
    opt.step()
""",
    "gradient put back between clear and step": """
def update(net, opt, loss):
    loss.backward()
    kept = [p.grad.clone() for p in net.parameters()]
    opt.zero_grad()
    for p, g in zip(net.parameters(), kept):
        p.grad = g
    opt.step()
""",
    "backward in a helper between clear and step": """
def update(opt, warm_up, batch):
    warm_up.backward()
    opt.zero_grad()
    loss = train_on(batch)
    opt.step()
""",
    "closure": """
def update(opt, closure, loss):
    loss.backward()
    opt.zero_grad()
    opt.step(closure)
""",
    "step of the last round's gradient": """
def train(opt, loader):
    for x in loader:
        opt.step()
        opt.zero_grad()
        loss_of(x).backward()
""",
    "environment and scheduler step, too": """
def train(net, opt, env, scheduler, loader):
    for x in loader:
        opt.zero_grad()
        env.step()
        scheduler.step()
        net(x).mean().backward()
        opt.step()
""",
    "accumulation": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
for i, x in enumerate(data):
    net(x).mean().backward()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
""",
    "cleared by hand": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
for x in data:
    for p in net.parameters():
        p.grad = None
    net(x).mean().backward()
    opt.step()
""",
    "cleared by a helper": """
def forget(net):
    net.zero_grad()

def train(net, loader):
    opt = optim.SGD(net.parameters(), 0.1)
    for x in loader:
        forget(net)
        net(x).mean().backward()
        opt.step()
""",
    "cleared by a helper from elsewhere": """
def train(net, loader):
    opt = optim.SGD(net.parameters(), 0.1)
    for x in loader:
        helpers.fresh_start(net)
        net(x).mean().backward()
        opt.step()
""",
    "optimizer given away": """
def train(net, loader, accelerator):
    opt = optim.SGD(net.parameters(), 0.1)
    opt2 = wrap(opt)
    for x in loader:
        net(x).mean().backward()
        opt.step()
""",
    "one step only": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
net(x).mean().backward()
opt.step()
""",
    "new network and optimizer in every round": """
for seed in range(3):
    net = nn.Linear(3, 1)
    opt = optim.SGD(net.parameters(), 0.1)
    net(x).mean().backward()
    opt.step()
""",
    "the loop ends with the step": """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
while True:
    total = collect()
    if total.done:
        net(total.x).mean().backward()
        opt.step()
        break
""",
    "clip of another network than the optimizer's name says": """
def update(actor, critic, critic_opt, loss):
    critic_opt.zero_grad()
    loss.backward()
    critic_opt.step()
    clip_grad_norm_(actor.parameters(), 1.0)
""",
    "gradient put back under its other name": """
def update(net, opt, loss, kept):
    loss.backward()
    opt.zero_grad()
    for p, g in zip(net.parameters(), kept):
        p._grad = g
    opt.step()
""",
    "scaler that is switched off": """
scaler = torch.amp.GradScaler("cpu", enabled=False)
for x in data:
    opt.zero_grad()
    scaler.scale(net(x).mean()).backward()
    clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
""",
    "target that is copied on the next line": AGENT
    + """
        self.target = self.q
        self.target = copy.deepcopy(self.target)

    def loss(self, s):
        return self.target(s)

    def sync(self):
        self.target.load_state_dict(self.q.state_dict())
""",
    "gradients perhaps off": """
def entropy(logits, training):
    with torch.set_grad_enabled(training):
        return torch.softmax(logits, -1).log()
""",
    "log_softmax": "log_prob = F.log_softmax(net(x), dim=-1)",
    "kept away from zero": """
def entropy(logits):
    probs = torch.softmax(logits, -1)
    safe = torch.log(probs + 1e-8) + probs.clamp(min=1e-8).log()
    return safe
""",
    "kept away from zero in place": """
def entropy(logits):
    probs = torch.softmax(logits, -1)
    probs.clamp_(min=1e-8)
    return probs.log()
""",
    "bound twice": """
def entropy(logits):
    probs = torch.softmax(logits, -1)
    probs = probs.clamp(min=1e-8)
    return probs.log()
""",
    "without gradients": """
@torch.no_grad()
def entropy(logits):
    return -(torch.softmax(logits, -1) * torch.softmax(logits, -1).log()).sum()
""",
    "under no_grad": """
def entropy(logits):
    with torch.no_grad():
        return torch.softmax(logits, -1).log()
""",
    "probabilities as probabilities": """
dist = Categorical(F.softmax(net(x), dim=-1))
other = Categorical(probs=F.softmax(net(x), dim=-1))
""",
    "soft labels": "loss = F.cross_entropy(net(x), F.softmax(teacher(x), dim=-1))",
    "logits with a softmax inside": "loss = F.cross_entropy(net(F.softmax(x, -1)), y)",
    "one of two outputs is a softmax": """
class Net(nn.Module):
    def forward(self, x, train=True):
        if train:
            return self.fc(x)
        return F.softmax(self.fc(x), -1)

model = Net()
loss = F.cross_entropy(model(x), y)
""",
    "clamped in place": """
for p in net.parameters():
    p.grad.clamp_(-1, 1)
    p.grad = p.grad.clamp(-1, 1)
    torch.clamp(p.grad, -1, 1, out=p.grad)
""",
    "clamped into a name that is read": """
def norms(net):
    for p in net.parameters():
        grad = p.grad.clamp(-1, 1)
        print(grad.norm())
""",
    "clamp of something else": "x.clamp(-1, 1)",
    "target loaded from the network": "target_net.load_state_dict(q_net.state_dict())",
    "round trip of a state dict": "net.load_state_dict(net.state_dict())",
    "target with or without": AGENT
    + """
        if use_target:
            self.target = copy.deepcopy(self.q)
        else:
            self.target = self.q

    def loss(self, s):
        return self.target(s)

    def sync(self):
        self.target.load_state_dict(self.q.state_dict())
""",
    "target policy of off-policy evaluation": AGENT
    + """
        self.target_policy = self.q

    def loss(self, s):
        return self.target_policy(s)
""",
    "target that is a value": """
q = nn.Linear(3, 1)
value = q(x)
target = value
loss = (q(x) - target.detach()).pow(2).mean()
""",
    "target copied": AGENT
    + """
        self.target = copy.deepcopy(self.q)

    def loss(self, s):
        return self.target(s)
""",
    "parameters in a list": """
net = nn.Linear(3, 1)
params = list(net.parameters())
opt = optim.Adam(params)
for x in data:
    opt.zero_grad()
    net(x).mean().backward()
    clip_grad_norm_(params, 1.0)
    opt.step()
""",
    "parameters of who knows what": """
def train(agent, opt, loss):
    params = agent.parameters()
    opt = optim.Adam(params)
    opt.zero_grad()
    loss.backward()
    clip_grad_norm_(params, 1.0)
    opt.step()
""",
    "network that returns its parameters as a list": """
class Net(nn.Module):
    def parameters(self):
        return list(super().parameters())

net = Net()
params = net.parameters()
opt = optim.Adam(params)
for x in data:
    opt.zero_grad()
    net(x).mean().backward()
    clip_grad_norm_(params, 1.0)
    opt.step()
""",
    "generator made anew in the loop": """
net = nn.Linear(3, 1)
opt = optim.Adam(net.parameters())
for x in data:
    params = net.parameters()
    opt.zero_grad()
    net(x).mean().backward()
    clip_grad_norm_(params, 1.0)
    opt.step()
""",
    "unscaled first": """
for x in data:
    opt.zero_grad()
    scaler.scale(net(x).mean()).backward()
    scaler.unscale_(opt)
    clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
""",
    "limit that knows the scale": """
for x in data:
    opt.zero_grad()
    scaler.scale(net(x).mean()).backward()
    clip_grad_norm_(net.parameters(), 1.0 * scaler.get_scale())
    scaler.step(opt)
""",
    "clip only where nothing is scaled": """
def update(net, opt, scaler, loss, use_amp):
    opt.zero_grad()
    scaler.scale(loss).backward()
    if not use_amp:
        clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
""",
    "old log-probabilities of PPO": """
log_probs = []
for x in data:
    dist = Categorical(logits=net(x))
    log_probs.append(dist.log_prob(dist.sample()))
old = torch.tensor(log_probs)
new = Categorical(logits=net(states)).log_prob(actions)
loss = -((new - old).exp() * advantage).mean()
loss.backward()
""",
    "temperature with constant log-probabilities": """
log_probs = []
for x in data:
    log_probs.append(Categorical(logits=net(x)).log_prob(a))
loss = -(log_alpha * torch.tensor(log_probs)).mean()
loss.backward()
""",
    "tensor of losses for the log": """
losses = []
for x in data:
    loss = F.mse_loss(net(x), y)
    loss.backward()
    losses.append(loss)
print(torch.tensor(losses).mean())
""",
    "a list that is fitted itself": """
def fit(points):
    start = []
    for p in points:
        start.append(p.mean())
    x = torch.tensor(start, requires_grad=True)
    opt = optim.SGD([x], 0.1)
    x.sum().backward()
    opt.step()
""",
    "the gradient of a list is read": """
def sensitivity(optimizer, points):
    start = []
    for p in points:
        start.append(float(p))
    x = torch.tensor(start, requires_grad=True)
    x.sum().backward()
    optimizer.step()
    return x.grad
""",
    "stacked": """
log_probs = []
for x in data:
    log_probs.append(Categorical(logits=net(x)).log_prob(a))
loss = -(torch.stack(log_probs) * torch.tensor(returns)).sum()
loss.backward()
""",
    "checkpoint of the newer kind": "y = checkpoint(block, x, use_reentrant=False)",
    "checkpoint with an option": "y = checkpoint(block, x, use_reentrant=flag)\nz = checkpoint(block, x, **options)",
    "checkpoint only where the input requires grad": """
def forward(block, x):
    return checkpoint(block, x) if x.requires_grad else block(x)
""",
    "checkpoint, by default, of what another layer computed": """
class Net(nn.Module):
    def forward(self, tokens):
        x = self.embedding(tokens)
        return checkpoint(self.block, x)

    def layer(self, hidden_states):
        return checkpoint(self.block, hidden_states)

    def stack(self, x):
        for block in self.blocks:
            x = checkpoint(block, x)
        return x
""",
    "reentrant checkpoint of who knows what": "y = checkpoint(block, x, use_reentrant=True)",
    "somebody else's softmax": """
def softmax(x): ...
y = softmax(x).log()
""",
    "a name that was imported and bound again": """
F = make_functions()
y = torch.log(F.softmax(x))
""",
}
