"""Backends that are other servers, reached over HTTP."""
