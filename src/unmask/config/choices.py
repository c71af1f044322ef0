"""What settings may be one of."""

from enum import StrEnum


class KeyMode(StrEnum):
    """Whether requests need a key."""

    OFF = "off"
    REQUIRED = "required"


class Switch(StrEnum):
    """Whether something is done."""

    OFF = "off"
    ON = "on"


class CacheMode(StrEnum):
    """Which requests may be answered as one before: none, the very same, or also those that ask the same."""

    OFF = "off"
    EXACT = "exact"
    SEMANTIC = "semantic"
