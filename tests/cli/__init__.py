"""Behaviour of `unmask.cli`."""
