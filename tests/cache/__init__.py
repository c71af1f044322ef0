"""Behaviour of `unmask.cache`."""
