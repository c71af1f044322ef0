"""One model on several replicas: chooses the one that a request goes to."""
