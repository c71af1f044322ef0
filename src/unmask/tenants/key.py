"""A key as it is kept: all but its secret."""

from dataclasses import dataclass
from enum import StrEnum

from unmask.tenants.quota import Quota
from unmask.tenants.role import KeyRole


class KeyState(StrEnum):
    """Whether a key is in force."""

    ACTIVE = "active"
    EXPIRED = "expired"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key.

    Attributes:
        public_id: what it is called wherever it is named.
        name: who or what holds it; what a person approves is signed with it.
        classes: service classes that it may use, of those of its tenant; ``None`` for all of them.
        default_task: task type of requests that name none.
        quotas: limits on the use of this key.
        created: seconds since 1970, as all times here.
        expires: from when on it is no longer in force; ``None`` for never.
        disabled: since when it is not.
    """

    public_id: str
    tenant: str
    name: str
    roles: tuple[KeyRole, ...]
    classes: tuple[str, ...] | None = None
    default_task: str | None = None
    quotas: tuple[Quota, ...] = ()
    created: float
    expires: float | None = None
    disabled: float | None = None

    def state(self, now: float) -> KeyState:
        """Return whether it is in force, its tenant aside."""
        if self.disabled is not None:
            return KeyState.DISABLED
        return KeyState.EXPIRED if self.expires is not None and self.expires <= now else KeyState.ACTIVE
