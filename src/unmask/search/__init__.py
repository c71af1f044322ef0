"""Inference-time scaling: steps beyond one answer's, spent on finding a better one. Coroutines over a backend."""
