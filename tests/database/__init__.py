"""Behaviour of `unmask.database`."""
