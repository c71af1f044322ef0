"""Tests of gate runs as jobs."""
