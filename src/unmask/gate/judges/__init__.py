"""Judges: models that are asked about an answer by a rubric, several times, and whose every reply is kept."""
