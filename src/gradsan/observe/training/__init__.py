"""Optimizers, clips, networks and ranks."""
