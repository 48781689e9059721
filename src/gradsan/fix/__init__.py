"""Repairs of findings, as changes to the source."""
