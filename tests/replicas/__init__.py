"""Tests of `unmask.replicas`."""
