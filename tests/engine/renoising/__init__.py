"""Tests of canvases that start from noise."""
