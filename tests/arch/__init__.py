"""Rules the code base holds itself to."""
