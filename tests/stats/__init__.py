"""Behaviour of `unmask.gate`."""
