"""Gate runs as jobs of a service that starts a container, lets it work and takes it down."""
