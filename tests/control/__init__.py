"""Behaviour of `unmask.control`."""
