"""Norms say zero only where everything is zero."""

from __future__ import annotations

import torch

from gradsan.observe.training.magnitudes import norms_of


def test_norm_of_numbers_whose_squares_are_too_small_for_a_float_is_not_zero():
    small = torch.full((4,), 1e-30)
    assert norms_of([small, torch.ones(1)]) == [2 * float(small[0]), 1.0]


def test_norm_of_zeros_is_zero():
    assert norms_of([torch.zeros(3), torch.ones(1)]) == [0.0, 1.0]
