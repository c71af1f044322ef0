"""Whose request it is."""

from dataclasses import dataclass

PLATFORM = "platform"
"""Who pays for what is charged to nobody; no tenant may have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whom a request is booked to.

    Attributes:
        tenant: name of the tenant; empty where the server has no keys.
        key: public id of the key it came with; empty where there is none.
        user: the end user that the request names, in the tenant's own words.
        tags: names that the tenant gives to its requests, to be told apart in reports.
    """

    tenant: str = ""
    key: str = ""
    user: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert self.tenant != PLATFORM, "nobody else is called so"
