"""From what a request carries to who makes it."""

import asyncio
import hmac
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from unmask.clock import Clock
from unmask.database.errors import DatabaseUnavailableError
from unmask.tenants.errors import KeyRefusedError, KeysUnavailableError, PepperError
from unmask.tenants.key import KeyState
from unmask.tenants.overview import Overview
from unmask.tenants.pepper import DIGEST_BYTES, Pepper
from unmask.tenants.principal import Principal, principal_of
from unmask.tenants.store import Found, TenantStore
from unmask.tenants.token import parse

FRESH_S = 2.0
"""For so long a verdict is not asked for again: a key that is disabled stops within this time."""
MOST_VERDICTS = 4_096
RETRY_AFTER_S = 1.0
_NO_DIGEST = bytes(DIGEST_BYTES)
_Told = TypeVar("_Told")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """What was found of a token, and when it was looked for: its key, or nothing where it opens none."""

    found: Found | None
    at: float


class Authenticator:
    """Tells who holds a token, and what their tenant has; one for a server, on its event loop.

    Whatever is wrong with a token, the same is done: it is hashed, its id is looked for, a digest is compared, and the
    verdict is kept. So neither the answer nor the time it takes says whether a key exists.

    Args:
        store: of keys; it is asked in a thread of the loop's own.
        pepper: what tokens are hashed with.
        clock: ages verdicts.
        now: seconds since 1970, for keys that expire.
    """

    def __init__(
        self,
        store: TenantStore,
        pepper: Pepper,
        *,
        clock: Clock,
        now: Callable[[], float],
        fresh_s: float = FRESH_S,
        most: int = MOST_VERDICTS,
    ) -> None:
        self._store = store
        self._pepper = pepper
        self._clock = clock
        self._now = now
        self._fresh_s = fresh_s
        self._most = most
        # By id and digest: by id alone, whoever knows a key's id would be taken for its holder.
        # Apart, so that a flood of wrong tokens drives no right one out.
        self._right: OrderedDict[tuple[str, bytes], _Verdict] = OrderedDict()
        self._wrong: OrderedDict[tuple[str, bytes], _Verdict] = OrderedDict()

    async def authenticate(self, text: str) -> Principal:
        """Return who holds a token.

        Raises:
            KeyRefusedError: it opens nothing, whatever the reason.
            KeysUnavailableError: the database does not answer.
        """
        token = parse(text)
        digest = self._pepper.digest(token)
        at = (token.public_id, digest)
        begun = self._clock.now()
        verdict = self._right.get(at) or self._wrong.get(at)
        if verdict is None or begun - verdict.at >= self._fresh_s:
            verdict = self._keep(at, _Verdict(found=await self._look(token.public_id, digest), at=begun))
        found = verdict.found
        # A key may expire while its verdict is kept.
        if found is None or not _is_in_force(found, self._now()):
            raise KeyRefusedError
        return principal_of(found.key, found.tenant)

    def knows(self, text: str) -> bool:
        """Tell whether a token was found to be a key's when it was last looked for, however long ago that is."""
        token = parse(text)
        return (token.public_id, self._pepper.digest(token)) in self._right

    async def overview(self, tenant: str) -> Overview:
        """Return what a tenant has, as it is now.

        Raises:
            KeysUnavailableError: the database does not answer.
        """
        found = await self._asked(partial(self._store.tenant, tenant))
        keys = await self._asked(partial(self._store.keys, tenant))
        return Overview(tenant=found, keys=keys, now=self._now())

    async def _look(self, public_id: str, digest: bytes) -> Found | None:
        found = await self._asked(partial(self._store.find, public_id))
        is_right = hmac.compare_digest(digest, _NO_DIGEST if found is None else found.digest)
        return found if is_right and found is not None else None

    async def _asked(self, ask: Callable[[], _Told]) -> _Told:
        """Ask the store without holding up the loop."""
        try:
            return await asyncio.get_running_loop().run_in_executor(None, ask)
        except DatabaseUnavailableError as error:
            _LOG.exception("keys cannot be looked up")
            raise KeysUnavailableError(RETRY_AFTER_S) from error

    def _keep(self, at: tuple[str, bytes], verdict: _Verdict) -> _Verdict:
        kept, other = (self._wrong, self._right) if verdict.found is None else (self._right, self._wrong)
        other.pop(at, None)
        kept[at] = verdict
        kept.move_to_end(at)
        while len(kept) > self._most:
            kept.popitem(last=False)
        return verdict


def _is_in_force(found: Found, now: float) -> bool:
    return found.tenant.disabled is None and found.key.state(now) is KeyState.ACTIVE


def open_authenticator(store: TenantStore, pepper: Pepper, *, clock: Clock, now: Callable[[], float]) -> Authenticator:
    """Return the authenticator of a server.

    Raises:
        PepperError: keys are there, and none was made with this pepper, so that every one would be refused.
        DatabaseUnavailableError: the database does not answer.
    """
    made_with = store.peppers()
    if made_with and pepper.fingerprint not in made_with:
        raise PepperError(
            f"pepper_file holds the pepper {pepper.fingerprint}, allowed: {', '.join(sorted(made_with))}, which the "
            "keys in the database were made with. Put back the file that was there, or make all keys anew.",
            param="pepper_file",
        )
    return Authenticator(store, pepper, clock=clock, now=now)
