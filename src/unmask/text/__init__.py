"""Text in and out of token ids."""
