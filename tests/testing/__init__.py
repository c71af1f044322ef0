"""Behaviour of `unmask.testing`."""
