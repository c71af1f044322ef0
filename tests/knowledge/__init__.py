"""Behaviour of `unmask.knowledge`."""
