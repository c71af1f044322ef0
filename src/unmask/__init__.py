"""Serve diffusion language models on a step budget."""
