"""Behaviour of `unmask.metrics`."""
