"""Settings of a server: read once, validated once, frozen."""

from unmask.config.settings import Settings

__all__ = ["Settings"]
