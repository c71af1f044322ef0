"""Behaviour of `unmask.tune`."""
