"""The request's story around a backend: task type, difficulty, budget, exit rule, and the controls behind it."""
