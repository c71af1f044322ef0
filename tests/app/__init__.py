"""Behaviour of `unmask.app`."""
