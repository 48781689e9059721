"""The benchmark's operators: what each changes, that no line moves, and that the changed line is among the right."""

from __future__ import annotations

from pathlib import Path

from gradsan_benchmark.cases import half
from gradsan_benchmark.edits import Source
from gradsan_benchmark.operators import OPERATORS
from operator_table import TABLE

RULES = Path(__file__).parents[2] / "src" / "gradsan" / "rules"


def test_every_operator_has_its_row():
    assert set(TABLE) == set(OPERATORS)
    assert sum(not operator.excluded for operator in OPERATORS.values()) >= 40


def test_each_operator_changes_the_lines_of_its_row_and_moves_none():
    """In one test: what is looked at before and after each is a hundred times as slow as a row."""
    wrong = {name: made for name in TABLE if (made := changed(name)) != TABLE[name][1]}
    assert not wrong


def changed(name: str) -> list[tuple[int, str]]:
    before = TABLE[name][0]
    made = OPERATORS[name].changes(Source(before))
    if not made:
        return []
    change, after = made[0]
    old, new = before.splitlines(), after.splitlines()
    assert len(old) == len(new), name
    found = [(n, b) for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
    assert {n for n, _ in found} <= set(change.lines), name
    return found


def test_each_operator_says_what_it_is_and_which_codes_would_be_right():
    known = {path.name[2:5] for path in RULES.glob("gs*.py")} | {"704"}
    for operator in OPERATORS.values():
        assert operator.what.endswith("."), operator.name
        assert bool(operator.codes) != bool(operator.excluded), operator.name
        assert {code[2:] for code in operator.codes} <= known, operator.name


def test_sync_at_the_start_is_left_alone():
    sync = "self.target.load_state_dict(self.online.state_dict())\n"
    for text in (sync, f"def build(self):\n    self.target = net()\n    {sync}"):
        assert not OPERATORS["reverse-sync"].changes(Source(text))
    assert OPERATORS["reverse-sync"].changes(Source(f"def train(self):\n    {sync}"))


def test_the_step_of_a_loss_scaler_consumes_what_was_not_cleared():
    text = "opt = Adam(p)\nopt.zero_grad()\nscaler.scale(loss).backward()\nscaler.step(opt)\n"
    change, _ = OPERATORS["drop-zero-grad"].changes(Source(text))[0]
    assert set(change.lines) == {2, 4}


def test_the_minus_may_stand_where_the_score_was_weighed():
    text = "w = r + gamma * critic(s)\nscore = log_prob * w\npolicy_loss = -score.mean()\n"
    change, _ = OPERATORS["flip-policy-sign"].changes(Source(text))[0]
    assert set(change.lines) == {2, 3}


CONSTANT = "class Constant:\n    def forward(self):\n        return self.log.detach().exp()\n"


def test_what_is_no_bug_in_its_context_is_left_alone():
    """Each with the reason that its operator gives."""
    optimizer = "opt = torch.optim.Adam(net.parameters())\n"
    for name, text in (
        ("flip-policy-sign", "loss = -(log_prob * cost).mean()\n"),  # reward or cost: nothing tells
        (
            "flip-policy-sign",
            "class World:\n    pass\nenv = World()\nloss = -(log_prob * env.cost()).mean()\n",
        ),  # nor does a class of the script's own
        ("drop-action-sum", "loss = -(w * dist.log_prob(a).sum(1, keepdim=True)).mean()\n"),  # a coefficient
        ("drop-loss-mask", "even = (ids % 2 == 0).float()\nreward = (even * mask).sum(1) / mask.sum(1)\n"),
        ("drop-loss-mask", "reward = ((ids % 2 == 0) & (ids != 0)).float() * mask\n"),
        (
            "drop-end-mask",
            "cell = nn.GRUCell(3, 4)\nh = h * (1 - done.unsqueeze(-1))\n",
        ),  # it may outlive an episode
        ("flip-policy-sign", "actor_loss = -critic(obs, actor(obs)).mean()\n"),
        ("returns-forward", "for t in reversed(range(9)):\n    x = t\n"),  # nor which way time runs
        ("add-detach-in-loss", "loss = torch.min(2, ratio.clamp(0.8, 1.2))\n"),  # constant where it counts
        ("backward-twice", "net(x).mean().backward()\n"),  # two graphs: twice the gradient
        ("flip-policy-sign", "state, cost = world.step(a)\nloss = -(log_prob * cost).mean()\n"),
        ("exchange-soft-weights", "mean.lerp_(bonus.mean(), 0.1)\n"),  # a running mean's rate is a setting
        ("round-value", "net.parameters()\nx = net(s).detach()\n"),  # nothing flows there in any case
        ("round-value", "net.parameters()\nf = lambda s: net(s)\n"),
        (
            "round-value",
            "net.parameters()\ndef act(s):\n    return net(s)\n",
        ),  # of which nobody knows, either
        ("round-value", "old = deepcopy(net)\nx = old(s).sum()\n"),
        ("round-value", "net.parameters()\nx = net(s).max(1).values.detach()\n"),
        ("round-value", CONSTANT + "net = Constant()\nx = net(s) + 1\nnet.parameters()\n"),
        ("target-for-online", "old = deepcopy(net)\nnet.parameters()\nx = net(s).max(1).values.detach()\n"),
        (
            "in-place-method",
            "var.lerp_(y, 0.1)\nz = var.sqrt()\n",
        ),  # no graph, and changed in place by itself
        ("clamp-error", "var = (x - mean).pow(2).mean()\n"),
        ("wrong-axis", "x = torch.rand(3, 8).softmax(-1)\n"),  # made up: any axis is as good
        ("flip-entropy-sign", "excess = -log_prob - target_entropy\n"),  # the target is a setting
        ("drop-loss-mask", "with torch.no_grad():\n    mean = (x * mask).sum()\n"),
        ("keep-growing-list", "rewards.clear()\n"),  # numbers may be kept
        ("list-round-trip", "b = clamp(ratio, 0.8, 1.2) * a\nloss = torch.min(2, b)\n"),  # as above, by name
        ("reverse-sync", "def go(self):\n    child.opt.load_state_dict(opt.state_dict())\n" + optimizer),
        ("reverse-sync", "safe = deepcopy(net)\nfor _ in x:\n    net.load_state_dict(safe.state_dict())\n"),
        (
            "clip-other-network",
            "opt = Adam([{'params': a.parameters()}])\nclip_grad_norm_(b.parameters(), 1)\n",
        ),
        ("drop-clone", "def clone(self):\n    return 1\npair = [elite, elite.clone()]\n"),  # another agent
        ("optimizer-misses-part", "zip(xs, [*a.parameters(), *b.parameters()])\n"),  # what is synced
        (
            "decay-weights-live",
            optimizer + "with autocast():\n    loss = net(x)\nloss.backward()\nopt.step()\n",
        ),  # the copies stay as they are
        ("decay-weights-live", optimizer + "net(x).mean().backward()\nopt.step()\n"),  # before the forward
    ):
        assert not OPERATORS[name].changes(Source(text)), name


def test_the_use_of_an_argument_is_as_right_as_the_call():
    text = "def f(a, reward):\n    x = a\n    y = reward + x\nf(s, r.sum(1))\n"
    ((change, _),) = OPERATORS["add-keepdim"].changes(Source(text))
    assert set(change.lines) == {4, 3}


def test_columns_count_bytes_where_a_line_holds_more_than_ascii():
    ((_, text),) = OPERATORS["drop-detach"].changes(Source('print("Größe"); y = v(s).detach()\n'))
    assert text == 'print("Größe"); y = v(s)\n'


def test_change_that_would_move_a_line_is_not_made():
    assert not OPERATORS["drop-detach"].changes(Source("y = (v(s)\n  .detach())\n"))


def test_weights_that_are_exchanged_get_brackets_of_their_own():
    ((_, text),) = OPERATORS["exchange-soft-weights"].changes(Source("t.copy_((1 - tau) * t + tau * p)\n"))
    assert text == "t.copy_((tau) * t + (1 - tau) * p)\n"


def test_decorator_that_goes_leaves_its_line_empty_and_the_function_whole():
    ((_, text),) = OPERATORS["drop-no-grad-decorator"].changes(
        Source("@torch.no_grad()\ndef f():\n    pass\n")
    )
    assert text == "\ndef f():\n    pass\n"


def test_halves_are_fixed_for_good():
    """A change here would let the unseen half be tuned on: these must stay as they are."""
    names = [f"clean/program_{n}" for n in range(8)]
    assert "".join(half(name, "drop-detach")[0] for name in names) == "duududdd"


def right_lines(name: str, text: str) -> set[int]:
    ((change, _),) = OPERATORS[name].changes(Source(text))
    return set(change.lines)


def test_what_a_function_returns_may_be_named_where_it_is_called():
    by_name = "def f(x):\n    y = x.squeeze(-1)\n    return y\nv = f(1)\nloss = v - 2\nother = 3\n"
    assert right_lines("drop-squeeze", by_name) == {2, 3, 4, 5}
    network = (
        "class N:\n    def forward(self, x):\n        return x.squeeze(-1)\nn = N()\nv = n(1)\nloss = v - 2\n"
    )
    assert right_lines("drop-squeeze", network) == {3, 5, 6}
    mapped = "def f(x):\n    return x.squeeze(-1)\ng = vmap(f)\nv = g(1)\nloss = v - 2\n"
    assert right_lines("drop-squeeze", mapped) == {2, 4, 5}
    kept = "def f(x):\n    y = x.squeeze(-1)\n    self.kept = 1\nv = f(1)\nloss = v - 2\n"
    assert right_lines("drop-squeeze", kept) == {2}


def test_an_optimizer_may_be_made_by_a_partial_and_a_schedule_is_none():
    made = "adam = partial(torch.optim.Adam, fused=True)\nopt = adam(net.parameters())\n"
    assert OPERATORS["optimize-a-copy"].changes(Source(made))
    assert not OPERATORS["drop-step"].changes(Source("schedule_of_late.step()\n"))


def test_legal_choices_are_left_alone():
    """Each beside the place next to it that is none."""
    value = "v.parameters()\nd = r + 0.9 * v(s2) - v(s)\n"
    changed = [text for _, text in OPERATORS["add-detach"].changes(Source(value))]
    assert changed == [value.replace("v(s)", "v(s).detach()")]
    assert not OPERATORS["drop-action-sum"].changes(Source("b = dist.entropy().sum(-1).mean()\n"))
    assert OPERATORS["drop-action-sum"].changes(Source("b = dist.log_prob(a).sum(-1).mean()\n"))
    picked = "net.requires_grad_(False)\ntrained = [p for p in net.parameters() if p.requires_grad]\n"
    assert not OPERATORS["drop-freeze"].changes(Source(picked))
    best = "for _ in x:\n    policy.load_state_dict(best.state_dict())\n"
    assert OPERATORS["reverse-sync"].changes(Source(best))
    assert not OPERATORS["reverse-sync"].changes(
        Source(best + "    best.load_state_dict(policy.state_dict())\n")
    )
    lone = "opt = Adam(log_alpha.parameters())\nloss.backward()\nopt.step()\n"
    assert not OPERATORS["decay-weights-live"].changes(Source(lone))
    assert OPERATORS["decay-weights-live"].changes(Source(lone.replace("log_alpha", "net")))
    frozen = "q.parameters()\nold.parameters()\n"
    frozen += "old = deepcopy(q).requires_grad_(False)\ny = r + g * old(s2)\nx = q(s)\n"
    changed = [text for _, text in OPERATORS["round-value"].changes(Source(frozen))]
    assert changed == [frozen.replace("q(s)", "q(s).round()")]
    rows = "x = nodes.gather(1, a.unsqueeze(-1).expand(-1, -1, 2))\n"
    assert not OPERATORS["index-for-gather"].changes(Source(rows))
    nets = "q1.parameters()\nq2.parameters()\nactor.parameters()\n"
    alone, both = "a = -q1(s, actor(s)).mean()\n", "a = -min(q1(s, actor(s)), q2(s, actor(s)))\n"
    assert not OPERATORS["twin-for-twin"].changes(Source(nets + alone))
    assert len(OPERATORS["twin-for-twin"].changes(Source(nets + both))) == 2
    old = "q1.parameters()\nactor.parameters()\nold = deepcopy(q1)\n"
    assert not OPERATORS["target-for-online"].changes(Source(old + alone))
    assert OPERATORS["target-for-online"].changes(Source(old + "loss = (q1(s, a) - y).pow(2).mean()\n"))
    assert OPERATORS["twin-for-twin"].changes(Source(nets + "loss = (q1(s, a) - y).pow(2).mean()\n"))


def test_what_a_list_keeps_may_be_named_where_a_loop_takes_it_from_there():
    text = (
        "rs.append(r.sum(-1, keepdim=True))\nfor r, v in zip(rs, vs):\n    total = r + total\n    last = v\n"
    )
    (change, _) = OPERATORS["drop-keepdim"].changes(Source(text))[0]
    assert {1, 2, 3} <= set(change.lines)
    assert 4 not in change.lines


def test_an_argument_within_an_argument_is_read_by_both_functions():
    text = "def wrap(x):\n    return x + 0\ndef loss(v):\n    return v\nloss(wrap(x[:, None]))\n"
    (change, _) = OPERATORS["drop-none-index"].changes(Source(text))[0]
    assert {2, 4, 5} <= set(change.lines)


def test_what_only_one_call_reads_may_be_detached_where_it_is_made():
    text = "advantage = target - value\nx = log_p * advantage.detach()\n"
    (change, _) = OPERATORS["drop-detach"].changes(Source(text))[0]
    assert set(change.lines) == {1, 2}
    (change, _) = OPERATORS["drop-detach"].changes(Source(text + "y = advantage.pow(2)\n"))[0]
    assert set(change.lines) == {2}


def test_what_was_made_in_inference_mode_may_be_made_without_gradients():
    text = "@torch.inference_mode()\ndef act(s):\n    return net(s)\nx = act(s).clone()\n"
    (change, _) = OPERATORS["drop-clone"].changes(Source(text))[0]
    assert {1, 4} <= set(change.lines)


def test_an_axis_may_be_dropped_one_step_later():
    text = "r = x.sum(1)\na = r - r.mean()\nloss = (p * a).mean()\nb = loss + 1\n"
    (change, _) = OPERATORS["add-keepdim"].changes(Source(text))[0]
    assert set(change.lines) == {1, 2, 3}


def test_what_is_asked_while_it_ought_to_be_frozen_is_as_right():
    text = "critic.requires_grad_(False)\nloss = -critic(actor(s)).mean()\ncritic.requires_grad_(True)\ncritic(s)\n"
    (change, _) = OPERATORS["drop-freeze"].changes(Source(text))[0]
    assert set(change.lines) == {1, 2}


def test_what_a_frozen_network_says_may_be_rounded():
    text = "q.parameters()\nfor p in embed.parameters():\n    p.requires_grad_(False)\nx = q(embed(s))\n"
    changed = [text for _, text in OPERATORS["round-value"].changes(Source(text))]
    assert changed == [text.replace("q(embed(s))", "q(embed(s)).round()")]


def test_a_sum_that_is_averaged_next_only_scales_the_loss():
    text = "def log_prob(s, a):\n    return dist(s).log_prob(a).sum(-1)\nloss = -pi.log_prob(s, a).mean()\n"
    assert not OPERATORS["sum-over-batch"].changes(Source(text))
    assert OPERATORS["sum-over-batch"].changes(Source(text + "ratio = (pi.log_prob(s, a) - old).exp()\n"))
