"""Behaviour of `unmask.policy`."""
