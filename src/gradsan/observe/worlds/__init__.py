"""Environments and what they gave."""
