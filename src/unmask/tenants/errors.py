"""What can be wrong with keys and tenants."""

from collections.abc import Iterable

from unmask.errors import ConfigError, InvalidRequestError, RetryLaterError, UnmaskError, shown

REFUSED = (
    "This API key is not valid here. Send one that is, as `Authorization: Bearer um-...`; `unmask keys list` shows "
    "which are in force."
)


class KeyRefusedError(UnmaskError):
    """A request's key opens nothing: unknown, wrong, disabled and expired keys are told apart by nobody."""

    def __init__(self) -> None:
        super().__init__(REFUSED)
        self.args = ()


class WrongKeysError(RetryLaterError):
    """Too many wrong keys came from a client's address, so that for a while none is looked for."""

    def __init__(self, limit: int, *, retry_after_s: float) -> None:
        super().__init__(
            f"{limit} wrong API keys came from your address within a minute, and none is looked at until it is over. "
            f"Send a right one in {retry_after_s:.0f} s.",
            retry_after_s=retry_after_s,
        )
        self.args = (limit,)


class KeyMissingError(UnmaskError):
    """A request carries no key, or none in the form that keys are sent in."""

    def __init__(self) -> None:
        super().__init__("This server asks for an API key. Send one as `Authorization: Bearer um-...`, once.")
        self.args = ()


class RoleError(UnmaskError):
    """A key is in force and lacks the role that is asked for."""

    def __init__(self, needed: Iterable[str], held: Iterable[str]) -> None:
        roles = tuple(needed)
        super().__init__(
            f"The key's roles are {', '.join(held) or 'none'}, allowed: {' or '.join(roles)}. "
            "Use a key with this role, or have one made with: unmask keys create --role."
        )
        self.args = (roles,)


class KeysUnavailableError(RetryLaterError):
    """The database of keys cannot be asked at present, so nobody is let in; why is for the log alone."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(
            "The server cannot look up API keys at present. Send the request again later.", retry_after_s=retry_after_s
        )
        self.args = (retry_after_s,)


class TenantActError(InvalidRequestError):
    """What is to be done to a key or tenant cannot be: there is none of that name, or there is one already."""


class PepperError(ConfigError):
    """The file of the pepper cannot be read, may be read by others, or is not the one that keys were made with."""


def no_key(public_id: str) -> TenantActError:
    """Return the error for a key that does not exist; a secret sent in place of an id is not repeated."""
    said = "a whole key, secret and all" if public_id.startswith("um-") else public_id
    return TenantActError(
        "key", said, "the 12 characters between um- and the next -", "`unmask keys list` shows them all."
    )


def no_tenant(name: str) -> TenantActError:
    """Return the error for a tenant that does not exist."""
    return TenantActError(
        "tenant", name, "a tenant's name", f"Make it with: unmask tenants create {shown(name).strip(chr(39))}."
    )
