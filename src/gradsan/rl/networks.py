"""Networks: perceptrons, a convolutional encoder for images, twin critics, and target copies."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from gradsan.rl.errors import ConfigError
from gradsan.rl.spaces import Observations

M = TypeVar("M", bound=nn.Module)
RELU = partial(nn.ReLU, inplace=True)
MINUS_ONE = torch.tensor(-1.0)
MANY = 8_192  # numbers: over fewer, three operations take longer than the one that they stand for

MANY_PRODUCTS, WIDE = 2**21, 16  # below, oneDNN takes longer to begin than it saves
# The operation that PyTorch's compiler makes of `nn.Linear`; builds without MKL or oneDNN have none.
HAS_ONEDNN = (
    torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)


class Tanh(nn.Module):
    """tanh(x) = 2σ(2x) − 1, in place: over the many numbers of a batch PyTorch's kernel for σ is three to eight times
    as fast on CPUs that MKL does not know, and `tanh` was a sixth of an update. It is as near as 2e-7."""

    def forward(self, x: Tensor) -> Tensor:
        if x.numel() < MANY or x.device.type != "cpu":
            return torch.tanh(x)
        return torch.add(MINUS_ONE, x.mul_(2).sigmoid_(), alpha=2)


class Linear(nn.Linear):
    """As PyTorch's. A large product that asks for no gradient (a target, a value over a rollout) goes to oneDNN, which
    comes with PyTorch: on CPUs that MKL does not know it multiplies twice as fast. It rounds otherwise."""

    def forward(self, x: Tensor) -> Tensor:
        few = x.numel() * self.out_features < MANY_PRODUCTS
        if few or torch.is_grad_enabled() or not self._suits(x):
            return functional.linear(x, self.weight, self.bias)
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return y

    def _suits(self, x: Tensor) -> bool:
        plain = x.ndim == 2 and x.device.type == "cpu" and x.dtype is self.weight.dtype is torch.float32
        return HAS_ONEDNN and plain and self.out_features >= WIDE


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Initial weights follow from the seed alone, and the global random state is as before afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would seed every GPU, too
        yield


def mlp(sizes: Sequence[int], activation: Callable[[], nn.Module] = RELU) -> nn.Sequential:
    """Linear layers with an activation between them; the last is linear."""
    layers = [layer for pair in itertools.pairwise(sizes) for layer in (Linear(*pair), activation())]
    return nn.Sequential(*layers[:-1])


def orthogonal(network: nn.Module, last_gain: float) -> nn.Module:
    """Orthogonal weights, √2 in hidden layers: policy gradients start well from a near-uniform policy."""
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear | nn.Conv2d)]
    for layer in layers:
        nn.init.orthogonal_(layer.weight, last_gain if layer is layers[-1] else math.sqrt(2))
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return network


class ImageEncoder(nn.Module):
    """The convolutions of Mnih et al. (2015), for images with channels first or last."""

    def __init__(self, observations: Observations, features: int = 512) -> None:
        super().__init__()
        shape = observations.shape
        self.channels_last = shape[-1] < shape[0]
        channels, height, width = (shape[2], *shape[:2]) if self.channels_last else shape
        if min(height, width) < 36:
            raise ConfigError(f"Image observations must be at least 36 × 36 pixels, got {height} × {width}.")
        self.scale = 1 / 255 if observations.dtype == "uint8" else 1.0
        self.layers = nn.Sequential(
            *(nn.Conv2d(channels, 32, 8, stride=4), nn.ReLU(inplace=True)),
            *(nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(inplace=True)),
            *(nn.Conv2d(64, 64, 3), nn.ReLU(inplace=True), nn.Flatten()),
        )
        with torch.no_grad():
            flat = self.layers(torch.zeros(1, channels, height, width)).shape[1]
        self.layers.extend((Linear(flat, features), nn.ReLU(inplace=True)))
        self.features = features

    def forward(self, obs: Tensor) -> Tensor:
        images = obs.permute(0, 3, 1, 2) if self.channels_last else obs
        features: Tensor = self.layers(images.float() * self.scale)
        return features


def network(
    observations: Observations, hidden: Sequence[int], out: int, activation: Callable[[], nn.Module] = RELU
) -> nn.Sequential:
    """From observations to `out` numbers: an encoder and a layer for images, a perceptron for vectors."""
    if observations.image:
        encoder = ImageEncoder(observations)
        return nn.Sequential(encoder, nn.Linear(encoder.features, out))
    return mlp((observations.shape[0], *hidden, out), activation)


class TwinCritic(nn.Module):
    """Two independent Q(s, a), of which targets take the smaller (Fujimoto et al. 2018)."""

    def __init__(self, obs_size: int, action_size: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.q1 = mlp((obs_size + action_size, *hidden, 1))
        self.q2 = mlp((obs_size + action_size, *hidden, 1))

    def forward(self, obs: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        joined = torch.cat((obs, action), dim=1)
        return self.q1(joined).squeeze(1), self.q2(joined).squeeze(1)


class Target(Generic[M]):
    """A copy that no loss trains: it follows the online network by hard or soft updates."""

    def __init__(self, online: M) -> None:
        self.network = copy.deepcopy(online).requires_grad_(False)
        # Listed once: walking the module tree costs more than the update itself.
        self._own: list[Tensor] = list(self.network.parameters())
        self._online: list[Tensor] = list(online.parameters())

    @torch.no_grad()
    def sync(self) -> None:
        torch._foreach_copy_(self._own, self._online)

    @torch.no_grad()
    def track(self, rate: float) -> None:
        """target ← (1 − rate)·target + rate·online, in one call for all parameters."""
        torch._foreach_lerp_(self._own, self._online, rate)
