"""Repairs as text: the first one that is proposed for a finding, for each family and its odd cases."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradsan.fix.repair import repairs
from marked import changes, finding, plain, repaired

CASES = [
    ("detached", "GS301", "target = r + q(s)  #@ culprit, target",
     "-target = r + q(s)\n+target = (r + q(s)).detach()"),
    ("a comment stays", "GS301", "target = q(s)  # of the next state #@ culprit",
     "-target = q(s)  # of the next state\n+target = q(s).detach()  # of the next state"),
    ("returned", "GS303", "def f(x):\n    return x - v(x)  #@ culprit",
     "-    return x - v(x)\n+    return (x - v(x)).detach()"),
    ("over several lines", "GS301", "target = (\n    r  #@ culprit\n    + q(s)\n)",
     "-)\n+).detach()"),
    ("the target side of a difference", "GS301", "loss = (v(s) - (r + g * v(t))).pow(2).mean()  #@ culprit, loss",
     "-loss = (v(s) - (r + g * v(t))).pow(2).mean()\n+loss = (v(s) - (r + g * v(t)).detach()).pow(2).mean()"),
    ("straight through", "GS209", "y = z + (code - z)  #@ culprit, cancels",
     "-y = z + (code - z)\n+y = z + (code - z).detach()"),
    ("stored", "GS105", "self.last = a  #@ culprit, stored", "-self.last = a\n+self.last = a.detach()"),
    ("put in a list", "GS305", "losses.append(loss)  #@ culprit, stored",
     "-losses.append(loss)\n+losses.append(loss.detach())"),
    ("carried", "GS305", "avg = 0.9 * avg + v.mean()  #@ culprit",
     "-avg = 0.9 * avg + v.mean()\n+avg = (0.9 * avg + v.mean()).detach()"),
    ("written by hand", "GS103", "w.sub_(lr * g)  #@ culprit",
     "-w.sub_(lr * g)\n+with torch.no_grad():\n+    w.sub_(lr * g)"),
    ("a target network's use", "GS302", "y = target(s)  #@ culprit, use",
     "-y = target(s)\n+with torch.no_grad():\n+    y = target(s)"),
    ("a target in the optimizer", "GS302", "opt = SGD([*q.parameters(), *t.parameters()], lr=1)  #@ culprit, optimizer",
     "-opt = SGD([*q.parameters(), *t.parameters()], lr=1)\n+opt = SGD([*q.parameters()], lr=1)"),
    ("cleared before backward", "GS401", "for _ in x:\n    # learn\n    loss.backward()  #@ backward\n"
     "    self.opt.step()  #@ culprit", "+    self.opt.zero_grad()"),
    ("a scaler's step", "GS401", "scaler.scale(loss).backward()  #@ backward\nscaler.step(opt)  #@ culprit",
     "+opt.zero_grad()"),
    ("clearing moved", "GS405", "loss.backward()  #@ backward\nopt.zero_grad()  #@ culprit\nopt.step()  #@ step",
     "+opt.zero_grad()\n-opt.zero_grad()"),
    ("clearing out of the loop", "GS405",
     "for _ in x:\n    for b in y:\n        opt.zero_grad()  #@ culprit\n        f(b).backward()\n    opt.step()",
     "+    opt.zero_grad()\n-        opt.zero_grad()"),
    ("clip moved", "GS504", "loss.backward()  #@ backward\nopt.step()  #@ step\nclip(p, 1)  #@ culprit",
     "+clip(p, 1)\n-clip(p, 1)"),
    ("clip given what is stepped", "GS505", "clip_grad_norm_(a.parameters(), 1.0)  #@ culprit\nopt.step()  #@ step",
     '-clip_grad_norm_(a.parameters(), 1.0)\n'
     '+clip_grad_norm_([p for group in opt.param_groups for p in group["params"]], 1.0)'),
    ("clip in place", "GS506", "p.grad.clamp(-1, 1)  #@ culprit", "-p.grad.clamp(-1, 1)\n+p.grad.clamp_(-1, 1)"),
    ("clip bound to a name", "GS506", "x = torch.clamp(p.grad, -1, 1)  #@ culprit",
     "-x = torch.clamp(p.grad, -1, 1)\n+x = p.grad.copy_(torch.clamp(p.grad, -1, 1))"),
    ("unscaled", "GS507", "clip(p, 1)  #@ culprit\nscaler.step(opt)  #@ unscale", "+scaler.unscale_(opt)"),
    ("step last", "GS404", "opt.step()  #@ culprit\nloss.backward()", "-opt.step()\n+opt.step()"),
    ("graph kept", "GS402", "a.backward()  #@ first backward\nb.backward()  #@ culprit, backward",
     "-a.backward()\n+a.backward(retain_graph=True)"),
    ("graph let go", "GS406", "a.backward(gradient=g, retain_graph=True)  #@ culprit",
     "-a.backward(gradient=g, retain_graph=True)\n+a.backward(gradient=g)"),
    ("once, before the loop", "GS804", "for _ in range(4):\n    old = p(s)  #@ culprit\n    loss = p(s) - old",
     "+old = p(s)\n-    old = p(s)"),
    ("rsample", "GS203", "a = dist.sample()  #@ culprit", "-a = dist.sample()\n+a = dist.rsample()"),
    ("a straight-through estimate where there is no rsample", "GS203",
     "d = torch.distributions.OneHotCategorical(logits=x)\na = d.sample()  #@ culprit",
     "-a = d.sample()\n+a = d.sample() + d.probs - d.probs.detach()"),
    ("stack", "GS202", "x = torch.tensor(log_probs, dtype=torch.float32)  #@ culprit",
     "-x = torch.tensor(log_probs, dtype=torch.float32)\n+x = torch.stack(log_probs)"),
    ("stack of floats", "GS202", "x = torch.FloatTensor([float(p) for p in m.ps])  #@ culprit",
     "-x = torch.FloatTensor([float(p) for p in m.ps])\n+x = torch.stack(m.ps)"),
    ("detach taken out", "GS202", "z = enc(x).detach()  #@ culprit", "-z = enc(x).detach()\n+z = enc(x)"),
    ("item and its way back", "GS202", "v.append(c(o).item())  #@ culprit\nw = torch.tensor(v)  #@ re-entry",
     "-v.append(c(o).item())\n-w = torch.tensor(v)\n+v.append(c(o).squeeze())\n+w = torch.stack(v)"),
    ("decorator", "GS201", "@torch.no_grad()  #@ culprit\ndef f(x):\n    return x", "-@torch.no_grad()"),
    ("block", "GS201", "with torch.no_grad():  #@ culprit\n    y = f(x)",
     "-with torch.no_grad():\n+with torch.enable_grad():"),
    ("stack under the same name", "GS202", "x = torch.tensor(x)  #@ culprit",
     "-x = torch.tensor(x)\n+x = torch.stack(x)"),
    ("forward later", "GS102", "a = f(x)  #@ forward\nb.backward()\nopt.step()  #@ culprit\na.backward()",
     "-a = f(x)\n+a = f(x)"),
    ("graph of a gradient", "GS202", "(g,) = torch.autograd.grad(f(x), x)  #@ culprit",
     "-(g,) = torch.autograd.grad(f(x), x)\n+(g,) = torch.autograd.grad(f(x), x, create_graph=True)"),
    ("augmented", "GS101", "h *= 1 - done  #@ culprit", "-h *= 1 - done\n+h = h * (1 - done)"),
    ("item assignment", "GS101", "q[mask] = 0.0  #@ culprit", "+q = q.clone()"),
    ("in-place method", "GS101", "self.x.clamp_(0, 1)  #@ culprit",
     "-self.x.clamp_(0, 1)\n+self.x = self.x.clamp(0, 1)"),
    ("noise", "GS101", "self.eps.normal_()  #@ culprit",
     "-self.eps.normal_()\n+self.eps = self.eps.clone().normal_()"),
    ("array", "GS104", "o = torch.from_numpy(buf)  #@ culprit",
     "-o = torch.from_numpy(buf)\n+o = torch.from_numpy(buf.copy())"),
    ("alias", "GS306", "import torch\ntarget = q  #@ culprit",
     "+import copy\n-target = q\n+target = copy.deepcopy(q)"),
    ("shallow", "GS306", "import copy\ntarget = copy.copy(q)  #@ culprit",
     "-target = copy.copy(q)\n+target = copy.deepcopy(q)"),
    ("data", "GS306", "t.data = p.data  #@ culprit", "-t.data = p.data\n+t.data.copy_(p.data)"),
    ("sync turned round", "GS809", "q.load_state_dict(t.state_dict())  #@ culprit",
     "-q.load_state_dict(t.state_dict())\n+t.load_state_dict(q.state_dict())"),
    ("helper turned round", "GS809", "def f(a, b):\n    b.copy_(a)  #@ sync\nf(x, y)  #@ culprit, caller",
     "-f(x, y)\n+f(y, x)"),
    ("weights exchanged", "GS809", "t.copy_(tau * t + (1 - tau) * p)  #@ culprit",
     "-t.copy_(tau * t + (1 - tau) * p)\n+t.copy_(tau * p + (1 - tau) * t)"),
    ("module list", "GS205", "self.h = [L(2) for _ in x]  #@ culprit, plain container",
     "-self.h = [L(2) for _ in x]\n+self.h = torch.nn.ModuleList([L(2) for _ in x])"),
    ("loaded", "GS206", "self.net = copy.deepcopy(best)  #@ culprit",
     "-self.net = copy.deepcopy(best)\n+self.net.load_state_dict(best.state_dict())"),
    ("huber", "GS208", "loss = td.clamp(-1, 1).pow(2).mean()  #@ culprit",
     "-loss = td.clamp(-1, 1).pow(2).mean()\n"
     "+loss = torch.nn.functional.smooth_l1_loss(td, torch.zeros_like(td))"),
    ("checkpoint", "GS210", "h = checkpoint(f, x, use_reentrant=True)  #@ culprit",
     "-h = checkpoint(f, x, use_reentrant=True)\n+h = checkpoint(f, x, use_reentrant=False)"),
    ("reduced", "GS403", "loss = td.pow(2) * w  #@ culprit", "-loss = td.pow(2) * w\n+loss = (td.pow(2) * w).mean()"),
    ("squeezed", "GS601", "loss = (q - y).pow(2).mean()  #@ culprit",
     "-loss = (q - y).pow(2).mean()\n+loss = (q.squeeze(-1) - y).pow(2).mean()"),
    ("log_softmax", "GS602", "x = torch.log(torch.softmax(y, dim=-1))  #@ culprit",
     "-x = torch.log(torch.softmax(y, dim=-1))\n+x = torch.log_softmax(y, dim=-1)"),
    ("log of a method", "GS602", "x = y.softmax(-1).log()  #@ culprit",
     "-x = y.softmax(-1).log()\n+x = y.log_softmax(-1)"),
    ("probabilities", "GS602", "d = Categorical(logits=net(x))  #@ culprit",
     "-d = Categorical(logits=net(x))\n+d = Categorical(probs=net(x))"),
    ("summed", "GS603", "lp = d.log_prob(a)  #@ culprit", "-lp = d.log_prob(a)\n+lp = d.log_prob(a).sum(-1)"),
    ("summed over the batch", "GS603", "lp = d.log_prob(a).sum(0)  #@ culprit",
     "-lp = d.log_prob(a).sum(0)\n+lp = d.log_prob(a).sum(-1)"),
    ("objective", "GS801", "loss = critic(x).mean()  #@ culprit",
     "-loss = critic(x).mean()\n+loss = -critic(x).mean()"),
    ("pessimistic", "GS801", "loss = torch.min(-r * a, -c * a).mean()  #@ culprit",
     "-loss = torch.min(-r * a, -c * a).mean()\n+loss = torch.max(-r * a, -c * a).mean()"),
    ("entropy", "GS802", "loss = p + 0.01 * h  #@ culprit", "-loss = p + 0.01 * h\n+loss = p - 0.01 * h"),
    ("edge", "GS503", "d = torch.sqrt(x)  #@ culprit", "-d = torch.sqrt(x)\n+d = torch.sqrt(x.clamp_min(1e-8))"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_first_repair(rule: str, text: str, expected: str) -> None:
    found = repaired(rule, text, subjects=("t.weight",))
    assert found
    assert changes(found[0]) == expected


def test_a_value_that_is_also_fitted_is_detached_where_it_is_a_weight() -> None:
    text = "d = r - v(s)  #@ culprit\nloss = -(logp * d).mean() + d.pow(2).mean()  #@ loss"
    assert any(
        "-(logp * d.detach()).mean() + d.pow(2)" in changes(repair) for repair in repaired("GS303", text)
    )


def test_parameters_are_added_where_the_optimizer_is_made() -> None:
    found = repaired(
        "GS205", "opt = SGD(net.parameters(), lr=0.1)  #@ culprit", ("mixer.weight", "mixer.bias", "t")
    )
    assert changes(found[0]).endswith("+opt = SGD([*net.parameters(), *mixer.parameters(), t], lr=0.1)")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("GS301", "a, b = q(s), r  #@ culprit"),  # two values, and one of them is right
        ("GS405", "opt.zero_grad()  #@ culprit"),  # nobody says where to
        ("GS999", "x = 1  #@ culprit"),
        ("GS301", "loss = F.mse_loss(q(s), v(t))  #@ culprit, loss"),  # which of the two?
        ("GS208", "loss = td.clamp(-1, 2).pow(2).mean()  #@ culprit"),
        ("GS402", "for _ in x:\n    loss.backward()  #@ culprit, first backward, backward"),
    ],
)
def test_where_a_line_does_not_say_what_to_write_nothing_is_proposed(rule: str, text: str) -> None:
    assert repaired(rule, text) == []


@pytest.mark.parametrize(
    ("said", "fix", "first"),
    [
        ("`sub` of [8, 1] and [8]", "`q.squeeze(-1)` or `target.unsqueeze(-1)`", "(a.squeeze(-1) - b)"),
        ("`sub` of [8] and [8, 1]", "`q.squeeze(-1)` or `target.unsqueeze(-1)`", "(a - b.squeeze(-1))"),
        ("in `sub`, [8] is laid along the columns", "`weight.unsqueeze(-1)`", "(a - b.unsqueeze(-1))"),
    ],
)
def test_what_the_finding_says_about_shapes_is_tried_first(said: str, fix: str, first: str) -> None:
    text = "loss = (a - b).pow(2).mean()  #@ culprit"
    found = replace(finding("GS601", text), message=f"{said} makes pairs", fix=fix)
    assert repairs(found, plain(text).encode())[0].after.decode() == f"loss = {first}.pow(2).mean()\n"
