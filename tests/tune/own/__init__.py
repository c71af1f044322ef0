"""Behaviour of `unmask.tune.own`."""
