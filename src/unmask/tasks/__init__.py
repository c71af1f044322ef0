"""Task types: generators, exact checkers and serving-time verifiers."""
