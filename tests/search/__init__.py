"""Tests of `unmask.search`."""
