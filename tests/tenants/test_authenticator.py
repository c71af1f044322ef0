"""Behaviour of `unmask.tenants.authenticator`."""

import asyncio
import hmac
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from unmask.database.errors import DatabaseUnavailableError
from unmask.tenants.authenticator import FRESH_S, Authenticator, open_authenticator
from unmask.tenants.errors import REFUSED, KeyRefusedError, KeysUnavailableError, PepperError
from unmask.tenants.pepper import PEPPER_BYTES, Pepper
from unmask.tenants.principal import Principal
from unmask.tenants.store import Found, TenantStore
from unmask.tenants.token import NOBODY, SECRET_LENGTH, Token
from unmask.testing.manual_clock import ManualClock
from unmask.testing.tenants import NOW, PEPPER, make_key, make_tenant

TOKEN = Token(public_id="aaaaaaaaaaaa", secret="s" * SECRET_LENGTH)
WRONG = replace(TOKEN, secret="t" * SECRET_LENGTH)
COMPARE = hmac.compare_digest
UNKNOWN = replace(TOKEN, public_id="bbbbbbbbbbbb")


class CountingStore(TenantStore):
    """Counts how often keys are looked for, and may be gone."""

    def __init__(self, store: TenantStore) -> None:
        super().__init__(store._engine)
        self.looks: list[str] = []
        self.is_gone = False

    def find(self, public_id: str) -> Found | None:
        """Look for a key."""
        self.looks.append(public_id)
        if self.is_gone:
            raise DatabaseUnavailableError("could not connect to postgresql://user:secret@host")
        return super().find(public_id)


class Door:
    """An authenticator with one key, and a clock that a test moves."""

    def __init__(self, store: TenantStore, **changes: Any) -> None:  # noqa: ANN401 - any field of the key
        self.store = CountingStore(store)
        self.store.create_key(make_key(**changes), TOKEN, PEPPER)
        self.clock = ManualClock()
        self.now = NOW
        self.door = Authenticator(self.store, PEPPER, clock=self.clock, now=lambda: self.now)

    async def knock(self, text: str = TOKEN.text) -> Principal:
        """Return who is let in."""
        return await self.door.authenticate(text)

    async def is_shut(self, text: str = TOKEN.text) -> bool:
        """Tell whether nobody is, and is told so in the one way that there is."""
        try:
            await self.knock(text)
        except KeyRefusedError as error:
            return str(error) == REFUSED
        return False


async def test_a_key_in_force_says_who_it_is(store: TenantStore) -> None:
    """With all that its key and its tenant allow."""
    store.allow_tenant("acme", ("batch",))
    principal = await Door(store, default_task="sort").knock()

    assert (principal.tenant, principal.key, principal.name) == ("acme", "aaaaaaaaaaaa", "ann")
    assert (principal.classes, principal.default_task) == (("batch",), "sort")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "um",
        WRONG.text,
        UNKNOWN.text,
        NOBODY.text,
        TOKEN.text.upper(),
        TOKEN.text + " ",
        f"um-{TOKEN.public_id}-",
        f"um-' OR 1=1 --{'a' * 45}",
        "\x00",
        "é" * 59,
    ],
)
async def test_bad_keys_are_refused_alike(store: TenantStore, text: str) -> None:
    """One message for all, which repeats nothing of what was sent."""
    door = Door(store)

    assert await door.is_shut(text)
    assert not await door.is_shut()


async def test_keys_out_of_force_are_refused_alike(store: TenantStore) -> None:
    """Disabled, expired, or of a disabled tenant."""
    door = Door(store, expires=NOW + 10)
    store.disable_tenant("acme", NOW)
    assert await door.is_shut()
    store.disable_tenant("acme", None)
    door.clock.advance(FRESH_S)
    assert not await door.is_shut()
    door.now += 10
    assert await door.is_shut()
    door.now -= 1
    assert not await door.is_shut()
    store.disable_key("aaaaaaaaaaaa", NOW)
    door.clock.advance(FRESH_S)
    assert await door.is_shut()


async def test_every_refusal_takes_the_same_steps(store: TenantStore) -> None:
    """A hash, a look, a comparison of 32 bytes; again within moments, the hash alone. So time says nothing."""
    door = Door(store)
    store.disable_key("aaaaaaaaaaaa", NOW)
    steps: dict[str, list[object]] = {}
    for name, text in {
        "disabled": TOKEN.text,
        "wrong": WRONG.text,
        "unknown": UNKNOWN.text,
        "none": "no key at all",
    }.items():
        compared: list[tuple[int, int]] = []

        def compare(a: bytes, b: bytes, seen: list[tuple[int, int]] = compared) -> bool:
            seen.append((len(a), len(b)))
            return COMPARE(a, b)

        with (
            patch.object(Pepper, "digest", autospec=True, side_effect=Pepper.digest) as digest,
            patch.object(hmac, "compare_digest", compare),
        ):
            before = len(door.store.looks)
            assert await door.is_shut(text)
            assert await door.is_shut(text)
            steps[name] = [digest.call_count, len(door.store.looks) - before, compared]

    assert steps["unknown"] == [2, 1, [(32, 32)]]
    assert steps["disabled"] == steps["wrong"] == steps["none"] == steps["unknown"]


async def test_a_disabled_key_stops_within_seconds(store: TenantStore) -> None:
    """A verdict is kept for moments only, also one of a key that is used all the time."""
    door = Door(store)
    await door.knock()
    store.disable_key("aaaaaaaaaaaa", NOW)
    for _ in range(19):
        door.clock.advance(FRESH_S / 20)
        assert not await door.is_shut()
    door.clock.advance(FRESH_S / 20)

    assert await door.is_shut()
    assert FRESH_S <= 5


async def test_a_verdict_ages_from_before_the_look(store: TenantStore) -> None:
    """A look that takes long may have seen the key before it was disabled."""
    door = Door(store)

    def slow(public_id: str) -> Found | None:
        found = TenantStore.find(door.store, public_id)
        door.clock.advance(FRESH_S)
        return found

    with patch.object(door.store, "find", slow):
        await door.knock()
    store.disable_key("aaaaaaaaaaaa", NOW)

    assert await door.is_shut()


async def test_a_verdict_is_kept_for_its_very_token(store: TenantStore) -> None:
    """The id alone, which anybody may know, opens nothing while its holder is at work."""
    door = Door(store)
    await door.knock()

    assert await door.is_shut(WRONG.text)
    assert await door.is_shut(replace(TOKEN, secret=TOKEN.secret[:-1] + "S").text)
    assert not await door.is_shut()
    assert door.store.looks == ["aaaaaaaaaaaa"] * 3


async def test_verdicts_do_not_pile_up(store: TenantStore) -> None:
    """Whoever tries keys by the thousand fills no memory and drives out none that is right; the newest stay."""
    door = Door(store)
    few = Authenticator(door.store, PEPPER, clock=door.clock, now=lambda: NOW, most=2)
    await few.authenticate(TOKEN.text)
    for _ in range(3):
        for number in range(5):
            with pytest.raises(KeyRefusedError):
                await few.authenticate(replace(WRONG, public_id=f"{number:012}").text)

    assert (len(few._right), len(few._wrong)) == (1, 2)
    assert len(door.store.looks) == 16
    await few.authenticate(TOKEN.text)
    assert len(door.store.looks) == 16


async def test_a_key_is_known_once_it_was_found(store: TenantStore) -> None:
    """However long ago, and nobody looks for it to say so; a right id with another secret is not."""
    door = Door(store)
    assert not door.door.knows(TOKEN.text)
    assert not await door.is_shut()
    assert await door.is_shut(WRONG.text)
    door.clock.advance(10 * FRESH_S)

    assert door.door.knows(TOKEN.text)
    assert not door.door.knows(WRONG.text)
    assert len(door.store.looks) == 2


async def test_a_look_does_not_hold_up_others(store: TenantStore) -> None:
    """The loop goes on while the database thinks."""
    door = Door(store)
    loop = asyncio.get_running_loop()
    reached, go_on = asyncio.Event(), asyncio.Event()

    def slow(public_id: str) -> Found | None:
        loop.call_soon_threadsafe(reached.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(5)
        return TenantStore.find(door.store, public_id)

    with patch.object(door.store, "find", slow):
        waiting = asyncio.create_task(door.knock())
        await reached.wait()
        assert not waiting.done()
        go_on.set()

        assert (await waiting).tenant == "acme"


async def test_nobody_is_let_in_while_the_database_is_gone(
    store: TenantStore, caplog: pytest.LogCaptureFixture
) -> None:
    """It says to come again, and keeps to the log where the database is; afterwards all is as before."""
    door = Door(store)
    door.store.is_gone = True
    with pytest.raises(KeysUnavailableError) as caught:
        await door.knock()
    door.store.is_gone = False

    assert caught.value.retry_after_s == 1
    assert "postgresql" not in str(caught.value)
    assert "postgresql" in caplog.text
    assert (await door.knock()).tenant == "acme"


async def test_another_pepper_opens_nothing(store: TenantStore) -> None:
    """Who has the table of keys, and not the pepper, has nothing."""
    door = Door(store)
    other = Pepper(secret=b"q" * PEPPER_BYTES)
    with pytest.raises(KeyRefusedError):
        await Authenticator(door.store, other, clock=door.clock, now=lambda: NOW).authenticate(TOKEN.text)


def test_a_lost_pepper_is_told_before_every_key_is_refused(store: TenantStore) -> None:
    """A server that would refuse all of its keys does not start; one without keys does."""
    other = Pepper(secret=b"q" * PEPPER_BYTES)
    open_authenticator(store, other, clock=ManualClock(), now=lambda: NOW)
    Door(store)
    open_authenticator(store, PEPPER, clock=ManualClock(), now=lambda: NOW)

    with pytest.raises(PepperError, match=f"{other.fingerprint}, allowed: {PEPPER.fingerprint}"):
        open_authenticator(store, other, clock=ManualClock(), now=lambda: NOW)


async def test_changes_of_a_tenant_reach_its_keys(store: TenantStore) -> None:
    """Limits, classes and the tenant's end are looked up anew with the key."""
    door = Door(store)
    assert (await door.knock()).classes is None
    store.allow_tenant("acme", ("batch",))
    door.clock.advance(FRESH_S)

    assert (await door.knock()).classes == ("batch",)
    assert make_tenant().classes is None
