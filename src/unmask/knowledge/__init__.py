"""What a model is told: typed worlds of facts, and which of them a question needs."""
