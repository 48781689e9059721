"""For each operator of the benchmark: a snippet, and its first change as (line, text); the marked lines are right."""

from __future__ import annotations

NETS = "actor_opt = Adam(actor.parameters())\ncritic_opt = Adam(critic.parameters())\n"
LOOP = "for _ in x:\n"
COPY = "target = copy.deepcopy(online)\n"
CLIP = "clip_grad_norm_(net.parameters(), 1)\n"
ORDER = f"opt = Adam(net.parameters())\nopt.zero_grad()\nloss.backward()\n{CLIP}opt.step()\n"
TWO = "opt.zero_grad()\nloss.backward()\nopt.step()\n"
Row = tuple[str, list[tuple[int, str]]]

TABLE: dict[str, Row] = {
    # leaks
    "drop-detach": ("y = v(s).detach()\nloss = (q - y).mean()\n", [(1, "y = v(s)")]),
    "drop-no-grad-block": ("with torch.no_grad():\n    y = v(s)\nz = y\n", [(1, "if True:")]),
    "drop-no-grad-decorator": ("@torch.no_grad()\ndef f(s):\n    return v(s)\n", [(1, "")]),
    "drop-item": ("total += loss.item()\n", [(1, "total += loss")]),
    "drop-float": ("total += float(loss)\n", [(1, "total += (loss)")]),
    "drop-data": ("w = p.data.clone()\n", [(1, "w = p.clone()")]),
    "keep-growing-list": ("log_probs.clear()\n", [(1, "pass")]),
    "carry-loop-list": (
        "for _ in x:\n    log_probs = []\n",
        [(2, '    log_probs = locals().get("log_probs", [])')],
    ),
    # cuts
    "add-detach": ("q.parameters()\nx = q(s)\n", [(2, "x = q(s).detach()")]),
    "add-detach-in-loss": ("loss = (x - y).mean()\n", [(1, "loss = (x.detach() - y).mean()")]),
    "add-no-grad": ("q.parameters()\nx = q(s)\n", [(2, "with torch.no_grad(): x = q(s)")]),
    "read-data": ("x = dist.log_prob(a)\n", [(1, "x = dist.log_prob(a).data")]),
    "numpy-round-trip": ("loss = x - y\n", [(1, "loss = torch.as_tensor(x.detach().numpy()) - y")]),
    "list-round-trip": ("loss = x - y\n", [(1, "loss = torch.tensor(x.tolist()) - y")]),
    "stack-to-tensor": ("x = torch.stack(xs)\n", [(1, "x = torch.tensor(xs)")]),
    "item-in-loss": ("loss = a_loss + b\n", [(1, "loss = a_loss.item() + b")]),
    "rsample-to-sample": ("a = dist.rsample()\n", [(1, "a = dist.sample()")]),
    "round-value": ("q.parameters()\nx = q(s)\n", [(2, "x = q(s).round()")]),
    "clamp-error": ("loss = (x - y).pow(2).mean()\n", [(1, "loss = (x - y).clamp(-0.1, 0.1).pow(2).mean()")]),
    "argmax-for-softmax": (
        "a = F.gumbel_softmax(x, hard=True)\n",
        [(1, "a = torch.nn.functional.one_hot(x.argmax(-1), x.shape[-1]).float()")],
    ),
    # in place
    "in-place-method": ("y = x.exp()\n", [(1, "y = x.exp_()")]),
    "in-place-function": ("y = torch.tanh(x)\n", [(1, "y = torch.tanh_(x)")]),
    "in-place-layer": ("layer = nn.ReLU()\n", [(1, "layer = nn.ReLU(inplace=True)")]),
    "in-place-assignment": ("x = x * 2\n", [(1, "x *= 2")]),
    "drop-clone": ("y = x.clone()\n", [(1, "y = x")]),
    "decay-weights-live": (
        ORDER,
        [(3, "[p.data.mul_(0.9) for p in net.parameters()]; loss.backward()")],
    ),
    # order
    "drop-zero-grad": (TWO, [(1, "pass")]),
    "zero-other-optimizer": (NETS + "actor_opt.zero_grad()\n", [(3, "critic_opt.zero_grad()")]),
    "zero-after-backward": (TWO, [(1, "loss.backward()"), (2, "opt.zero_grad()")]),
    "zero-every-micro-batch": (
        "opt = Adam(p)\nfor x in xs:\n    f(x).backward()\nopt.step()\n",
        [(3, "    opt.zero_grad(); f(x).backward()")],
    ),
    "step-before-backward": (TWO, [(2, "opt.step()"), (3, "loss.backward()")]),
    "drop-backward": (TWO, [(2, "loss.backward")]),
    "drop-step": (TWO, [(3, "pass")]),
    "step-twice": (TWO, [(3, "opt.step(); opt.step()")]),
    "step-other-optimizer": (NETS + "actor_opt.step()\n", [(3, "critic_opt.step()")]),
    "backward-twice": (TWO, [(2, "loss.backward(); loss.backward()")]),
    "backward-other-loss": ("a.backward()\nb.backward()\n", [(2, "a.backward()")]),
    "retain-graph": (TWO, [(2, "loss.backward(retain_graph=True)")]),
    "clip-before-backward": (ORDER, [(3, "clip_grad_norm_(net.parameters(), 1)"), (4, "loss.backward()")]),
    "clip-after-step": (ORDER, [(4, "opt.step()"), (5, "clip_grad_norm_(net.parameters(), 1)")]),
    # clipping and scaling
    "clip-other-network": (
        NETS + "clip_grad_norm_(actor.parameters(), 1)\n",
        [(3, "clip_grad_norm_(critic.parameters(), 1)")],
    ),
    "clip-part": (ORDER, [(4, "clip_grad_norm_(next(net.parameters()), 1)")]),
    "clip-used-up-iterator": (
        ORDER,
        [(4, "clip_grad_norm_((used := net.parameters(), list(used), used)[-1], 1)")],
    ),
    "clip-result-dropped": ("p.grad.clamp_(-1, 1)\n", [(1, "p.grad.clamp(-1, 1)")]),
    "clip-by-rebinding": (ORDER, [(4, "clipped = [p.grad.clamp(-0.01, 0.01) for p in net.parameters()]")]),
    "clip-unscaled": ("scaler.unscale_(opt)\n", [(1, "pass")]),
    "step-past-scaler": ("scaler.step(opt)\n", [(1, "opt.step()")]),
    "backward-past-scaler": ("scaler.scale(loss).backward()\n", [(1, "loss.backward()")]),
    "mean-per-micro-batch": (
        "for x in xs:\n    loss = f(x).sum() / total\n",
        [(2, "    loss = f(x).mean()")],
    ),
    "halve-weights": ("layer = nn.Linear(2, 2)\n", [(1, "layer = nn.Linear(2, 2).to(torch.bfloat16)")]),
    # ownership
    "optimize-other-network": (NETS, [(1, "actor_opt = Adam(critic.parameters())")]),
    "optimizer-misses-part": (
        "opt = Adam([*a.parameters(), *b.parameters()])\n",
        [(1, "opt = Adam([*a.parameters()])")],
    ),
    "optimize-target-too": (
        COPY + "opt = Adam(online.parameters())\n",
        [(2, "opt = Adam([*online.parameters(), *target.parameters()])")],
    ),
    "optimize-a-copy": (NETS, [(1, "actor_opt = Adam(__import__('copy').deepcopy(actor).parameters())")]),
    "rebuild-after-optimizer": (
        NETS,
        [(1, "actor_opt = Adam(actor.parameters()); actor = __import__('copy').deepcopy(actor)")],
    ),
    "plain-list": ("self.heads = nn.ModuleList([a, b])\n", [(1, "self.heads = list([a, b])")]),
    "parameter-as-tensor": (
        "self.s = nn.Parameter(torch.zeros(1))\n",
        [(1, "self.s = (torch.zeros(1)).requires_grad_()")],
    ),
    "freeze-network": (NETS, [(1, "actor_opt = Adam(actor.requires_grad_(False).parameters())")]),
    "drop-requires-grad": (
        "a = torch.zeros(1, requires_grad=True)\n",
        [(1, "a = torch.zeros(1, requires_grad=False)")],
    ),
    "drop-freeze": ("net.requires_grad_(False)\n", [(1, "net")]),
    "target-for-online": (COPY + "x = online(s)\nonline.parameters()\n", [(2, "x = target(s)")]),
    "twin-for-twin": ("Adam([*q1.parameters(), *q2.parameters()])\nx = q1(s)\n", [(2, "x = q2(s)")]),
    # shapes
    "drop-squeeze": ("v = critic(s).squeeze(-1)\n", [(1, "v = critic(s)")]),
    "drop-unsqueeze": ("v = r.unsqueeze(1)\n", [(1, "v = r")]),
    "drop-none-index": ("v = r[:, None]\n", [(1, "v = r")]),
    "add-unsqueeze": ("loss = x - y\n", [(1, "loss = x.unsqueeze(-1) - y")]),
    "add-squeeze": ("loss = x - y\n", [(1, "loss = x.squeeze(-1) - y")]),
    "drop-keepdim": ("m = x.mean(1, keepdim=True)\n", [(1, "m = x.mean(1, keepdim=False)")]),
    "add-keepdim": ("m = x.mean(1)\n", [(1, "m = x.mean(1, keepdim=True)")]),
    "drop-action-sum": ("l = dist.log_prob(a).sum(-1)\n", [(1, "l = dist.log_prob(a)")]),
    "sum-over-batch": ("l = dist.log_prob(a).sum(-1)\n", [(1, "l = dist.log_prob(a).sum()")]),
    "wrong-axis": ("p = torch.softmax(x, -1)\n", [(1, "p = torch.softmax(x, 0)")]),
    "loss-not-reduced": ("loss = (x - y).pow(2).mean()\n", [(1, "loss = (x - y).pow(2)")]),
    "index-for-gather": ("x = q.gather(1, a)\n", [(1, "x = q[:, a.flatten()]")]),
    "softmax-as-logits": (
        "d = Categorical(logits=x)\n",
        [(1, "d = Categorical(logits=torch.softmax(x, -1))")],
    ),
    # meaning
    "flip-policy-sign": (
        "env.step(a)\nactor_loss = -(w * log_prob).mean()\n",
        [(2, "actor_loss = (w * log_prob).mean()")],
    ),
    "flip-entropy-sign": ("loss = a - 0.01 * entropy\n", [(1, "loss = a + 0.01 * entropy")]),
    "flip-temperature-sign": ("alpha_loss = x * y\n", [(1, "alpha_loss = -(x * y)")]),
    "minus-into-minimum": (
        "loss = -torch.min(ratio * a, clipped * a).mean()\n",
        [(1, "loss = torch.min(-(ratio * a), -(clipped * a)).mean()")],
    ),
    "drop-end-mask": ("y = r + g * (1 - done) * v\n", [(1, "y = r + g * (1.0) * v")]),
    "drop-loss-mask": ("error = (x - y) * mask\n", [(1, "error = (x - y)")]),
    "returns-forward": (
        "env.step(a)\nfor t in reversed(range(9)):\n    x = t\n",
        [(2, "for t in range(9):")],
    ),
    "returns-left-reversed": ("returns.insert(0, x)\n", [(1, "returns.append(x)")]),
    "reset-running-return": (
        "for r in reversed(rs):\n    total = r + g * total\n",
        [(2, "    total = r")],
    ),
    "group-of-one": ("a = adv - adv.mean()\n", [(1, "a = adv - adv.unsqueeze(-1).mean(-1)")]),
    "mask-with-infinity": ("x = x.masked_fill(m, -1e9)\n", [(1, "x = x.masked_fill(m, float('-inf'))")]),
    # sync
    "alias-target": (COPY, [(1, "target = online")]),
    "reverse-sync": (
        LOOP + "    target.load_state_dict(online.state_dict())\n",
        [(2, "    online.load_state_dict(target.state_dict())")],
    ),
    "sync-with-itself": (
        LOOP + "    target.load_state_dict(online.state_dict())\n",
        [(2, "    target.load_state_dict(target.state_dict())")],
    ),
    "drop-sync": (COPY + LOOP + "    target.load_state_dict(online.state_dict())\n", [(3, "    pass")]),
    "reverse-soft-sync": (
        "for a, b in zip(t.parameters(), q.parameters()):\n    a.lerp_(b, 0.1)\n",
        [(1, "for a, b in zip(q.parameters(), t.parameters()):")],
    ),
    "exchange-soft-weights": (
        "for a, b in zip(slow.parameters(), fast.parameters()):\n    a.lerp_(b, TAU)\n",
        [(2, "    a.lerp_(b, 1 - TAU)")],
    ),
    # excluded
    "drop-zeros-like": ("y = torch.zeros_like(x)\n", [(1, "y = x")]),
    "drop-clip": (ORDER, [(4, "pass")]),
    "mean-to-sum": ("loss = x.mean()\n", [(1, "loss = x.sum()")]),
    "online-for-target": (COPY + "y = target(s)\n", [(2, "y = online(s)")]),
    "drop-entropy-bonus": ("loss = a - 0.1 * entropy\n", [(1, "loss = a")]),
    "drop-epsilon": ("x = torch.log(p + 1e-8)\n", [(1, "x = torch.log(p)")]),
}
