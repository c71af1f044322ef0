"""Gateways and engines as processes of a Ray cluster; only what is named `ray_*` imports Ray."""
