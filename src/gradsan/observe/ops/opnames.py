"""What the functions that PyTorch reports to a function mode mean to gradsan."""

from __future__ import annotations

from typing import Any

IGNORE = "ignore"
OPERATION = "operation"

# Questions about a tensor, not values made from it.
QUESTIONS = {
    "size", "dim", "numel", "nelement", "element_size", "stride", "storage_offset", "data_ptr", "type",
    "is_complex", "is_floating_point", "is_contiguous", "is_shared", "is_pinned", "is_inference",
    "is_same_size", "is_set_to", "get_device", "__len__", "__hash__", "__repr__", "__format__",
    "__dir__", "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "untyped_storage",
    "storage", "_typed_storage", "storage_type", "backward", "__reduce_ex__", "__reduce__",
    "__setstate__", "_is_view", "_fix_weakref", "has_names", "ndimension", "result_type", "can_cast",
    "_record_function_enter_new", "_record_function_exit", "share_memory_", "_has_compatible_shallow_copy_type",
    "is_nonzero", "_make_subclass", "_get_data_attr", "dim_order", "module_load", "allclose", "equal",
    "is_signed", "is_conj", "is_neg", "is_distributed", "is_coalesced", "_nnz", "dense_dim", "sparse_dim",
    "__contains__", "isinstance",
}  # fmt: skip

# Attributes whose reading yields a value (all others are questions).
VALUE_ATTRIBUTES = {"data", "grad", "T", "mT", "H", "mH", "real", "imag"}

# Ways out of the tensor world that carry a real number; `bool` and `int` only choose.
DEPARTURES = {"item", "__float__", "tolist", "numpy", "__array__", "__complex__"}
CHOICES = {"__bool__", "__int__", "__index__"}
ARRIVALS = {
    "tensor", "as_tensor", "asarray", "from_numpy", "frombuffer", "new_tensor", "FloatTensor", "Tensor", "DoubleTensor",
}  # fmt: skip

# Operations whose result or derivative is infinite or undefined somewhere.
AT_RISK = {
    "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "pow", "div", "exp", "expm1", "std",
    "var", "std_mean", "var_mean", "norm", "atanh", "acos", "asin", "acosh", "tan", "logit", "softplus",
    "logsumexp", "erfinv", "digamma", "lgamma", "normalize", "cosine_similarity", "log_prob", "square",
    "cumprod", "prod", "true_divide", "divide", "rdiv", "float_power", "vector_norm", "atan2", "xlogy",
    "softmax", "log_softmax",
}  # fmt: skip

# What people do to a `.grad` when they clip by hand.
CLIPPING = {"clamp", "mul", "div", "where", "nan_to_num", "renorm", "masked_fill"}

_REFLECTED = {
    "radd": "add", "rmul": "mul", "rsub": "rsub", "rpow": "rpow", "rdiv": "rdiv", "rtruediv": "rdiv",
}  # fmt: skip
_PLAIN = {
    "truediv": "div", "true_divide": "div", "divide": "div", "subtract": "sub", "multiply": "mul",
    "negative": "neg", "clip": "clamp", "iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div",
    "idiv": "div", "ipow": "pow", "square": "pow", "absolute": "abs", "positive": "clone",
    "clamp_min": "clamp", "clamp_max": "clamp", "hardtanh": "clamp", "concat": "cat", "concatenate": "cat",
    "_linear_pointwise": "linear",
}  # fmt: skip


def classify(func: Any) -> tuple[str, str]:
    """(kind, canonical name) of a function as a mode receives it."""
    owner: Any = getattr(func, "__self__", None)
    raw = getattr(func, "__name__", "") or type(func).__name__
    if raw in ("__get__", "__set__", "__delete__") and hasattr(owner, "__name__"):
        attribute = owner.__name__
        if raw == "__get__":
            return (("get_" + attribute), attribute) if attribute in VALUE_ATTRIBUTES else (IGNORE, attribute)
        if attribute in ("data", "grad", "requires_grad"):
            return "set_" + attribute, "set_" + attribute
        return IGNORE, attribute
    if raw in QUESTIONS or raw.startswith(("_record_function", "is_")):
        return IGNORE, raw
    if raw in DEPARTURES:
        return "departure", raw.strip("_")
    if raw in CHOICES:
        return "choice", raw.strip("_")
    if raw in ARRIVALS:
        return "arrival", raw
    if raw in ("__deepcopy__", "_set_grad_enabled", "requires_grad_", "detach_", "__iter__"):
        return raw.strip("_"), raw.strip("_")
    return OPERATION, canonical(raw)


def canonical(raw: str) -> str:
    """`__rsub__`, `sub_`, `subtract` and `__isub__` are one operation under several names."""
    name = raw.strip("_") if raw.startswith("__") else raw.rstrip("_") or raw
    return _REFLECTED.get(name) or _PLAIN.get(name) or name
