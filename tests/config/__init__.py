"""Behaviour of `unmask.config`."""
