"""Graphs and what backward does with them."""
