"""The log of looks: which run of which system was looked at under which gate and scoring, in a chain of digests.

To run until it passes, or to change a threshold until it does, needs looks that nobody counts. So each is a line that
holds the digest of the line before, as in the log of policies, and stays.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints, ValidationError

from unmask.gate.decide import ScoredRun, check_decidable, decide
from unmask.gate.decide_errors import LookLogError, SeenScenariosError
from unmask.gate.gate_file import Gate
from unmask.gate.kept import Kept, kept_of
from unmask.gate.response import Binding, System
from unmask.gate.verdict import GateReport, Look, Verdict
from unmask.policy.digest import canonical, canonical_document, content_digest
from unmask.policy.disk import SystemDisk, append, read_bytes
from unmask.policy.errors import PolicyStoreError
from unmask.policy.lock import locked
from unmask.policy.log import ORIGIN, FullDigest
from unmask.policy.schema import Document

LOG_NAME = "looks.jsonl"
LOCK_SECONDS = 10.0
SHOWN = 3

Text = Annotated[str, StringConstraints(min_length=1)]


class LookEntry(Document):
    """A line as it is digested.

    Attributes:
        system: digest of `system_digest`; ``policy`` is the budget policy that it ran under.
        run: its name, and ``started``, without which a folder that is emptied and filled again would be one run.
        look: which one it is of its system on the family, from 0.
        answers: the lines of answers that it was decided on; ``votes`` those of judges.
        scenarios: ids of those that had an answer, sorted.
    """

    number: Annotated[int, Field(ge=1)]
    time: AwareDatetime
    family: Text
    system: FullDigest
    model_digest: Text
    policy: str | None = None
    run: Text
    started: str
    suite: Text
    gate: FullDigest
    scorer: Text
    exploratory: bool
    look: Annotated[int, Field(ge=0)]
    answers: Kept
    votes: Kept
    verdict: Verdict
    scenarios: tuple[str, ...]
    previous: FullDigest


class SealedEntry(LookEntry):
    """A line as it is written."""

    digest: FullDigest


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """All looks there were."""

    entries: tuple[SealedEntry, ...]

    @property
    def head(self) -> str:
        """Digest of the last entry."""
        return self.entries[-1].digest if self.entries else ORIGIN

    def look_for(self, run: ScoredRun, gate: Gate, *, exploratory: bool = False) -> Look:
        """Return which look a run is: the one that it was before, or the next of its system on its suite family.

        It is no longer the one that it was before where answers or votes were taken out: who has them given again
        until they suit looks again each time.

        Raises:
            SeenScenariosError: its scenarios were first seen under another gate or scoring.
        """
        if not exploratory:
            self.refuse_changes(run.binding.family, run.seen, gate, run.scorer)
        key = system_digest(run.model)
        known = [entry for entry in self.entries if entry.family == run.binding.family and entry.system == key]
        own = [entry.look for entry in known if _is_of(entry, run)]
        number = own[-1] if own else max((entry.look for entry in known), default=-1) + 1
        return Look(number=number, exploratory=exploratory)

    def passed(self, run: Binding, policy: str) -> SealedEntry | None:
        """Return the last decision on a run if it decided something, is a PASS, and is bound to a policy."""
        own = (run.family, run.run, run.started)
        found = [
            entry for entry in self.entries if (entry.family, entry.run, entry.started) == own and not entry.exploratory
        ]
        if not found or found[-1].policy != policy or found[-1].verdict is not Verdict.PASS:
            return None
        return found[-1]

    def refuse_changes(self, family: str, scenarios: AbstractSet[str], gate: Gate, scorer: str) -> None:
        """Make sure that nothing was changed since answers were seen, which is known before any is asked for.

        Raises:
            SeenScenariosError: some were first seen under another gate or scoring.
        """
        first = self._first_seen(family)
        now = {"gate": gate.digest, "scoring": scorer}
        for what, digest in now.items():
            changed = sorted(name for name in scenarios if name in first and first[name][what] != digest)
            if changed:
                names = ", ".join(changed[:SHOWN])
                raise SeenScenariosError(
                    f"answers to {len(changed)} of {len(scenarios)} scenarios ({names}, ...) were first seen under "
                    f"another {what} ({first[changed[0]][what][:12]}, now {digest[:12]}): a threshold, row or rubric "
                    "that is changed once answers are known decides nothing on them. Take fresh scenarios, or look "
                    "with --exploratory"
                )

    def _first_seen(self, family: str) -> Mapping[str, Mapping[str, str]]:
        first: dict[str, Mapping[str, str]] = {}
        for entry in self.entries:
            if entry.family == family:
                for name in entry.scenarios:
                    first.setdefault(name, {"gate": entry.gate, "scoring": entry.scorer})
        return first


def system_digest(system: System) -> str:
    """Return the digest of what makes a system the same at every look: weights, policy and mode.

    Not its settings, nor how facts are retrieved: who changes those until the same scenarios pass looks at them again
    and again.
    """
    return content_digest(canonical([system.digest, system.policy, system.mode]))


class LookLog:
    """The log in a folder; several processes may write it.

    Raises:
        LookLogError: by every method: it cannot be read or written, or is not what was written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG_NAME

    def read(self) -> Looks:
        """Return all looks."""
        try:
            content = read_bytes(self.path) or b""
        except PolicyStoreError as error:
            raise LookLogError(error.message) from error
        *lines, torn = content.split(b"\n")
        if torn:
            raise LookLogError(f"{self.path} ends in half a line, of a writer that died; remove that line")
        entries: list[SealedEntry] = []
        previous = ORIGIN
        for number, line in enumerate(lines, 1):
            entry = _parse(self.path, number, line, previous)
            entries.append(entry)
            previous = entry.digest
        return Looks(entries=tuple(entries))

    def record(self, run: ScoredRun, gate: Gate, now: datetime, *, exploratory: bool = False) -> GateReport:
        """Decide on a run and put that on record, all while nobody else does; the same decision is not written twice.

        Raises:
            SeenScenariosError: as `Looks.look_for`; nothing is decided then, and nothing written.
            UndecidableError: as `unmask.gate.decide.check_decidable`.
        """
        try:
            with locked(self.path.parent, LOCK_SECONDS, "--looks"):
                looks = self.read()
                check_decidable(run)
                report = decide(run, gate, looks.look_for(run, gate, exploratory=exploratory), now)
                entry = _entry(looks, run, report)
                if not any(_same(entry, earlier) for earlier in looks.entries):
                    append(SystemDisk(), self.path, canonical_document(_sealed(entry)) + b"\n")
        except PolicyStoreError as error:
            raise LookLogError(error.message) from error
        return report


def _entry(looks: Looks, run: ScoredRun, report: GateReport) -> LookEntry:
    return LookEntry.model_validate(
        {
            "number": len(looks.entries) + 1,
            "time": datetime.fromisoformat(report.decided),
            "family": run.binding.family,
            "system": system_digest(run.model),
            "model_digest": run.model.digest,
            "policy": run.model.policy,
            "run": run.binding.run,
            "started": run.binding.started,
            "suite": run.binding.suite,
            "gate": report.gate.digest,
            "scorer": run.scorer,
            "exploratory": report.look.exploratory,
            "look": report.look.number,
            "answers": kept_of(run.answers),
            "votes": kept_of(run.votes),
            "verdict": report.verdict,
            "scenarios": tuple(sorted(run.seen)),
            "previous": looks.head,
        }
    )


def _is_of(entry: LookEntry, run: ScoredRun) -> bool:
    """Tell whether an entry is of this run, which may have gone on since."""
    is_named = (entry.run, entry.started) == (run.binding.run, run.binding.started)
    return is_named and entry.answers.begins(run.answers) and entry.votes.begins(run.votes)


def _same(entry: LookEntry, earlier: LookEntry) -> bool:
    passing = {"number", "time", "previous", "digest"}
    return entry.model_dump(exclude=passing) == earlier.model_dump(exclude=passing)


def _sealed(entry: LookEntry) -> SealedEntry:
    return SealedEntry(**dict(entry), digest=content_digest(canonical_document(entry)))


def _parse(path: Path, number: int, line: bytes, previous: str) -> SealedEntry:
    try:
        sealed = SealedEntry.model_validate_json(line)
    except ValidationError as error:
        raise _broken(path, number, "is not an entry's line") from error
    bare = LookEntry(**{name: getattr(sealed, name) for name in LookEntry.model_fields})
    if sealed.number != number or sealed.previous != previous:
        raise _broken(path, number, "does not follow the line before it, which was changed or removed")
    if sealed.digest != content_digest(canonical_document(bare)) or canonical_document(sealed) != line:
        raise _broken(path, number, "was changed after it was written")
    return sealed


def _broken(path: Path, number: int, reason: str) -> LookLogError:
    return LookLogError(
        f"line {number} of {path} {reason}. Find out who wrote to the folder, and take the log from a backup; until "
        "then no look can be counted"
    )
