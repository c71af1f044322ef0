"""Tests of published model families."""
