"""Strategies: which positions of a canvas a denoise step reveals or reopens."""
