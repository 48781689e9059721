"""Taps that turn what autograd, optimizers, modules and tensors do into events. Imports torch."""
