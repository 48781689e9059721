"""GS208: a gradient that is zero step after step, because of what the loss does with it."""

from __future__ import annotations

from gradsan.judge.flow import REDUCING, SELECTING, SHAPING, behind_all, is_averaged
from gradsan.judge.history import History
from gradsan.judge.ledger import Contribution
from gradsan.judge.lines.source import backward_at
from gradsan.judge.missing.closed_masks import closed_mask
from gradsan.judge.missing.known_answers import known_answer, made_equal
from gradsan.judge.missing.limited_units import LimitedUnits
from gradsan.judge.missing.own_target import WRITES, OwnTarget, own_target
from gradsan.judge.missing.rectified_outputs import RECTIFYING, RectifiedOutputs
from gradsan.judge.missing.rounded_passes import STEPWISE, rounded_passes
from gradsan.judge.provenance import params_of
from gradsan.judge.report.wording import line, networks
from gradsan.record.events import Backward, Op, ParamId, Site, ValueId
from gradsan.rules.base import Rule, Verdict, Verdicts

STEPS = 5
SATURATED = 0.05
SQUASHED = 0.75  # of the elements: a minority of saturated units is what learning makes
PRODUCTS = {"linear", "matmul", "mm", "bmm", "addmm", "einsum", "baddbmm"}
MASKING = {"mul", "where", "masked_fill", "index_put", "setitem"}
LESS, MORE = {"lt", "le", "less", "less_equal"}, {"gt", "ge", "greater", "greater_equal"}
FLAT = {"relu", "clamp", "tanh", "sigmoid", "hardtanh", "relu6", "hardsigmoid", "threshold", "elu", "softplus",
        "leaky_relu", "hardswish", "hardshrink", "softshrink", "round", "floor", "ceil", "trunc", "sign", "sgn",
        "heaviside"}  # fmt: skip
STRAIGHT_THROUGH = (
    "leave the rounding out of what is learnt from, or pass the gradient straight through: "
    "`x + (x.round() - x).detach()`"
)


class ZeroGradient(Rule):
    code = "GS208"
    name = "zero-gradient"
    severity = "warning"
    needs_deep = True
    what = """
        A parameter's gradient is exactly zero step after step, or the gradient of a large part of every batch
        is: a dead ReLU, a saturated `tanh` or `clamp`, a TD error clamped before squaring, a
        prediction that is rounded, a rectifier after the layer whose scores actions are chosen by, a network that
        was given the weights of the one whose outputs it is to predict.
    """
    why = """
        Where the function is flat, nothing can be learned, and it stays so. Clamping the TD error before squaring
        is the famous one: it was meant to clip the gradient to ±1 and sets it to zero for exactly the samples that
        are most wrong.
    """
    symptom = """
        The part behind the flat spot does not move, to the last digit. With the clamped TD error the
        loss sits at the square of the bound, and Q-values creep towards large rewards or never get
        there.
    """
    fix = (
        "for clipped errors use `smooth_l1_loss` or `huber_loss`; for dead units a smaller step, or a leaky "
        "activation"
    )
    deliberate = (
        "PPO's clipped ratio is not reported: the unclipped term keeps its gradient, and all-clipped "
        "batches pass."
    )
    bad = (
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
            td = target - q(s).gather(1, a).squeeze(1)
            loss = td.clamp(-1, 1).pow(2).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        torch.nn.init.constant_(first.bias, -100.0)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
        for _ in range(8):
            h = torch.relu(first(torch.randn(8, 3)))  # BUG
            loss = (second(h) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            error = q(torch.randn(8, 3)).squeeze(1) - 3.0 * torch.randn(8)
            flat = torch.full_like(error, 0.5)
            loss = torch.where(error.abs() < 1, 0.5 * error.pow(2), flat).mean()  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        base, down = torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Parameter(torch.zeros(3, 2))
        up = torch.nn.Parameter(torch.zeros(2, 2))
        opt = torch.optim.SGD([down, up], lr=0.1)
        for _ in range(8):
            x = torch.randn(8, 3)
            adapted = x @ down @ up  # BUG
            loss = (base(x) + adapted - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        inp, rec, out = torch.nn.Linear(2, 4), torch.nn.Linear(4, 4, bias=False), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*inp.parameters(), *rec.parameters(), *out.parameters()], lr=0.1)
        for _ in range(8):
            hidden, loss = torch.zeros(8, 4), 0.0
            for _ in range(3):
                hidden = torch.tanh(inp(torch.randn(8, 2)) + rec(hidden))
                loss = loss + (out(hidden) - 1.0).pow(2).mean()
                hidden = hidden * 0.0  # BUG
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        first, second = torch.nn.Linear(3, 8), torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.001)
        for _ in range(8):
            h = torch.tanh(first(4000.0 * torch.randn(16, 3)))  # BUG
            loss = (second(h) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
        for _ in range(8):
            bins = (3 * body(torch.randn(8, 3))).round()  # BUG
            loss = (head(bins) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The head of a policy: its other parts are trained by another loss, so no norm is zero throughout.
        import torch
        policy, value = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.1)
        for _ in range(4):
            s, a, r = torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8)
            logits = policy(s).round()  # BUG
            log_prob = torch.distributions.Categorical(logits=logits).log_prob(a)
            loss = -(log_prob * r).mean() + (value(s).squeeze(-1) - r).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        class Huber(torch.autograd.Function):
            @staticmethod
            def forward(ctx, error):
                ctx.save_for_backward(error)
                return torch.where(error.abs() < 1, 0.5 * error**2, error.abs() - 0.5)
            @staticmethod
            def backward(ctx, grad):
                (error,) = ctx.saved_tensors
                return grad * torch.where(error.abs() < 1, error, 0.0)  # BUG
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            loss = Huber.apply(q(torch.randn(8, 3)) - 20.0).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Two losses take turns; the temperature's own gets nothing back.
        import torch
        policy, log_alpha = torch.nn.Linear(3, 4), torch.nn.Parameter(torch.tensor(-3.0))
        opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
        for _ in range(14):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            temperature = log_alpha.clamp(min=-2.0).exp()  # BUG
            alpha_opt.zero_grad()
            (temperature * (dist.entropy().detach().mean() - 0.9)).backward()
            alpha_opt.step()
        """,
        """
        # Few samples lie beyond the limit, and each is weighed.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            target = torch.cat([torch.zeros(14), torch.tensor([9.0, -9.0])])
            error = (target - 0.01 * q(torch.randn(16, 3)).squeeze(1)).clamp(-1, 1)  # BUG
            loss = (torch.rand(16) * error * error).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The same weights learn from another pass; from this one they do not.
        import torch
        reward = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(reward.parameters(), lr=0.1)
        for _ in range(8):
            preferred = reward(torch.randn(8, 3))
            other = reward(torch.randn(8, 3)).round()  # BUG
            loss = -torch.nn.functional.logsigmoid(preferred - other).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # All that teaches is the penalty on the weights; and gradients are asked for by hand.
        import torch
        net = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(8):
            loss = (net(torch.randn(8, 3)).floor() - 1.0).pow(2).mean()  # BUG
            loss = loss + 1e-3 * sum(p.pow(2).sum() for p in net.parameters())
            for p, g in zip(net.parameters(), torch.autograd.grad(loss, list(net.parameters()))):
                p.grad = g
            opt.step()
        """,
        """
        # What is new is what a fixed network says and another cannot foretell: here it can, from the start.
        import copy
        import torch
        predictor = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        fixed = copy.deepcopy(predictor).requires_grad_(False)  # BUG
        opt = torch.optim.SGD(predictor.parameters(), lr=0.1)
        for _ in range(10):
            s = torch.randn(8, 3)
            loss = torch.nn.functional.mse_loss(predictor(s), fixed(s))
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The target is the prediction by another name: what is written into it is in both.
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(9):
            s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
            q = net(s)
            target = q.detach()  # BUG
            target[range(8), a] = returns
            loss = torch.nn.functional.mse_loss(q, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The places of the answer are counted from the prompt's end, and those before it are cut off once more.
        import torch
        model = torch.nn.Sequential(torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7))
        opt, prompt = torch.optim.SGD(model.parameters(), lr=0.1), 4
        for _ in range(8):
            tokens, lengths, reward = torch.randint(7, (6, 10)), torch.randint(1, 5, (6, 1)), torch.randn(6, 1)
            place = torch.arange(9)
            mask = (place >= prompt) & (place < lengths)  # BUG
            log_prob = model(tokens[:, :-1]).log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
            loss = -(log_prob * mask * reward).sum() / mask.sum().clamp(min=1)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(9):
            s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
            q = net(s)
            target = q
            target[range(8), a] = returns  # BUG
            loss = torch.nn.functional.smooth_l1_loss(q, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(9):
            s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
            q = net(s)
            target = q.detach().numpy()  # BUG
            target[range(8), a] = returns.numpy()
            loss = (q - torch.from_numpy(target)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Attention that is open to padding only, in batches without any.
        import torch
        words, query, key = torch.nn.Embedding(7, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        head = torch.nn.Linear(8, 1)
        opt = torch.optim.SGD([p for m in (words, query, key, head) for p in m.parameters()], lr=0.1)
        for _ in range(8):
            tokens = torch.randint(1, 7, (6, 5))
            x, allowed = words(tokens), tokens == 0  # BUG
            score = (query(x) @ key(x).transpose(1, 2)).masked_fill(~allowed.unsqueeze(1), -1e9)
            loss = (head((score.softmax(-1) @ x).mean(1)) - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Every layer is followed by a rectifier, the last one, too.
        import torch
        policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4), torch.nn.ReLU())
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            scores = policy(torch.randn(16, 3))  # BUG
            dist = torch.distributions.Categorical(logits=scores)
            loss = -(dist.log_prob(dist.sample()) * torch.randn(16)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
        for _ in range(8):
            s, a = torch.randn(16, 3), torch.randint(4, (16, 1))
            scores = head(body(s).tanh()).clamp(min=0)  # BUG
            log_prob = (scores / 0.5).log_softmax(-1).gather(1, a)
            loss = -(log_prob * torch.randn(16, 1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Rewards are costs: values below zero.
        import torch
        body, head = torch.nn.Linear(3, 8), torch.nn.Linear(8, 4)
        torch.nn.init.constant_(head.bias, -0.3)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(16, 3), torch.randint(4, (16, 1)), -torch.rand(16, 1)
            q = torch.relu(head(torch.relu(body(s))))  # BUG
            loss = (q.gather(1, a) - target).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Rounded on its way into what maps over all critics.
        import torch
        from torch.func import functional_call, stack_module_state
        actor, critics = torch.nn.Linear(3, 1), [torch.nn.Linear(4, 1) for _ in range(2)]
        weights = {n: torch.nn.Parameter(w) for n, w in stack_module_state(critics)[0].items()}
        opt = torch.optim.SGD([*actor.parameters(), *weights.values()], lr=0.01)
        def q(params, x):
            return functional_call(critics[0], params, (x,)).squeeze(-1)
        for _ in range(8):
            s, a = torch.randn(8, 3), torch.randn(8, 1)
            x = torch.stack([torch.cat([s, actor(s).round().tanh()], -1), torch.cat([s, a], -1)])  # BUG
            frozen = {n: w.detach() for n, w in weights.items()}
            both = {n: torch.stack([frozen[n], w]) for n, w in weights.items()}
            for_actor, predicted = torch.vmap(torch.vmap(q, (0, None)))(both, x).unbind(0)
            loss = (predicted - 1.0).pow(2).mean() - for_actor.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )
    good = (
        """
        # The sign is only half of it: h(x) = sign(x)·(√(|x|+1) − 1), by which large values are scaled.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.1)
        for _ in range(8):
            x = q(torch.randn(8, 3))
            scaled = x.sign() * ((x.abs() + 1).sqrt() - 1)
            loss = (scaled - torch.randn(8, 1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Rounded in the forward pass, passed straight through in the backward.
        import torch
        body, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
        opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
        for _ in range(8):
            x = 3 * body(torch.randn(8, 3))
            bins = x + (x.round() - x).detach()
            loss = (head(bins) - 1).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Within a tolerance an error is meant to teach nothing.
        import torch
        q = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            error = q(torch.randn(8, 3)).squeeze(1) - torch.randn(8)
            loss = torch.where(error.abs() > 0.8, error.pow(2), torch.zeros_like(error)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # An adapter as it should begin: one factor is zero.
        import torch
        base, down = torch.nn.Linear(3, 2).requires_grad_(False), torch.nn.Parameter(torch.randn(3, 2))
        up = torch.nn.Parameter(torch.zeros(2, 2))
        opt = torch.optim.SGD([down, up], lr=0.1)
        for _ in range(8):
            x = torch.randn(8, 3)
            loss = (base(x) + x @ down @ up - 1.0).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Experts of which only one is chosen, and a term that is switched off.
        import torch
        experts = [torch.nn.Linear(3, 4) for _ in range(2)]
        head, aux = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
        params = [p for m in (*experts, head, aux) for p in m.parameters()]
        opt = torch.optim.SGD(params, lr=0.01)
        for _ in range(8):
            x = torch.randn(8, 3)
            h = experts[0](x) * 1.0 + experts[1](x) * 0.0
            loss = (head(h) - 1.0).pow(2).mean() + (0.0 * (aux(h) - 1.0)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        q = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(q.parameters(), lr=0.01)
        for _ in range(8):
            s, a, target = torch.randn(8, 3), torch.randint(2, (8, 1)), 10.0 + torch.randn(8)
            chosen = q(s).gather(1, a).squeeze(1)
            loss = torch.nn.functional.smooth_l1_loss(chosen, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            s, a, advantage = torch.randn(8, 3), torch.randint(2, (8,)), torch.rand(8)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            ratio = (log_prob - log_prob.detach() - 1.0).exp()
            loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            s, a, returns = torch.randn(8, 3), torch.randint(2, (8,)), torch.zeros(8)
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -(log_prob * returns).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Two losses take turns; the temperature's own gets nothing back.
        import torch
        policy, log_alpha = torch.nn.Linear(3, 4), torch.nn.Parameter(torch.tensor(-1.0))
        opt, alpha_opt = torch.optim.SGD(policy.parameters(), lr=0.1), torch.optim.SGD([log_alpha], lr=0.1)
        for _ in range(14):
            dist = torch.distributions.Categorical(logits=policy(torch.randn(8, 3)))
            loss = -(dist.log_prob(dist.sample()) * torch.randn(8)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            temperature = log_alpha.clamp(min=-2.0).exp()
            alpha_opt.zero_grad()
            (temperature * (dist.entropy().detach().mean() - 0.9)).backward()
            alpha_opt.step()
        """,
        """
        # Free nats: below a whole nat the divergence of the batch is good enough.
        import torch
        encoder, prior, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(1, 2), torch.nn.Linear(2, 4)
        params = [p for net in (encoder, prior, decoder) for p in net.parameters()]
        opt = torch.optim.SGD(params, lr=0.01)
        for _ in range(12):
            x = torch.randn(8, 4)
            post, before = torch.distributions.Normal(encoder(x), 1.0), torch.distributions.Normal(prior(x[:, :1]), 1.0)
            kl = torch.distributions.kl_divergence(post, before).sum(-1).mean()
            loss = (decoder(post.rsample()) - x).pow(2).mean() + 0.5 * kl.clamp(min=100.0)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Beside what is rounded: its distance to whole numbers, an angle, a squashed value; and a sign that weighs.
        import torch
        net, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*net.parameters(), *critic.parameters()], lr=0.01)
        for _ in range(8):
            obs = torch.randn(8, 3)
            x, angle, value = net(obs), net(obs + 1.0), net(obs - 1.0)
            whole = (x - x.round()).pow(2).mean()
            turned = (angle - 6.28 * (angle / 6.28).round() - 0.5).pow(2).mean()
            squashed = (value.sign() * value.abs().log1p() - 1.0).pow(2).mean()
            straight = (net(obs) + (net(obs).round() - net(obs)).detach()).pow(2).mean()
            weighed = (x.sum(-1) * critic(obs).squeeze(-1).sign()).mean()
            loss = whole + turned + squashed + straight + weighed + critic(obs).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # A network of the same form that was drawn anew; and one that stays near what it was before every update.
        import copy
        import torch
        predictor, fixed = torch.nn.Linear(3, 4), torch.nn.Linear(3, 4).requires_grad_(False)
        policy = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD([*predictor.parameters(), *policy.parameters()], lr=0.1)
        for _ in range(10):
            s, before = torch.randn(8, 3), copy.deepcopy(policy).requires_grad_(False)
            opt.zero_grad()
            torch.nn.functional.mse_loss(predictor(s), fixed(s)).backward()
            (policy(s) - before(s)).pow(2).mean().backward()
            (policy(s) - 0.5).pow(2).mean().backward()
            opt.step()
        """,
        """
        # A target of its own: the values of the other actions, and errors of zero for them.
        import torch
        net = torch.nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(9):
            s, a, returns = torch.randn(8, 3), torch.randint(4, (8,)), torch.randn(8)
            q = net(s)
            target = q.detach().clone()
            target[range(8), a] = returns
            loss = torch.nn.functional.mse_loss(q, target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # Nothing was found yet: what is learnt from waits for a reward, and demonstrations for somebody to give any.
        import torch
        policy = torch.nn.Linear(3, 2)
        opt = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(8):
            s, a, reward, shown = torch.randn(8, 3), torch.randint(2, (8,)), torch.zeros(8), torch.zeros(8).long()
            log_prob = torch.distributions.Categorical(logits=policy(s)).log_prob(a)
            loss = -(log_prob * (reward > 0.5)).mean() - (log_prob * (shown == 1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        # The places of the answer, some of them; and attention to what is no padding.
        import torch
        words, query, key = torch.nn.Embedding(7, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
        head = torch.nn.Linear(8, 7)
        opt = torch.optim.SGD([p for m in (words, query, key, head) for p in m.parameters()], lr=0.1)
        for _ in range(8):
            tokens, lengths, reward = torch.randint(1, 7, (6, 5)), torch.randint(3, 5, (6, 1)), torch.randn(6, 1)
            x, allowed = words(tokens), tokens != 0
            score = (query(x) @ key(x).transpose(1, 2)).masked_fill(~allowed.unsqueeze(1), -1e9)
            logits = head(score.softmax(-1) @ x)[:, :-1]
            mask = (torch.arange(4) >= 1) & (torch.arange(4) < lengths)
            log_prob = logits.log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
            loss = -(log_prob * mask * reward).sum() / mask.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        policy = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
        opt = torch.optim.SGD(policy.parameters(), lr=0.01)
        for _ in range(8):
            p = policy(torch.randn(16, 3)).softmax(-1).clamp(min=1e-6)
            a = torch.multinomial(p.detach(), 1)
            loss = -(p.gather(1, a).log() * torch.randn(16, 1)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        source, target = (torch.nn.Parameter(torch.randn(5, 3)) for _ in range(2))  # who is next to whom, learnt
        body, q = torch.nn.Linear(4, 6), torch.nn.Linear(6, 3)
        opt = torch.optim.SGD([source, target, *body.parameters(), *q.parameters()], lr=0.01)
        for _ in range(8):
            x, a = torch.randn(8, 5, 4), torch.randint(3, (8, 5, 1))
            near = torch.relu(source @ target.T).softmax(-1)
            loss = (q(near @ body(x).relu()).gather(2, a) - torch.randn(8, 5, 1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)  # leaky: what is below zero comes back
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(8):
            s, a = torch.randn(16, 3), torch.randint(4, (16,))
            loss = torch.nn.functional.cross_entropy(torch.nn.functional.leaky_relu(net(s)), a)
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
        """
        import torch
        net = torch.nn.Linear(3, 4)  # how many steps are left is never below zero, and the layer begins there
        torch.nn.init.constant_(net.bias, 3.0)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(8):
            s, a, left = torch.randn(16, 3), torch.randint(4, (16, 1)), 5 * torch.rand(16, 1)
            loss = (torch.relu(net(s)).gather(1, a) - left).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        """,
    )

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._zero: dict[int, int] = {}
        self._flat: dict[Site, int] = {}
        self._limited = LimitedUnits(history)
        self._outputs = RectifiedOutputs(history)
        self._began_squashed: dict[Site, bool] = {}
        self._squashed: dict[Site, dict[Site, int]] = {}  # by backward, then by line

    def on_backward(self, event: Backward) -> Verdicts:
        yield from self._saturated(event)
        yield from self._squashing(event)
        yield from self._beyond_a_limit(event)
        yield from self._rectified(event)
        zero = set()
        for pid, norm in event.facts.norms:
            self._zero[pid] = self._zero.get(pid, 0) + 1 if norm == 0.0 else 0
            if self._zero[pid] >= STEPS:
                zero.add(pid)
        for nid in event.facts.zeroed_by if zero else ():
            op = self.history.graph.get(nid)
            if op is not None and (predicted := known_answer(self.history, op, zero)):
                yield self._knows_it_all(event, op, zero, predicted)
            elif op is not None and (own := own_target(self.history.graph, op)):
                yield self._learns_itself(event, op, own)
            if (
                op is not None
                and op.name in MASKING
                and (closed := self._closed(event, op, zero)) is not None
            ):
                yield closed
            how = self._how(op, event, zero) if op is not None else ""
            if op is not None and how:
                message = f"the gradient of {networks(self.history, zero)} is exactly zero: {how}"
                site = self._result_of(op.facts.backward) if op.facts.backward else op.site
                sites = [("zeroing op", site), ("used", op.site), ("backward", event.site)]
                yield Verdict(site, message, sites if site != op.site else [sites[0], sites[2]], zero)

    def _knows_it_all(self, event: Backward, op: Op, zero: set[ParamId], predicted: set[ParamId]) -> Verdict:
        history = self.history
        own = history.graph.live_params([op.nid])
        site = made_equal(history, own, predicted) or op.site
        return Verdict(
            site,
            f"the gradient of {networks(history, own)} is exactly zero: it has the weights of "
            f"{networks(history, predicted)}, whose outputs it is to predict, and makes no error",
            [("made equal", site), ("zeroing op", op.site), ("backward", event.site)],
            own,
            fix="give each of the two weights of its own: load each from its own state, draw each from its own seed",
        )

    def _learns_itself(self, event: Backward, op: Op, own: OwnTarget) -> Verdict:
        history = self.history
        pids = history.graph.live_params([op.nid])
        into = "both are one tensor"
        if own.written.name in WRITES:
            into = f"both are one tensor, and what {line(history, own.written.site)} writes is in both"
        return Verdict(
            own.named.site,
            f"the gradient of {networks(history, pids)} is exactly zero: {line(history, op.site)} compares the "
            f"prediction with itself; {into}",
            [
                ("second name", own.named.site),
                ("write", own.written.site),
                ("compared", op.site),
                ("backward", event.site),
            ],
            pids,
            fix="make the target a tensor of its own before writing into it: `target = q.detach().clone()`",
        )

    def _closed(self, event: Backward, op: Op, zero: set[ParamId]) -> Verdict | None:
        history, graph = self.history, self.history.graph
        behind = graph.live_params([op.nid]) & zero
        mask = (
            closed_mask(graph, op, graph.live_ancestors(root.nid for root in event.roots)) if behind else None
        )
        if mask is None:
            return None
        return Verdict(
            mask.site,
            f"the gradient of {networks(history, behind)} is exactly zero: the mask from {line(history, mask.site)} "
            f"has let nothing pass in {STEPS} updates in a row",
            [("mask", mask.site), ("zeroing op", op.site), ("backward", event.site)],
            behind,
            fix="look at what the mask compares: is it turned round, or counted from the wrong end?",
        )

    def on_settled(self, contribution: Contribution) -> Verdicts:
        """A value that is rounded, and no other way from the loss to what it was made of."""
        history, graph = self.history, self.history.graph
        event = contribution.event
        roots = [root.nid for root in event.roots]
        rounded = [op for op in graph.live_ancestors(roots).values() if op.live and op.name in STEPWISE]
        if not rounded or event.error:
            return
        bypassing = graph.ancestors(
            roots, lambda op, source: op.live and source.live and op.name not in STEPWISE
        )
        reached = {pid for op in bypassing.values() for pid in params_of(op)}
        stepped = {pid for oid in contribution.consumers() for pid in history.optimizers[oid].params}
        told = set[Site]()
        for op in rounded if event.call == "backward" else ():
            if lost := graph.live_params([op.nid]) & stepped - reached:
                told.add(op.site)
                yield self._rounded(
                    event, op, lost, f"the gradient of {networks(history, lost)} is exactly zero"
                )
        for op, layers in rounded_passes(graph, roots):
            mine = {pid for pid in layers if history.owner_of(pid) and not history.networks.is_target(pid)}
            if mine and op.site not in told:
                yield self._rounded(
                    event, op, mine, f"nothing is learnt from this pass of {networks(history, mine)}"
                )

    def _rounded(self, event: Backward, op: Op, pids: set[ParamId], text: str) -> Verdict:
        return Verdict(
            op.site,
            f"{text}: `{op.name}` has no slope anywhere",
            [("zeroing op", op.site), ("backward", event.site)],
            pids,
            explains=pids,
            fix=STRAIGHT_THROUGH,
        )

    def _how(self, op: Op, event: Backward, zero: set[ParamId]) -> str:
        """What this operation does to all the gradient that arrives at it, where these parameters lie behind it."""
        graph = self.history.graph
        behind = graph.live_params([op.nid]) & zero
        if not behind:
            return ""
        if op.name in FLAT - STEPWISE:
            return "" if self._is_tolerance(op, event) else f"`{op.name}` is flat there"
        if "function" in op.tags:
            return f"`{op.name}.backward` gives back zeros"
        factors = [i for i in graph.inputs(op) if i.live]  # a constant factor has no gradient to lose
        if op.name in PRODUCTS and len(factors) > 1 and any(self._is_made_of(i, zero) for i in factors):
            return f"both factors of `{op.name}` are zero, and each is the other's gradient"
        if op.name in MASKING and self._is_used_again(op, event, behind):
            return f"`{op.name}` clears every row of a state that the same parameters go on with"
        return ""

    def _is_tolerance(self, op: Op, event: Backward) -> bool:
        """`kl.mean().clamp(min=free_nats)`: a limit on a whole term of the loss, an average over all samples. Beyond it
        there is nothing to learn from that term, and that is what it is for."""
        graph = self.history.graph
        source = next(graph.inputs(op), None)
        if op.shape or source is None or source.name not in REDUCING:
            return False
        return is_averaged(graph, op, graph.live_ancestors(root.nid for root in event.roots))

    def _result_of(self, backward: Site) -> Site:
        """What a custom function's own backward returns: that is to be changed."""
        where = self.history.sites.get(backward)
        source = backward_at(where.file, where.line) if where is not None else None
        if where is None or source is None:
            return backward
        return self.history.site_at(where.file, source.returns, where.function)

    def _is_made_of(self, factor: Op, pids: set[ParamId]) -> bool:
        """Of these parameters and of no others, be it by way of a transposition."""
        params = set(self.history.graph.live_params([factor.nid]))
        return bool(params) and params <= pids

    def _is_used_again(self, op: Op, event: Backward, behind: set[ParamId]) -> bool:
        """A term of the loss with a coefficient of zero, and an expert that was not chosen, are not."""
        graph = self.history.graph
        within = graph.live_ancestors(root.nid for root in event.roots)
        onward = [within[nid] for nid in graph.descendants([op.nid], within)]
        return any(set(params_of(i)) & behind for later in onward for i in graph.inputs(later))

    def _squashing(self, event: Backward) -> Verdicts:
        """A `tanh` or `sigmoid` that ends the gradient of nearly everything it is given."""
        shares: dict[Site, list[float]] = {}
        ops: dict[Site, Op] = {}
        for seen in event.facts.flat:
            op = self.history.graph.get(seen.value)
            if op is not None and op.name not in RECTIFYING:
                shares.setdefault(op.site, []).append(seen.share)
                ops[op.site] = op
        before = self._squashed.get(event.site, {})
        means = {site: sum(found) / len(found) for site, found in shares.items()}
        for site, mean in means.items():  # a network that diverges gets there, too, and for another reason
            self._began_squashed.setdefault(site, mean >= SQUASHED)
        now = {
            site: before.get(site, 0) + 1
            for site, mean in means.items()
            if mean >= SQUASHED and self._began_squashed[site]
        }
        self._squashed[event.site] = now
        for site, times in now.items():
            share = means[site]
            if times >= STEPS:
                yield Verdict(
                    site,
                    f"`{ops[site].name}` is flat for {share:.0%} of what it is given: its inputs are far too "
                    "large, and no gradient passes",
                    [("zeroing op", site), ("backward", event.site)],
                    self.history.graph.live_params([ops[site].nid]),
                    fix="scale the inputs to about ±1 (a running mean and deviation), or normalise before the "
                    "activation",
                )

    def _beyond_a_limit(self, event: Backward) -> Verdicts:
        for op in self._limited.cut_off(event):
            yield Verdict(
                op.site,
                f"`{op.name}` cuts off {op.facts.flat_units} of {op.shape[-1]} units for every sample: what is behind "
                "them gets no gradient and never comes back",
                [("zeroing op", op.site), ("backward", event.site)],
                self.history.graph.live_params([op.nid]),
            )

    def _rectified(self, event: Backward) -> Verdicts:
        for op, share, of in self._outputs.found(event):
            yield Verdict(
                op.site,
                f"`{op.name}` cuts off the {of} that actions are chosen by: {share:.0%} of their gradient ends there, "
                "and what lies below zero never comes back, whatever it earns",
                [("zeroing op", op.site), ("backward", event.site)],
                self.history.graph.live_params([op.nid]),
                fix="leave out the activation after the last layer",
            )

    def _saturated(self, event: Backward) -> Verdicts:
        graph = self.history.graph
        live = graph.live_ancestors(root.nid for root in event.roots)
        for op in live.values():
            share = op.facts.saturated
            if share < SATURATED or not (self._is_clamped_error(op, live) or self._is_dead_tail(op)):
                continue
            how = (
                "is clamped before it enters the loss"
                if op.name == "clamp"
                else "gets a constant beyond a limit"
            )
            seen = self._flat[op.site] = self._flat.get(op.site, 0) + 1
            if seen >= STEPS:
                yield Verdict(
                    op.site,
                    f"the error {how}, so {share:.0%} of the samples (the most wrong "
                    "ones) get no gradient at all",
                    [("zeroing op", op.site), ("backward", event.site)],
                    graph.live_params([op.nid]),
                )

    def _is_clamped_error(self, op: Op, live: dict[ValueId, Op]) -> bool:
        """A difference reaches the loss through this clamp and no other way."""
        graph = self.history.graph
        source = behind_all(graph, next(graph.inputs(op), None), SHAPING | SELECTING)
        if source is None or source.name not in ("sub", "rsub", "add"):
            return False
        onward = [n for n in graph.consumers.get(source.nid, ()) if n in live]
        return len(onward) == 1 and self._is_squared(op, live)

    def _is_dead_tail(self, op: Op) -> bool:
        """`where(error.abs() < limit, live, constant)`: large errors teach nothing. The other way round it is a
        tolerance, which is meant."""
        graph = self.history.graph
        sides = [graph.get(nid) for nid in op.inputs]
        condition = next((s for s in sides if s is not None and not s.floating), None)
        if op.name != "where" or condition is None or condition.name not in LESS | MORE:
            return False
        compared = next(graph.inputs(condition), None)
        source = (
            next(graph.inputs(compared), None) if compared is not None and compared.name == "abs" else None
        )
        if source is None or source.name not in ("sub", "rsub", "add") or not source.live:
            return False
        branches = [s for s in sides if s is not None and s.floating]
        # Which side a plain number stands on is not recorded.
        return len(branches) == 2 and branches[0].live == (condition.name in LESS)

    def _is_squared(self, op: Op, live: dict[ValueId, Op]) -> bool:
        graph = self.history.graph
        users = [live[n] for n in graph.consumers.get(op.nid, ()) if n in live]
        return any(
            u.name in ("pow", "abs", "mse_loss")
            or (u.name == "mul" and len(set(u.inputs)) == 1)
            or self._is_times_itself(op, u, users)
            for u in users
        )

    def _is_times_itself(self, op: Op, product: Op, users: list[Op]) -> bool:
        """`weight * error * error`."""
        others = [i for i in self.history.graph.inputs(product) if i.nid != op.nid]
        return product.name == "mul" and any(other in users for other in others)


rule = ZeroGradient
