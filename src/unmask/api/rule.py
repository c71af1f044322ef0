"""What is allowed of a field, in words."""

from typing import NamedTuple


class Rule(NamedTuple):
    """What is allowed, and what to do about a value that is not."""

    allowed: str
    fix: str
