"""Behaviour of `unmask.api`."""
