"""Verifies a folder of policies: the chain of its log, the acts in it, and every file that it names."""

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.errors import UnmaskError
from unmask.policy.errors import PolicyActError, PolicyTamperedError
from unmask.policy.log import ORIGIN, Act, Entry, Log, torn_message
from unmask.policy.replay import parse_replay
from unmask.policy.standing import Standing
from unmask.policy.store import PolicyStore
from unmask.policy.submission import check_submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a folder's audit found.

    Attributes:
        head: digest of the last entry that is whole and in its place. Noted elsewhere, it later shows whether
            entries were taken off the end.
        faults: what is not as it was written; none in a sound folder.
        notes: what is sound and worth knowing: self-approvals, files that no entry names.
    """

    entries: int
    policies: int
    head: str
    faults: tuple[str, ...]
    notes: tuple[str, ...]


def audit(store: PolicyStore, *, head: str | None = None) -> Audit:
    """Verify one folder; those beneath it have an audit of their own.

    Args:
        store: the folder.
        head: digest of an entry that was noted earlier and has to be in the log still.

    Raises:
        PolicyStoreError: the folder cannot be read.
    """
    try:
        log = store.log()
    except PolicyTamperedError as error:
        return Audit(entries=0, policies=0, head=ORIGIN, faults=(error.message,), notes=())
    faults = [torn_message(store.log_path, log)] if log.torn else []
    if head is not None and head not in {ORIGIN, *(entry.digest for entry in log.entries)}:
        faults.append(f"no entry has the digest {head[:64]}: entries were taken off the end, or the log is another one")
    standing, acts = _acts(store, log)
    faults += acts
    faults += _files(store, log)
    return Audit(
        entries=len(log.entries),
        policies=len(standing.lives),
        head=log.head,
        faults=tuple(dict.fromkeys(faults)),
        notes=(*_self_approvals(log), *_strays(store, log)),
    )


def _acts(store: PolicyStore, log: Log) -> tuple[Standing, list[str]]:
    """Do every act again; an entry that was not allowed ends it, as what follows rests on it."""
    standing = Standing()
    faults: list[str] = []
    for entry in log.entries:
        try:
            after = standing.after(entry.deed, entry.signature)
        except PolicyActError as error:
            return standing, [*faults, f"entry {entry.number} is of an act that was not allowed: {error.message}"]
        if entry.deed.act is Act.SUBMIT:
            faults += [f"entry {entry.number}: {fault}" for fault in _submission(store, standing, entry)]
        standing = after
    return standing, faults


def _submission(store: PolicyStore, standing: Standing, entry: Entry) -> Iterator[str]:
    deed = entry.deed
    try:
        # What was beneath may have left with an older version of the package; its own files are always here.
        active = standing.active(deed.model, deed.model_digest)
        is_here = deed.against is not None and (active is not None or store.has(deed.against))
        old = store.policy(deed.against) if is_here and deed.against is not None else None
        replay = None if deed.evidence is None else parse_replay(store.content("evidence", deed.evidence))
        check_submission(store.policy(deed.policy), deed, entry.signature, active=active, old=old, replay=replay)
    except UnmaskError as error:
        yield error.message


def _files(store: PolicyStore, log: Log) -> Iterator[str]:
    submitted = {entry.deed.policy for entry in log.entries if entry.deed.act is Act.SUBMIT}
    for digest in dict.fromkeys(entry.deed.policy for entry in log.entries):
        try:
            store.content("policies", digest)
            if digest in submitted:
                store.check_parts(store.policy(digest))
        except UnmaskError as error:
            yield error.message


def _self_approvals(log: Log) -> Iterator[str]:
    for entry in log.entries:
        if entry.deed.self_approval:
            yield f"entry {entry.number}: {entry.signature.actor} approved a policy of their own (--solo)"


def _strays(store: PolicyStore, log: Log) -> Iterator[str]:
    named = {f"policies/{entry.deed.policy}.json" for entry in log.entries}
    named |= {f"evidence/{entry.deed.evidence}.json" for entry in log.entries if entry.deed.evidence is not None}
    for kind in ("policies", "evidence"):
        for path in sorted((store.folder / kind).glob("*")):
            if f"{kind}/{path.name}" not in named:
                yield f"{kind}/{path.name} is named by no entry, and is never used"
