"""Behaviour of `unmask.remote`."""
