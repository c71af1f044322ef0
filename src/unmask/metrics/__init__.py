"""What is counted and measured while serving, in the form that Prometheus reads."""
