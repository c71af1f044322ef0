"""Tests of `unmask.tune`."""
