"""DiffusionGemma, run through the modules of transformers."""
