"""The log of a folder of policies: one JSON line an act, each holding the digest of the line before it.

A chain of digests in the manner of Haber and Stornetta, "How to time-stamp a digital document" (1991): to change an
entry unseen one has to rewrite all that follow, and the last digest, noted elsewhere, then no longer occurs.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints, ValidationError

from unmask.errors import ConfigError, shown
from unmask.policy.digest import canonical_document, content_digest
from unmask.policy.errors import PolicyTamperedError
from unmask.policy.schema import Digest, Document, Name

ORIGIN = "0" * 64
"""What the first entry holds in place of the digest of one before it."""
LONGEST_NAME = 128
LONGEST_NOTE = 2_000

_PRINTABLE = r"[^\x00-\x1f\x7f-\x9f]"
FullDigest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class Act(StrEnum):
    """What may be done with a policy."""

    PROPOSE = "propose"
    SUBMIT = "submit"
    APPROVE = "approve"
    REJECT = "reject"
    PROMOTE = "promote"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Who acts, when (with a time zone), and what they have to say."""

    actor: str
    time: datetime
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What is done with which policy.

    Attributes:
        policy: its digest.
        against: of a submission, digest of the policy that was active, which it was compared with.
        evidence: digest of the replay handed in with a submission.
        self_approval: of an approval, whether the actor is one of the policy's authors.
    """

    act: Act
    policy: str
    model: str
    model_digest: str
    against: str | None = None
    evidence: str | None = None
    self_approval: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: ``digest`` is that of all the rest of it, ``previous`` that of the line before."""

    number: int
    deed: Deed
    signature: Signature
    previous: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The whole lines of a log, and the bytes of a last one that a writer which died did not finish."""

    entries: tuple[Entry, ...]
    torn: bytes

    @property
    def head(self) -> str:
        """Digest of the last entry."""
        return self.entries[-1].digest if self.entries else ORIGIN


class EntryDocument(Document):
    """An entry as it is digested."""

    number: Annotated[int, Field(ge=1)]
    time: AwareDatetime
    actor: Annotated[str, StringConstraints(pattern=f"^{_PRINTABLE}{{1,{LONGEST_NAME}}}$")]
    act: Act
    policy: FullDigest
    model: Name
    model_digest: Digest
    note: Annotated[str, StringConstraints(pattern=f"^{_PRINTABLE}{{0,{LONGEST_NOTE}}}$")]
    self_approval: bool
    against: FullDigest | None = None
    evidence: FullDigest | None = None
    previous: FullDigest


class SealedDocument(EntryDocument):
    """An entry as it is written: with its digest."""

    digest: FullDigest


def next_entry(log: Log, deed: Deed, signature: Signature) -> Entry:
    """Return the entry that a deed would add.

    Raises:
        ConfigError: the actor's name or the note cannot stand in a log.
    """
    bare = Entry(
        number=len(log.entries) + 1,
        deed=deed,
        signature=Signature(actor=signature.actor, time=signature.time.astimezone(UTC), note=signature.note),
        previous=log.head,
        digest="",
    )
    try:
        document = _document(bare)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)[0]
        name = str(found["loc"][0])
        raise ConfigError(
            f"{name} is {shown(found['input'])}, allowed: one line, for an actor of 1 to {LONGEST_NAME} characters, "
            f"for a note of up to {LONGEST_NOTE}. Shorten it.",
            param=name,
        ) from error
    return Entry(
        number=bare.number,
        deed=deed,
        signature=bare.signature,
        previous=bare.previous,
        digest=content_digest(canonical_document(document)),
    )


def entry_line(entry: Entry) -> bytes:
    """Write an entry as its line, line feed included."""
    sealed = SealedDocument(**dict(_document(entry)), digest=entry.digest)
    return canonical_document(sealed) + b"\n"


def parse_log(content: bytes) -> Log:
    """Read a log, and verify that each entry is whole and follows the one before.

    Raises:
        PolicyTamperedError: names the first entry that is not what was written.
    """
    *lines, torn = content.split(b"\n")
    entries: list[Entry] = []
    previous = ORIGIN
    for number, line in enumerate(lines, 1):
        entry = _parse(number, line)
        if entry.previous != previous:
            raise _broken(number, "it does not follow the entry before it, which was changed or removed")
        previous = entry.digest
        entries.append(entry)
    return Log(entries=tuple(entries), torn=torn)


def torn_message(path: Path, log: Log) -> str:
    """Say that a log ends in the middle of a line."""
    return (
        f"{path} ends in {len(log.torn)} bytes of an entry that was never finished, so that act did not happen; "
        "`unmask policy audit --repair` removes them"
    )


def _parse(number: int, line: bytes) -> Entry:
    try:
        sealed = SealedDocument.model_validate_json(line)
    except ValidationError as error:
        raise _broken(number, "it is not an entry's line") from error
    entry = Entry(
        number=sealed.number,
        deed=Deed(
            act=sealed.act,
            policy=sealed.policy,
            model=sealed.model,
            model_digest=sealed.model_digest,
            against=sealed.against,
            evidence=sealed.evidence,
            self_approval=sealed.self_approval,
        ),
        signature=Signature(actor=sealed.actor, time=sealed.time, note=sealed.note),
        previous=sealed.previous,
        digest=sealed.digest,
    )
    if sealed.number != number:
        raise _broken(number, f"it says that it is number {sealed.number}")
    if entry.digest != content_digest(canonical_document(_document(entry))) or entry_line(entry) != line + b"\n":
        raise _broken(number, "it was changed after it was written: its digest is of other words")
    return entry


def _document(entry: Entry) -> EntryDocument:
    deed, signature = entry.deed, entry.signature
    return EntryDocument(
        number=entry.number,
        time=signature.time,
        actor=signature.actor,
        act=deed.act,
        policy=deed.policy,
        model=deed.model,
        model_digest=deed.model_digest,
        note=signature.note,
        self_approval=deed.self_approval,
        against=deed.against,
        evidence=deed.evidence,
        previous=entry.previous,
    )


def _broken(number: int, reason: str) -> PolicyTamperedError:
    return PolicyTamperedError(
        f"entry {number} of the policies' log is broken: {reason}. Find out who wrote to the folder, and take the log "
        "from a backup; until then no policy of it is used"
    )
