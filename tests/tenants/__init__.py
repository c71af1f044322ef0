"""Behaviour of `unmask.tenants`."""
