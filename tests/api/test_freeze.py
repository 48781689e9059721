"""`gradsan.freeze`: what raises, where it raises, and what goes on working."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import gradsan
from training import code_at


@pytest.fixture
def x() -> Tensor:
    return gradsan.freeze(torch.ones(4, 3))  # frozen here


def set_item(x: Tensor) -> None:
    x[0, 1] = 5.0


def add(x: Tensor) -> None:
    x += 1


def set_data(x: Tensor) -> None:
    x.data = torch.zeros(4, 3)


WRITES: dict[str, Callable[[Tensor], object]] = {
    "add_": lambda x: x.add_(1),
    "augmented assignment": add,
    "item assignment": set_item,
    "a view": lambda x: x[0].mul_(2),
    "a view of a view": lambda x: x.view(-1)[2:].reshape(2, 5).zero_(),
    "unflatten": lambda x: x.unflatten(0, (2, 2)).add_(1),
    "chunk": lambda x: x.chunk(2)[0].add_(1),
    "as_strided": lambda x: x.as_strided((2,), (1,)).add_(1),
    "a transposed view": lambda x: x.T.fill_(0),
    "unbind": lambda x: x.unbind()[1].add_(1),
    "iteration": lambda x: next(iter(x)).add_(1),
    "expand": lambda x: x[:1].expand(2, 3).add_(1),
    ".data": lambda x: x.data.add_(1),
    "assignment to .data": set_data,
    "detach": lambda x: x.detach().add_(1),
    "out=": lambda x: torch.add(torch.ones(4, 3), 1, out=x),
    "out= of a view": lambda x: torch.mul(torch.ones(3), 2, out=x[0]),
    "foreach": lambda x: torch._foreach_add_([torch.zeros(1), x], 1.0),
    "functional in place": lambda x: nn.functional.relu(x, inplace=True),
    "dropout in place": lambda x: nn.functional.dropout(x, inplace=True),
    "a module in place": lambda x: nn.ReLU(inplace=True)(x),
    "initialisation": lambda x: nn.init.normal_(x),
    "copy_": lambda x: x.copy_(torch.zeros(4, 3)),
    "index_put_": lambda x: x.index_put_((torch.tensor([0]),), torch.zeros(3)),
    "masked assignment": lambda x: x.__setitem__(x > 0, 0.0),
    "random": lambda x: x.normal_(),
    "resize": lambda x: x.resize_(2, 2),
    "set_": lambda x: x.set_(torch.zeros(2)),
    "an operator by name": lambda x: torch.ops.aten.add_.Tensor(x, torch.ones(1)),
    "batch norm": lambda x: nn.functional.batch_norm(torch.randn(5, 3), x[0], x[1], training=True),
    "embedding renorm": lambda x: nn.functional.embedding(torch.tensor([0]), x, max_norm=0.1),
    "a shallow copy": lambda x: copy.copy(x).add_(1),
    "an optimizer": lambda x: _optimize(x),
}


def _optimize(x: Tensor) -> None:
    x.requires_grad_()
    (x * 2).sum().backward()
    torch.optim.Adam([x]).step()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_raises_and_changes_nothing(x: Tensor, write: Callable[[Tensor], object]) -> None:
    with pytest.raises(gradsan.FrozenTensorError, match=r"frozen on .*test_freeze.py:\d+ .*# frozen here"):
        write(x)
    assert torch.equal(x.clone(), torch.ones(4, 3))


def test_the_error_comes_out_at_the_writing_line_and_names_both_lines(x: Tensor) -> None:
    with pytest.raises(gradsan.FrozenTensorError) as caught:
        set_item(x)
    assert code_at(caught.value, __file__) == "x[0, 1] = 5.0"
    line = set_item.__code__.co_firstlineno + 1
    assert f"test_freeze.py:{line}: an item assignment writes in place" in str(caught.value)


def test_freezing_keeps_the_object_and_all_its_names(x: Tensor) -> None:
    y = torch.ones(2)
    other_name = y
    assert gradsan.freeze(y) is y
    with pytest.raises(gradsan.FrozenTensorError):
        other_name.add_(1)


def test_reading_gives_plain_tensors_that_can_be_written(x: Tensor) -> None:
    for new in (x + 1, x.clone(), x.sum(0), torch.cat([x, x]), torch.where(x > 0, x, x), x[[0, 1]]):
        assert type(new) is Tensor
        new.add_(1)
    torch.zeros(4, 3).copy_(x).add_(x)
    assert (x == 1).all()
    assert x.shape == (4, 3)
    assert x.dtype is torch.float32
    assert "tensor" in repr(x).lower()
    assert f"{x[0, 0]:.2f}" == "1.00"


def test_layers_of_every_kind_can_be_frozen_and_differentiated() -> None:
    layers = [
        (nn.LSTM(3, 4), torch.ones(2, 1, 3)),
        (nn.GRUCell(3, 4), torch.ones(1, 3)),
        (nn.Conv2d(1, 2, 3), torch.ones(1, 1, 5, 5)),
        (nn.Embedding(5, 3), torch.tensor([1])),
        (nn.LayerNorm(3), torch.ones(2, 3)),
    ]
    for layer, given in layers:
        out = gradsan.freeze(layer)(given)
        (out[0] if isinstance(out, tuple) else out).sum().backward()
        assert all(p.grad is not None for p in layer.parameters())


# -- autograd --------------------------------------------------------------------------------------


def test_gradient_flows_through_a_frozen_value() -> None:
    w = torch.ones(3, requires_grad=True)
    y = gradsan.freeze(w * 2)
    (y[1:] * 3).sum().backward()
    assert torch.equal(w.grad, torch.tensor([0.0, 6.0, 6.0]))


def test_a_frozen_leaf_gets_its_gradient_and_a_frozen_loss_can_be_differentiated() -> None:
    w = gradsan.freeze(torch.ones(3, requires_grad=True))
    gradsan.freeze((w * 2).sum()).backward()
    assert w.is_leaf
    assert torch.equal(w.grad, torch.full((3,), 2.0))
    (grad,) = torch.autograd.grad((w * w).sum(), w, create_graph=True)
    grad.sum().backward()
    assert torch.equal(w.grad, torch.full((3,), 4.0))
    w.grad.zero_()
    w.grad = None


# -- copies ----------------------------------------------------------------------------------------


def through_pickle(x: Tensor) -> Tensor:
    return pickle.loads(pickle.dumps(x))


def through_a_file(x: Tensor) -> Tensor:
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, through_pickle, through_a_file, Tensor.clone, Tensor.double]
)
def test_a_copy_is_equal_of_the_plain_kind_and_thawed(x: Tensor, copied: Callable[[Tensor], Tensor]) -> None:
    for original in (x, gradsan.freeze(nn.Parameter(torch.ones(2)))):
        new = copied(original)
        assert type(new) in (Tensor, nn.Parameter)
        assert torch.equal(new.float(), original)
        with torch.no_grad():
            new.add_(1)
        with pytest.raises(gradsan.FrozenTensorError), torch.no_grad():
            original.add_(1)
        assert not hasattr(new, "_gradsan_seal")


def test_another_device_gets_a_plain_copy_and_the_same_device_the_frozen_tensor(x: Tensor) -> None:
    assert type(x.to("meta")) is Tensor
    assert x.to("cpu") is x


def test_numpy_gets_a_read_only_array(x: Tensor) -> None:
    for array in (x.numpy(), np.asarray(x), x[0].numpy()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    np.array(x)[...] = 0
    np.asarray(x, dtype=np.float64)[...] = 0
    assert (x == 1).all()


def test_dlpack_is_refused(x: Tensor) -> None:
    with pytest.raises(gradsan.FrozenTensorError, match="nobody there knows"):
        torch.from_dlpack(x)
    with pytest.raises(gradsan.FrozenTensorError):
        np.from_dlpack(x)


# -- torch.compile ---------------------------------------------------------------------------------


def compiled(function: Callable[..., object], **options: object) -> Callable[..., object]:
    torch.compiler.reset()
    return torch.compile(function, backend="aot_eager", **options)


def test_compiled_code_reads_frozen_tensors_and_networks(x: Tensor) -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
    expected = net(torch.ones(5, 3)).detach()
    gradsan.freeze(net)
    got = compiled(net)(torch.ones(5, 3))
    got.sum().backward()
    assert torch.equal(got, expected)
    assert net[0].weight.grad is not None
    assert compiled(lambda x: (x * 2).sum())(x).item() == 24


def test_compiled_code_that_writes_raises(x: Tensor) -> None:
    with pytest.raises(gradsan.FrozenTensorError):
        compiled(lambda x: x[0].add_(1) + 1)(x)
    assert (x == 1).all()


def test_a_full_graph_is_refused_with_the_reason(x: Tensor) -> None:
    with pytest.raises(Exception, match=r"gradsan\.freeze: writes to read-only tensors"):
        compiled(lambda x: x * 2, fullgraph=True)(x)


# -- networks --------------------------------------------------------------------------------------


@pytest.fixture
def target() -> nn.Module:
    return gradsan.freeze(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval())


def test_a_frozen_network_computes_and_saves_as_before(target: nn.Module) -> None:
    assert isinstance(target[0].weight, nn.Parameter)
    assert len(list(target.parameters())) == 4
    target(torch.randn(5, 3)).sum().backward()
    online = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    online.load_state_dict(target.state_dict())
    assert torch.equal(online[0].weight, target[0].weight)
    loaded = pickle.loads(pickle.dumps(target))
    loaded[0].weight.data.zero_()
    copy.deepcopy(target)[0].weight.data.zero_()


def test_every_write_to_a_frozen_network_raises(target: nn.Module) -> None:
    other = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    writes = (
        lambda: target.load_state_dict(other.state_dict()),
        lambda: target[0].weight.data.copy_(other[0].weight),
        lambda: torch.nn.utils.vector_to_parameters(torch.zeros(12), target.parameters()),
        lambda: target.double(),
        lambda: target.state_dict()["0.weight"].zero_(),
        lambda: target.train()(torch.randn(5, 3)),
    )
    before = copy.deepcopy(target.state_dict())
    for write in writes:
        with pytest.raises(RuntimeError, match="that was frozen on"):
            write()
    assert all(torch.equal(value, before[name]) for name, value in target.state_dict().items())


def test_moving_a_frozen_network_to_where_it_is_does_nothing(target: nn.Module) -> None:
    assert target.to("cpu").float() is target


def test_an_optimizer_that_owns_a_frozen_network_raises_at_its_step(target: nn.Module) -> None:
    opt = torch.optim.SGD(target.parameters(), lr=0.1)
    target(torch.randn(5, 3)).sum().backward()
    with pytest.raises(gradsan.FrozenTensorError) as caught:
        opt.step()
    assert code_at(caught.value, __file__) == "opt.step()"


def test_thawed_lets_the_target_be_synced_and_freezes_it_again(target: nn.Module) -> None:
    online = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    with gradsan.thawed(target):
        target.load_state_dict(online.state_dict())
        for mine, theirs in zip(target.parameters(), online.parameters(), strict=True):
            mine.data.lerp_(theirs.data, 0.5)
    assert torch.equal(target[0].weight, online[0].weight)
    with pytest.raises(gradsan.FrozenTensorError):
        target[0].weight.data.zero_()


def test_thawed_freezes_again_after_an_exception(x: Tensor) -> None:
    with pytest.raises(RuntimeError, match="size"), gradsan.thawed(x):
        x.add_(torch.ones(7))
    with pytest.raises(gradsan.FrozenTensorError):
        x.add_(1)


def test_freezing_twice_names_the_first_line(x: Tensor) -> None:
    gradsan.freeze(x)
    with pytest.raises(gradsan.FrozenTensorError, match="# frozen here"):
        x.add_(1)


@pytest.mark.parametrize(
    "thing", [[1], torch.eye(2).to_sparse(), torch.nested.nested_tensor([torch.ones(1)])]
)
def test_what_cannot_be_frozen_is_refused(thing: object) -> None:
    with pytest.raises(TypeError):
        gradsan.freeze(thing)


def test_frozen_tensors_can_be_watched_deeply(target: nn.Module) -> None:
    online = nn.Linear(3, 2)
    opt = torch.optim.SGD(online.parameters(), lr=0.1)
    with gradsan.watch("deep") as report:
        for _ in range(4):
            with torch.no_grad():
                goal = target(torch.ones(5, 3))
            loss = (online(torch.ones(5, 3)) - goal).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            with gradsan.thawed(target), torch.no_grad():
                target[0].weight.lerp_(online.weight, 0.5)
        with pytest.raises(gradsan.FrozenTensorError):
            target[0].weight.data.add_(1)
    assert not report.faults
