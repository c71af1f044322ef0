"""Canvases of models without masks: they start from noise, and every step draws anew what it is not sure of."""
