"""Tests of `unmask.cluster`."""
