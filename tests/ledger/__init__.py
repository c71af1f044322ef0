"""Behaviour of `unmask.ledger`."""
