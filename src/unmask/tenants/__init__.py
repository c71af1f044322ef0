"""Who may use a server: tenants, their keys and limits, and whether traffic looks like its service class."""
