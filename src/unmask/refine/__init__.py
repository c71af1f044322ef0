"""Prompt refinement: what a prompt says twice, or says nothing with, is cut out, and can be put back."""
