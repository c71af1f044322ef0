"""HTTP in and out: parses requests, answers them, and says what an outcome or error means as a status."""
