"""Functions of PyTorch are pickled, copied and looked at."""

import copy
import inspect
import pickle

import torch
from torch import nn

WATCHED = [
    torch.autograd.backward,
    torch.autograd.grad,
    torch.nn.utils.clip_grad_norm_,
    torch.nn.utils.clip_grad_value_,
    torch.compile,
    torch.set_grad_enabled,
    torch.inference_mode,
    torch.optim.Optimizer.zero_grad,
    torch.optim.Optimizer.add_param_group,
    torch.nn.Module.zero_grad,
    torch.nn.Module.load_state_dict,
    torch.nn.Module.requires_grad_,
    torch.nn.Parameter.__deepcopy__,
    torch.nn.Parameter.__new__,
    torch.autograd.Function.apply,
    torch.Tensor.backward,
]
for function in WATCHED:
    words = [getattr(function, name, None) for name in ("__name__", "__qualname__", "__module__")]
    doc = function.__doc__
    try:
        signature = str(inspect.signature(function))
    except ValueError:
        signature = "none"
    print(*words, len(doc) if doc else doc, signature)
for function in (*WATCHED[:5], torch.from_numpy):
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
print(sorted(vars(torch.nn.Parameter)), inspect.getsource(torch.autograd.backward)[:20])
